// A panel in which the reader is the scheduler of a small program, for each graph of states in the page: the JSON of a
// `<script class="schedule">`, whose form exercises/graphs/README.md describes. `cargo course schedule` plays the same graphs.

function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

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

function scheduler(data) {
    const graph = JSON.parse(data.textContent);
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
    const titles = ['Thread', 'Runs', 'Did last', 'Next'].map((text) => element('th', { scope: 'col', textContent: text }));
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
            const cells = [runs, at(did, line), at(next, next_line)];
            return element('tr', {}, element('th', { scope: 'row', textContent: called(thread) }), ...cells.map((text) => element('td', { textContent: text })));
        }));
        const held = holders.flatMap((holder, lock) => (holder === null ? [] : [`${called(holder)} holds ${holders.length > 1 ? `lock #${lock + 1}` : 'the lock'}`]));
        choices.replaceChildren(...moves.map((move) => {
            const chosen = button(`${called(move.thread)}: ${preview(move)}`, () => goTo([...way, move], `${called(move.thread)}: ${move.text}.`));
            const text = move.line === null ? undefined : codeAt(move.line);
            if (text) chosen.append(element('code', { textContent: text }));
            return chosen;
        }));
        steps.replaceChildren(...way.map(({ thread, text }) => element('li', { textContent: `${called(thread)}: ${text}` })));
        back.disabled = restart.disabled = !way.length;
        claim.disabled = Boolean(end);
        return [...held, ...(end ? [atTheEnd(end)] : [])].join('. ');
    }

    function goTo(newWay, told) {
        const hadFocus = panel.contains(document.activeElement);
        way = newWay;
        const more = show();
        say(more ? `${told} ${more.replace(/[^.]$/, '$&.')}` : told);
        if (state().end?.kind === graph.breaks) noteDone(`solved ${graph.title}`);
        if (hadFocus) (choices.querySelector('button') ?? back).focus(); // the button that was pressed is gone
    }

    const panel = element(
        'section',
        { className: 'schedule-panel' },
        element('p', { className: 'schedule-title' }, element('strong', { textContent: `${graph.title}. ` }), `You are the scheduler. Bring this about: ${graph.goal}`),
        pre,
        element('div', { className: 'table-wrapper' }, table),
        said,
        choices,
        element('div', { className: 'schedule-tools' }, back, restart, claim),
        element('details', {}, element('summary', { textContent: 'The moves so far' }), steps),
    );
    panel.setAttribute('aria-label', `Be the scheduler: ${graph.title}`);
    data.after(panel);
    goTo([], 'Which thread goes next?');
}

document.querySelectorAll('script.schedule').forEach(scheduler);
