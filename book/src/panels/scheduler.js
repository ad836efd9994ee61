// A panel in which the reader is the scheduler of a small program, for each graph of states in the page: the JSON of a
// `<script class="schedule">`, whose form exercises/graphs/README.md describes. `cargo course schedule` plays the same graphs.
// What the reader has solved stays in this browser. The build adds the list of all programs to each page that has one.
//
// The same panel shows the schedule on which the reader's own answer failed: a graph in which each state has one move.

const counted = (number, word) => `${number} ${word}${number === 1 ? '' : 's'}`;

// A step with its line in the listing, which some steps already name.
const at = (step, line) => (line === null || step.includes(String(line)) ? step : `${step} :${line}`);

// The number of moves from each state to the nearest goal; Infinity if there is no way to a goal.
function distances({ states, breaks }) {
    const isGoal = ({ end }) => end?.kind === breaks;
    const from = states.map((state) => (isGoal(state) ? 0 : Infinity));
    for (let changed = true; changed;) {
        changed = false;
        states.forEach(({ moves }, at) => {
            const best = 1 + Math.min(...moves.map(({ to }) => from[to]));
            if (best < from[at]) {
                from[at] = best;
                changed = true;
            }
        });
    }
    return from;
}

const programs = JSON.parse(document.querySelector('script.schedules')?.textContent ?? '[]');
const panels = [];

// For each program that was solved, the reader's smallest number of moves, and the smallest that there is.
function solved() {
    try {
        return JSON.parse(localStorage.getItem('schedules')) ?? {};
    } catch {
        return {}; // this browser keeps nothing, or something else
    }
}

function solve(name, made, least) {
    const all = solved();
    all[name] = { made: Math.min(made, all[name]?.made ?? Infinity), least };
    try {
        localStorage.setItem('schedules', JSON.stringify(all));
    } catch { /* it is said, and not kept */ }
    panels.forEach((tell) => tell());
}

// Which programs are solved, and a link to the next one that is not, after the program with this name.
function progress(name) {
    const next = element('p');
    const list = element('ul');
    const summary = element('summary');
    const link = ({ name, title, page }) => element('a', { href: `${page}#${name}`, textContent: title });
    const tell = () => {
        const all = solved();
        const done = programs.filter(({ name }) => all[name]);
        const here = programs.findIndex((program) => program.name === name);
        const another = [...programs.slice(here + 1), ...programs.slice(0, here)].find(({ name }) => !all[name]);
        next.replaceChildren(...(all[name] && another ? ['Another one: ', link(another)] : []));
        if (programs.length && !another && all[name]) next.textContent = 'You have solved all programs.';
        summary.textContent = `${done.length} of ${counted(programs.length, 'program')} solved`;
        list.replaceChildren(...programs.map((program) => {
            const { made, least } = all[program.name] ?? {};
            return element('li', {}, link(program), made ? `: solved in ${counted(made, 'move')}; the least is ${least}` : '');
        }));
    };
    panels.push(tell);
    tell();
    return programs.length ? [next, element('details', {}, summary, list)] : [];
}

