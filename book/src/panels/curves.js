// Figures whose curve moves while the reader moves sliders: each `<script class="curve">` has a recorded transcript, whose numbers
// are the dots, and names one of the figures below. The formula of a curve is computed here; no dot is.

const numbersOf = (line) => (line.match(/\d+(\.\d+)?/g) ?? []).map(Number);
const rounded = (number) => (number < 100 ? Number(number.toPrecision(3)) : Math.round(number)).toLocaleString('en');

// Each figure reads its transcript into kinds of dots, has a formula, and says what the sliders mean.
const figures = {
    // `how_many_threads`: a row for each kind of tasks.
    threads: {
        x: 'threads',
        y: 'tasks a second',
        kinds(text) {
            const lines = text.split('\n');
            const threads = numbersOf(lines.find((line) => line.startsWith('tasks that')));
            return lines.flatMap((line) => {
                const rates = numbersOf(line.slice(28)).slice(2);
                return rates.length === threads.length ? [{ name: line.slice(0, 28).trim(), dots: threads.map((x, place) => ({ x, y: rates[place] })) }] : [];
            });
        },
        sliders: [['C', 'C, computing', 0.5, 20, 0.5, 4, 'ms'], ['W', 'W, waiting', 0, 20, 0.5, 4, 'ms'], ['cores', 'cores', 1, 8, 1, 2, '']],
        at: (threads, { C, W, cores }) => Math.min(threads * 1000 / (W + C), cores * 1000 / C),
        best: ({ C, W, cores }) => cores * (1 + W / C),
        tell: ({ C, W, cores }, best) => `${cores} × (1 + ${W}/${C}) = ${rounded(best)} threads fill the cores, and do at most ${rounded(cores * 1000 / C)} tasks a second.`,
    },
    // `granularity -- sweep`: a row for each threshold, a column for each way to make pieces.
    threshold: {
        x: 'elements in a piece, at most',
        y: 'time, as a part of that of one thread',
        kinds(text) {
            const rows = text.split('\n').slice(2).map(numbersOf);
            return ['join', 'fork', 'submit'].map((name, column) => ({ name, rows, dots: rows.map((row) => ({ x: row[0], y: row[2 + column] })) }));
        },
        sliders: [['price', 'a piece costs as much as', 0, 120, 0.5, 20, 'elements'], ['place', 'threshold', 0, 17, 1, 8, '', (place) => 2 ** place], ['p', 'threads', 1, 8, 1, 2, '']],
        // Each thread has the same number of pieces, or one more.
        at: (threshold, { price, p }, { rows }) => {
            const pieces = rows.at(-1)[0] / threshold;
            return Math.ceil(pieces / p) / pieces * (1 + price / threshold);
        },
        best(values, kind) {
            const times = kind.dots.map(({ x }) => this.at(x, values, kind));
            return kind.dots[times.indexOf(Math.min(...times))].x;
        },
        tell({ place, ...values }, best, kind) {
            const { x, y } = kind.dots[place];
            const least = Math.min(...kind.dots.map((dot) => dot.y));
            const fastest = kind.dots.find((dot) => dot.y === least);
            return `With pieces of ${rounded(x)}: the curve ${rounded(this.at(x, values, kind))}, measured ${y}. The best piece has ${rounded(best)} elements by the curve, ${rounded(fastest.x)} measured.`;
        },
    },
    // `steal_simulation -- scale`: a table for each computation.
    span: {
        x: 'workers',
        y: 'milliseconds',
        kinds: (text) => text.trim().split('\n\n').slice(1).map((block) => {
            const [title, work, , ...rows] = block.split('\n');
            return { name: title.split(':')[0], work: numbersOf(work.replaceAll('T1', ''))[0], dots: rows.map((row) => ({ x: numbersOf(row)[0], y: numbersOf(row)[1] })) };
        }),
        sliders: [['span', 'T∞, the span', 0, 10, 0.1, 2, 'ms'], ['place', 'p, the workers', 0, 6, 1, 3, '', (place) => 2 ** place]],
        at: (workers, { span }, { work }) => work / workers + span,
        best: ({ span }, { work }) => work / span,
        tell({ span, place }, best, { work, dots }) {
            const { x, y } = dots[place];
            return `${x} workers: T1/p = ${rounded(work / x)} ms, T1/p + T∞ = ${rounded(work / x + span)} ms, simulated ${rounded(y)} ms. T1/T∞ = ${span ? rounded(best) : 'infinite'}: more workers than that are of no use.`;
        },
    },
};

