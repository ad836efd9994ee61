"use strict";
// Everything that comes from the server is put in as text, never as markup: clients choose what they ask for.
const at = id => document.getElementById(id);
const make = (tag, text, name) => {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return element;
};

let before; // how many answers there were, and when

function rate(requests) {
  const now = { count: Object.values(requests || {}).reduce((sum, count) => sum + count, 0), time: performance.now() };
  const since = before;
  before = now;
  return since ? Math.round((now.count - since.count) * 1000 / (now.time - since.time)) : 0;
}

// What there is differs from stage to stage: a number that is not there has no box.
function numbers({ pool, server, loops, process }) {
  const boxes = [["requests a second", rate(server.requests)], ["connections", server.connections]];
  if (pool) {
    boxes.push(["threads busy", `${pool.active} of ${pool.threads}`]);
    boxes.push(["waiting", pool.queue_capacity ? `${pool.queued} of ${pool.queue_capacity}` : pool.queued]);
    if (pool.rejected !== undefined) boxes.push(["no room for", pool.rejected]);
  }
  for (const [number, count] of Object.entries(loops ? loops.connections : {})) boxes.push([`loop ${number}: connections`, count]);
  boxes.push(["threads of the process", process.threads], ["memory", `${Math.round(process.resident_bytes / 1048576)} MiB`]);
  at("numbers").replaceChildren(...boxes.filter(([, value]) => value !== undefined).map(([name, value]) => {
    const box = document.createElement("div");
    box.append(make("dt", name), make("dd", value));
    return box;
  }));
}

function serving(rows) {
  at("none").hidden = rows.length > 0;
  at("serving").hidden = rows.length === 0;
  at("serving").tBodies[0].replaceChildren(...rows.map(({ thread, client, request, seconds }) => {
    const row = document.createElement("tr");
    row.className = request ? "" : "idle";
    row.append(make("td", thread), make("td", client || ""), make("td", request || "waits for the client"),
      make("td", `${seconds.toFixed(1)} s`, "number"));
    return row;
  }));
}

function show(stats) {
  const { stage, state, refusals } = stats.server;
  document.title = at("stage").textContent = stage;
  at("state").textContent = at("state").className = state;
  numbers(stats);
  serving(stats.serving);
  const some = Object.entries(refusals || {}).filter(([, count]) => count > 0);
  at("refusals").textContent = some.map(([reason, count]) => `${reason.replaceAll("_", " ")}: ${count}`).join(", ") || "nobody";
}

async function look() {
  try {
    const answer = await fetch("/stats", { signal: AbortSignal.timeout(3000), cache: "no-store" });
    show(await answer.json());
    at("lost").hidden = true;
  } catch {
    at("lost").hidden = false;
  }
  setTimeout(look, 1000);
}

look();