function scheduler(graph, place, name) {
    const isOwn = !name; // the schedule of the reader's own answer: nothing to choose, and no goal
    const { threads, states, listing } = graph;
    const left = distances(graph);
    let way = []; // the moves that were made

    const state = () => states[way.at(-1)?.to ?? 0];
    const toGoal = () => left[way.at(-1)?.to ?? 0];
    const letters = threads.map((_, number) => String.fromCharCode(65 + number));
    const called = (number) => `${letters[number]}, ${threads[number].name}`;
    const codeAt = (line) => listing.find(({ number }) => number === line)?.text.trim();

    const code = element('code');
    const pre = element('pre', { className: 'schedule-listing', tabIndex: 0 }, code);
    pre.setAttribute('aria-label', 'The code. A letter before a line says which thread is there.');
    const rows = element('tbody');
    const titles = ['Thread', ...(isOwn ? [] : ['Runs']), 'Did last', 'Next'].map((text) => element('th', { scope: 'col', textContent: text }));
    const table = element('table', {}, element('thead', {}, element('tr', {}, ...titles)), rows);
    const choices = element('div', { className: 'schedule-choices' });
    choices.setAttribute('role', 'group');
    choices.setAttribute('aria-label', 'Which thread goes next?');
    const said = element('p', { className: 'schedule-said' });
    said.setAttribute('role', 'status');
    const steps = element('ol');

    const button = (text, act) => element('button', { type: 'button', textContent: text, onclick: act });
    const back = button('Back', () => goTo(way.slice(0, -1), 'One move was taken back.'));
    const restart = button('From the beginning', () => goTo([], 'This is the beginning.'));
    const claim = button('It cannot come about any more', () => {
        say(toGoal() === Infinity
            ? 'Right: whichever thread goes next, the program cannot reach the goal from here. Take a move back.'
            : `It still can: ${counted(toGoal(), 'move')} would do.`);
    });

    function say(text) {
        said.textContent = text;
    }

    // The result of a move is shown after the move. There is one exception: a thread that can wake one of several
    // threads has a button for each.
    function preview({ thread, line, text }) {
        if (state().moves.filter((move) => move.thread === thread).length > 1) return text;
        return at(state().threads[thread].next, line);
    }

    function atTheEnd({ kind, text }) {
        const how = { deadlock: 'No thread can go on', broken_promise: 'All threads have ended, and', ended: 'The end', panic: 'The end' }[kind];
        const end = kind === 'broken_promise' ? `${how} ${text}.` : `${how}: ${text}.`;
        const moves = counted(way.length, 'move');
        if (isOwn) return `Here the check failed.\nSeen: ${text}\nLikely cause: ${graph.cause}`;
        return kind === graph.breaks
            ? `${end} That is it, after ${moves}. The least is ${left[0]}.`
            : `${end} That is not what was asked for, after ${moves}.`;
    }

    function show() {
        const { threads: stands, moves, holders, end } = state();
        let expected = null;
        code.replaceChildren(...listing.flatMap(({ number, text }) => {
            const here = stands.flatMap(({ next_line }, thread) => (next_line === number ? [letters[thread]] : []));
            const gap = expected !== null && expected !== number ? [element('span', { className: 'line', textContent: '       …' })] : [];
            expected = number + 1;
            const shown = `${here.join('').padEnd(threads.length)} ${String(number).padStart(3)}  ${text}`;
            return [...gap, element('span', { className: here.length ? 'line schedule-here' : 'line', textContent: shown })];
        }));
        rows.replaceChildren(...threads.map(({ runs }, thread) => {
            const { did, line, next, next_line } = stands[thread];
            const cells = [...(isOwn ? [] : [runs]), at(did, line), at(next, next_line)];
            return element('tr', {}, element('th', { scope: 'row', textContent: called(thread) }), ...cells.map((text) => element('td', { textContent: text })));
        }));
        const held = holders.flatMap((holder, lock) => (holder === null ? [] : [`${called(holder)} holds ${holders.length > 1 ? `lock #${lock + 1}` : 'the lock'}`]));
        choices.replaceChildren(...moves.map((move) => {
            const chosen = button(`${isOwn ? 'Next step. ' : ''}${called(move.thread)}: ${preview(move)}`, () => goTo([...way, move], `${called(move.thread)}: ${move.text}.`));
            const text = move.line === null ? undefined : codeAt(move.line);
            if (text) chosen.append(element('code', { textContent: text }));
            return chosen;
        }));
        steps.replaceChildren(...way.map(({ thread, text }) => element('li', { textContent: `${called(thread)}: ${text}` })));
        back.disabled = restart.disabled = !way.length;
        claim.disabled = Boolean(end);
        if (!isOwn && end?.kind === graph.breaks) solve(name, way.length, left[0]);
        return [...held, ...(end ? [atTheEnd(end)] : [])].join('. ');
    }

    function goTo(newWay, told) {
        const hadFocus = panel.contains(document.activeElement);
        way = newWay;
        const more = show();
        say(more ? `${told} ${more.replace(/[^.]$/, '$&.')}` : told);
        if (!isOwn && state().end?.kind === graph.breaks) noteDone(`solved ${graph.title}`);
        if (hadFocus) (choices.querySelector('button') ?? panel.querySelector('.schedule-progress a') ?? back).focus(); // the button that was pressed is gone
    }

    const panel = element(
        'section',
        { className: 'schedule-panel' },
        element('p', { className: 'schedule-title' }, element('strong', { textContent: `${graph.title}. ` }), `${isOwn ? 'Your answer broke this promise:' : 'You are the scheduler. Bring this about:'} ${graph.goal}`),
        pre,
        element('div', { className: 'table-wrapper' }, table),
        said,
        choices,
        element('div', { className: 'schedule-tools' }, back, restart, ...(isOwn ? [] : [claim])),
        element('div', { className: 'schedule-progress' }, ...(isOwn ? [] : progress(name))),
        element('details', {}, element('summary', { textContent: 'The moves so far' }), steps),
    );
    panel.setAttribute('aria-label', `${isOwn ? 'Your schedule' : 'Be the scheduler'}: ${graph.title}`);
    panel.id = name ?? '';
    place.after(panel);
    goTo([], isOwn ? 'This is the beginning.' : 'Which thread goes next?');
    if (name && location.hash === `#${name}`) panel.scrollIntoView(); // there was no such place when the page was read
}

document.querySelectorAll('script.schedule').forEach((data) => scheduler(JSON.parse(data.textContent), data, data.dataset.name));

// A book that is not served by `cargo course` has the file, too, and it says `null`.
const yours = document.querySelector('.your-schedule');
if (yours && location.protocol.startsWith('http')) {
    fetch('your-schedule.json', { cache: 'no-store' }).then((answer) => answer.json()).then((failed) => {
        if (failed?.states) scheduler(failed, yours, undefined);
        if (failed) yours.textContent = failed.states ? `From the last check that failed, of ${failed.file}:` : 'No check has failed yet.';
    }).catch(() => {
        yours.textContent = 'Your schedule cannot be read. Check your answer again, and load this page again.';
    });
}