function curve(data) {
    const figure = figures[data.dataset.figure];
    const kinds = figure.kinds(data.textContent.trim());
    const width = Math.min(640, data.parentElement.clientWidth - 34);
    const [height, left, bottom] = [300, 48, 40];
    let kind = kinds[0];

    const drawn = (name, attributes, text = '') => {
        const made = document.createElementNS('http://www.w3.org/2000/svg', name);
        Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
        made.textContent = text;
        return made;
    };
    const svg = drawn('svg', { viewBox: `0 0 ${width} ${height}`, width, 'aria-hidden': 'true' });
    const table = element('table');
    const said = element('p', { className: 'panel-said' });
    said.role = 'status';

    const sliders = figure.sliders.map(([name, label, min, max, step, value, unit, shown = (number) => number]) => {
        const input = element('input', { type: 'range', min, max, step, oninput: () => show() });
        input.value = value;
        const output = element('output');
        const tell = () => {
            output.textContent = input.ariaValueText = `${shown(input.valueAsNumber)} ${unit}`.trim();
        };
        return { name, input, tell, label: element('label', {}, `${label}: `, output, input) };
    });

    function show() {
        sliders.forEach(({ tell }) => tell());
        const values = Object.fromEntries(sliders.map(({ name, input }) => [name, input.valueAsNumber]));
        const { dots } = kind;
        const best = figure.best(values, kind);
        const at = (x) => figure.at(x, values, kind);
        // Both axes are logarithmic.
        const [least, most] = [Math.min(...dots.map(({ y }) => y)) / 1.6, Math.max(...dots.map(({ y }) => y)) * 1.6];
        const placed = (value, from, to, low, high) => low + (high - low) * Math.log(value / from) / Math.log(to / from);
        const px = (x) => placed(x, dots[0].x, dots.at(-1).x, left + 12, width - 16);
        const py = (y) => placed(y, least, most, height - bottom, 28);
        const ticks = Array.from({ length: 24 }, (_, power) => 2 ** (power - 8)).filter((y) => y >= least && y <= most);
        const every = Math.ceil(dots.length / 7);
        const xs = Array.from({ length: 101 }, (_, part) => dots[0].x * (dots.at(-1).x / dots[0].x) ** (part / 100));
        const points = (data.dataset.figure === 'threshold' ? dots.map(({ x }) => x) : xs).map((x) => `${px(x)},${Math.max(28, Math.min(height - bottom, py(at(x))))}`);
        const chosen = 'place' in values ? dots[values.place].x : undefined;
        svg.replaceChildren(
            drawn('text', { x: 4, y: 14 }, figure.y),
            drawn('text', { x: left, y: height - 6 }, figure.x),
            ...ticks.flatMap((y) => [
                drawn('line', { x1: left, x2: width, y1: py(y), y2: py(y), class: 'curve-grid' }),
                drawn('text', { x: left - 6, y: py(y) + 4, 'text-anchor': 'end' }, rounded(y)),
            ]),
            ...dots.filter((_, place) => place % every === 0).map(({ x }) => drawn('text', { x: px(x), y: height - bottom + 16, 'text-anchor': 'middle' }, String(x))),
            ...(best >= dots[0].x && best <= dots.at(-1).x ? [drawn('line', { x1: px(best), x2: px(best), y1: 28, y2: height - bottom, class: 'curve-best' })] : []),
            drawn('polyline', { points: points.join(' '), class: 'curve-line' }),
            ...dots.map(({ x, y }) => drawn('circle', { cx: px(x), cy: py(y), r: x === chosen ? 7 : 4, class: 'curve-dot' })),
        );
        const rows = dots.map(({ x, y }) => element('tr', {}, element('th', { scope: 'row', textContent: x }), ...[y, rounded(at(x))].map((text) => element('td', { textContent: text }))));
        const head = element('tr', {}, ...[figure.x, 'recorded', 'curve'].map((text) => element('th', { scope: 'col', textContent: text })));
        table.replaceChildren(element('thead', {}, head), element('tbody', {}, ...rows));
        const off = Math.exp(dots.reduce((sum, { x, y }) => sum + Math.abs(Math.log(at(x) / y)), 0) / dots.length);
        said.textContent = `${figure.tell(values, best, kind)} On average, curve and dots differ by a factor of ${off.toFixed(2)}.`;
        if (off < 1.15) noteDone('solved a curve');
    }

    const choices = kinds.map((choice) => {
        const input = element('input', { type: 'radio', name: `curve-${data.dataset.figure}`, checked: choice === kind });
        input.onchange = () => {
            kind = choice;
            show();
        };
        return element('label', {}, input, ` ${choice.name}`);
    });
    const panel = element(
        'section',
        { className: 'panel curve' },
        element('p', {}, element('strong', { textContent: 'Move the curve onto the dots. ' }), data.dataset.about),
        element('fieldset', {}, element('legend', { textContent: 'Dots' }), ...choices),
        svg,
        ...sliders.map(({ label }) => label),
        said,
        element('details', {}, element('summary', { textContent: 'The figure as a table' }), element('div', { className: 'table-wrapper' }, table)),
    );
    panel.ariaLabel = 'Move the curve onto the dots';
    data.after(panel);
    show();
}

document.querySelectorAll('script.curve').forEach(curve);
