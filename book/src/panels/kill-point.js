// A panel in which the reader kills a process that sends letters: the JSON of a `<script class="kill-point">`, which is the
// output of `crawler -- orders --json`. What a kill costs is read from it, and not computed here.

function killPoint(data) {
    const ways = JSON.parse(data.textContent).letters;
    const count = ways[0].kills.at(-1).read.length;
    const name = (letter) => String.fromCharCode(65 + letter);
    const names = Array.from({ length: count }, (_, letter) => name(letter));
    const aim = 2; // the letter that the reader is asked for
    const seen = new Set();
    let way = ways[0];

    // A step is what differs between two crash points that follow each other.
    const steps = () => way.kills.slice(1).map(({ marked, read }, before) => (
        marked > way.kills[before].marked ? `${name(marked - 1)} is marked` : `${name(read.at(-1))} is sent`
    ));

    const slider = element('input', { type: 'range', min: 0, max: ways[0].kills.length - 1, value: 0 });
    const boxes = element('div', { className: 'kill-steps' });
    boxes.ariaHidden = 'true'; // the slider says the same
    const said = element('p', { className: 'panel-said' });
    said.role = 'status';
    const rows = element('tbody');
    const head = ['', ...names].map((text) => element('th', { scope: 'col', textContent: text }));

    function tell({ marked, read, lost, again }, all) {
        const [before, after] = [all[slider.value - 1], all[slider.value]];
        const where = before === undefined ? 'Killed before the first step.'
            : after === undefined ? `Killed after the last step, “${before}”.` : `Killed after “${before}”, before “${after}”.`;
        const next = marked === count ? 'All letters are marked, so the next run sends none.' : `The next run begins with ${name(marked)}.`;
        const ignored = read.includes(marked) && !again.includes(marked);
        const cost = lost.length ? `Letter ${lost.map(name)} is lost.`
            : again.length ? `Letter ${again.map(name)} is read twice.`
                : ignored ? `The receiver knows the number of ${name(marked)}, and ignores the second one.` : 'Each letter is read once.';
        for (const [kind, letters] of Object.entries({ lost, again })) if (letters.includes(aim)) seen.add(kind);
        const won = seen.size === 2 ? ` You have seen both. The order of the two steps decides which of them a kill can cost.` : '';
        return `${where} ${next} ${cost}${won}`;
    }

    function show() {
        const kill = way.kills[slider.value];
        const all = steps();
        boxes.replaceChildren(...all.map((text, step) => element('span', { textContent: text, className: step < slider.value ? 'kill-did' : '' })));
        slider.setAttribute('aria-valuetext', slider.value === '0' ? 'before the first step' : `after ${slider.value} steps: ${all[slider.value - 1]}`);
        const cells = (title, text) => element('tr', {}, element('th', { scope: 'row', textContent: title }), ...names.map((_, letter) => {
            const cell = element('td', { textContent: text(letter) });
            if (cell.textContent === 'lost' || cell.textContent === 'twice') cell.className = 'kill-cost';
            return cell;
        }));
        rows.replaceChildren(
            cells('marked on the disk', (letter) => (letter < kill.marked ? 'marked' : '–')),
            cells('read before the kill', (letter) => (kill.read.includes(letter) ? 'read' : '–')),
            cells('after the next run', (letter) => (kill.lost.includes(letter) ? 'lost' : kill.again.includes(letter) ? 'twice' : 'once')),
        );
        said.textContent = tell(kill, all);
        if (seen.size === 2) noteDone('solved the kill point');
    }

    const choices = ways.map((choice, index) => {
        const input = element('input', { type: 'radio', name: 'kill-order', checked: index === 0 });
        input.onchange = () => {
            way = choice;
            show();
        };
        return element('label', {}, input, ` ${choice.order}`);
    });
    slider.oninput = show;
    const panel = element(
        'section',
        { className: 'panel kill-point' },
        element('p', {}, element('strong', { textContent: 'Kill the process. ' }), `Make letter ${name(aim)} get lost. Then make it be read twice. In which order is each of them possible?`),
        element('fieldset', {}, element('legend', { textContent: 'Each letter is' }), ...choices),
        element('label', {}, 'The process is killed here:', slider),
        boxes,
        element('div', { className: 'table-wrapper' }, element('table', {}, element('thead', {}, element('tr', {}, ...head)), rows)),
        said,
    );
    panel.setAttribute('aria-label', 'Kill the process');
    data.after(panel);
    show();
}

document.querySelectorAll('script.kill-point').forEach(killPoint);
