// Runs the commands of a code block on the reader's machine, if `cargo course` serves the book there: course/src/live. The names of the
// transcripts in a block are its classes. On another machine and from a file, a page has no button.

(async () => {
    const transcripts = (code) => [...code.classList].flatMap((name) => (name.startsWith('shows-') ? [name.slice('shows-'.length)] : []));
    const blocks = [...document.querySelectorAll('code[class*="shows-"]')];
    if (!blocks.length || location.pathname.endsWith('/print.html')) return;
    const live = `${path_to_root}live`;
    const { token, servers } = await liveSession;
    if (!token) return;

    const post = (request) => fetch(`${live}/${request}`, { method: 'POST', keepalive: true, headers: { Authorization: `Bearer ${token}` } });
    const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    const made = (name, className, ...children) => {
        const element = document.createElement(name);
        element.className = className;
        element.append(...children);
        return element;
    };

    // The lines of each transcript on this page. Lines above a command belong to the command before it.
    const recorded = new Map();
    for (const code of blocks) {
        const parts = [[]];
        for (const line of code.children) {
            if (line.classList.contains('command')) parts.push([]);
            else parts.at(-1).push(line);
        }
        const printed = parts.filter((lines) => lines.length);
        transcripts(code).forEach((name, index) => recorded.set(name, printed[index] ?? []));
    }

    const signals = { 2: 'SIGINT', 6: 'SIGABRT', 9: 'SIGKILL', 11: 'SIGSEGV', 15: 'SIGTERM' };
    const ending = (status) => (status > 128 ? `signal ${signals[status - 128] ?? status - 128}` : `status ${status}`);
    const lines = (count) => (count === 1 ? '1 line is' : `${count} lines are`);

    // What a run shows at its end: how it ended, and whether its output is as in the book.
    function summary({ seconds, cutShort, parts, verdicts }) {
        // The time of the commands alone, if each ended by itself.
        const time = parts.reduce((sum, part) => sum + (part.seconds ?? NaN), 0) || seconds;
        const after = `after ${time.toFixed(1)} s`;
        if (cutShort) return cutShort === 'stopped' ? `Stopped ${after}.` : `Ended early ${after}: ${cutShort}.`;
        const ends = parts.flatMap(({ status }) => (status === null ? [] : [ending(status)]));
        const ended = `Ended ${[after, ...new Set(ends)].join(', ')}.`;
        if (!verdicts.length) return ended; // an experiment: what it prints stands beside no transcript
        const differ = verdicts.reduce((sum, { old, new: now }) => sum + Math.max(old.length, now.length), 0);
        const lacks = verdicts.flatMap((verdict) => verdict.lacks);
        if (lacks.length) return `${ended} The page claims something that this output does not show: ${lacks.join(', ')}.`;
        if (differ) return `${ended} ${lines(differ)} not as in the book, and marked with ≠.`;
        return `${ended} The output is as in the book, apart from what differs each time, such as times and ports.`;
    }

    function panel(code, server) {
        const asked = server ? transcripts(code).slice(0, 1) : transcripts(code);
        const block = code.parentElement;
        const button = made('button', '');
        button.type = 'button';
        const commands = [...code.querySelectorAll('.command')].map((line) => line.textContent.slice(2));
        const what = commands.join(', then ') || 'the server of this log';
        const offer = (text) => {
            button.textContent = text;
            button.setAttribute('aria-label', `${text}: ${what}`);
        };
        const said = made('span', 'run-said');
        said.setAttribute('role', 'status');
        const now = made('span', 'run-now'); // what changes all the time is not read out
        const tools = made('div', 'run-tools', button, said, now);
        const panes = (server ? ['The server, now', 'Its clients, now'] : ['Now, on this machine']).map((label) => {
            const pane = made('pre', 'run-pane', made('code', 'language-console hljs'));
            pane.role = 'group';
            pane.tabIndex = 0;
            pane.setAttribute('aria-label', label);
            return pane;
        });
        const errors = made('pre', '', made('code', 'hljs'));
        const details = made('details', 'run-errors', made('summary', '', 'The last lines of standard error'), errors);
        const all = made('section', server ? 'run run-server' : 'run');
        all.setAttribute('aria-label', `Run ${what}`);
        block.before(all);
        all.append(block, ...panes, tools, details);

        let run = null; // its number, while it goes on; undefined until the number is known
        let parts = []; // for each command, the lines of its output
        const reset = () => {
            parts = [];
            for (const pane of panes) {
                pane.hidden = true;
                pane.firstChild.replaceChildren(made('span', 'run-title', pane.ariaLabel));
            }
            details.hidden = true;
            details.open = false;
            now.textContent = '';
            (server ?? asked).forEach((name) => recorded.get(name)?.forEach((line) => line.classList.remove('run-differs')));
        };
        const say = (text) => {
            if (said.textContent !== text) said.textContent = text;
        };
        const idle = () => {
            run = null;
            const isExperiment = transcripts(code)[0].startsWith('break-');
            offer(server ? 'Run the server and its requests' : isExperiment ? 'Break it' : 'Run it');
        };

        function show(view) {
            for (const { command } of view.parts.slice(parts.length)) {
                const pane = panes[server && parts.length ? 1 : 0];
                const part = made('span', '', terminalLine(`$ ${command}`));
                pane.firstChild.append(part);
                pane.hidden = false;
                parts.push(part);
            }
            for (const [part, text] of view.lines) {
                const line = made('span', 'line');
                line.textContent = text;
                parts[part].append(line);
            }
            say(view.building ? 'Building.' : 'Running.');
            now.textContent = `${view.seconds.toFixed(0)} s ${view.building || !server ? view.progress ?? '' : ''}`;
        }

        function finish(view) {
            for (const { transcript, part, old, new: printed } of view.verdicts) {
                const marked = [...old.map((line) => recorded.get(transcript)?.[line]), ...printed.map((line) => parts[part].children[line + 1])];
                marked.forEach((line) => line?.classList.add('run-differs'));
            }
            const failed = view.cutShort || view.parts.some(({ status }) => status);
            details.hidden = !view.errors.length || Boolean(server && !failed);
            details.open = Boolean(failed && view.cutShort !== 'stopped');
            errors.firstChild.textContent = view.errors.join('\n');
            now.textContent = '';
            say(summary(view));
        }

        async function follow() {
            for (let seen = 0; ;) {
                const answer = await fetch(`${live}/run?run=${run}&seen=${seen}`);
                if (!answer.ok) return say(await answer.text());
                const view = await answer.json();
                seen += view.lines.length;
                show(view);
                if (view.ended && !view.more) return finish(view);
                if (!view.more) await pause(250);
            }
        }

        button.addEventListener('click', async () => {
            try {
                if (run === undefined) return; // the answer to the first press is on its way
                if (run !== null) {
                    await post(`stop?run=${run}`);
                    return;
                }
                run = undefined;
                reset();
                say('Starting.');
                const answer = await post(`start?of=${asked.join(',')}`);
                if (answer.ok) {
                    ({ run } = await answer.json());
                    offer('Stop');
                    await follow();
                } else {
                    say(`Not started. ${await answer.text()}`);
                }
            } catch {
                say('The course does not answer. Does `cargo course` still run?');
            }
            idle();
        });
        addEventListener('pagehide', () => run != null && post(`stop?run=${run}`));
        reset();
        idle();
    }

    const begun = new Set();
    for (const code of blocks) {
        const server = servers.find((files) => files.includes(transcripts(code)[0]));
        if (begun.has(server)) continue;
        if (server) begun.add(server);
        panel(code, server);
    }
})();
