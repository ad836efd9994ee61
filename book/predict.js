// Commit, then see: below the questions of a *Predict* section, the reader fills in a field for each question of the JSON in a
// `<script class="predict">`. The section after it, which has the answer, opens then, and the page says how far off the reader was. The
// prediction stays in this browser. Without script, a page is as it is written. `element` is in theme.js.

// The element that the address leads to. An address can be malformed.
function target() {
    try {
        return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
        return null;
    }
}

// A text whose back-ticks mark code, as nodes.
const withCode = (text) => text.split('`').map((part, place) => (place % 2 ? element('code', { textContent: part }) : part.replaceAll("'", '’')));

const digits = (number, most) => number.toLocaleString('en', { maximumSignificantDigits: most });

// A group of controls under its question.
const group = (ask, ...parts) => element('fieldset', { className: 'predict-field' }, element('legend', {}, ...withCode(ask)), ...parts);

// The fields. Each kind makes its element, reads and writes its value (undefined if it is not filled in), and says of a value whether it
// is right, and in words how far off it is. A stored value may be that of a field which has changed since.
const kinds = {
    number({ ask, unit, about, right }) {
        const input = element('input', { type: 'number', step: 'any' });
        const full = (text) => (unit ? `${text}\u00a0${unit}` : text);
        return {
            node: element('label', { className: 'predict-field' }, ...withCode(ask), ' ', element('span', {}, input, full(''))),
            read: () => (input.value === '' ? undefined : Number(input.value)),
            write: (value) => { input.value = value; },
            judge(value) {
                const off = Math.abs(value - right);
                const isRight = off <= (about ? Math.abs(right) / 10 : 0);
                const of = digits(value / right, 2);
                const times = about && right && value > 0 ? `, ${value < right ? `${of} of it` : `${of} times as much`}` : '';
                const told = `You: ${full(digits(value, 10))}. ${about ? 'Measured' : 'Right'}: ${full(digits(right, about ? 3 : 10))}.`;
                return [isRight, isRight ? told : `${told} That is ${full(digits(off, about ? 2 : 10))} too ${value < right ? 'low' : 'high'}${times}.`];
            },
        };
    },
    choice({ ask, options, right }, name) {
        const inputs = options.map(() => element('input', { type: 'radio', name }));
        return {
            node: group(ask, ...options.map(({ say }, place) => element('label', {}, inputs[place], ' ', ...withCode(say)))),
            read: () => options[inputs.findIndex(({ checked }) => checked)]?.say,
            write: (value) => options.forEach(({ say }, place) => { inputs[place].checked = say === value; }),
            judge(value) {
                const { but } = options.find(({ say }) => say === value);
                return value === right ? [true, `You: “${value}”.`] : [false, `You: “${value}”. Right: “${right}”. ${but ?? ''}`];
            },
        };
    },
    // The reader presses the items in their order. A press on an item that has a place takes the place away.
    order({ ask, items, right }) {
        let placed = [];
        const buttons = items.map((item) => element('button', { type: 'button', onclick: () => press(item) }));
        const show = () => buttons.forEach((button, at) => {
            const place = placed.indexOf(items[at]) + 1;
            button.replaceChildren(place ? `${place}. ` : '– ', ...withCode(items[at]));
            button.setAttribute('aria-pressed', place > 0);
        });
        const press = (item) => {
            placed = placed.includes(item) ? placed.filter((other) => other !== item) : [...placed, item];
            show();
        };
        show();
        return {
            node: group(ask, 'Press them in their order.', ...buttons),
            read: () => (placed.length === items.length ? placed : undefined),
            write: (value) => {
                placed = value.filter((item) => items.includes(item));
                show();
            },
            judge(value) {
                const wrong = value.flatMap((item, at) => (item === right[at] ? [] : [at + 1]));
                const lines = right.map((item, at) => (item === value[at] ? item : `${item} (you: ${value[at]})`));
                return [!wrong.length, wrong.length ? `Wrong places: ${wrong.join(', ')}. The order is:` : 'The order is:', lines];
            },
        };
    },
};

function predict(data) {
    const fields = JSON.parse(data.textContent).map((field, number) => ({ ...field, ...kinds[field.kind](field, `predict-${number}`) }));
    const upToHeading = (node) => (node && node.tagName !== 'H2' ? [node, ...upToHeading(node.nextElementSibling)] : []);
    // The answer is folded into the questions, or it is the section after them.
    const next = data.nextElementSibling;
    const isFolded = next.tagName === 'DETAILS';
    const answer = element('div', { className: 'predict-answer' });
    (isFolded ? data : next).after(answer);
    answer.append(...(isFolded ? [next] : upToHeading(answer.nextElementSibling)));

    const status = element('p', { role: 'status' });
    const text = element('textarea', { rows: 3 });
    const skip = element('button', { type: 'button', textContent: 'Show the answer without a prediction' });
    const again = element('button', { type: 'button', textContent: 'Change it' });
    const form = element('form', { className: 'predict-form', noValidate: true },
        ...fields.map(({ node }) => node),
        element('label', {}, 'Why, and what else (if you like)', text),
        status, element('button', { textContent: 'Keep it, and show the answer' }), skip);
    const said = element('section', { className: 'predict-said', tabIndex: -1, ariaLabel: 'Your prediction' });
    data.after(form, said);

    const key = `prediction of ${location.pathname.split('/').at(-1)}`;
    const load = () => {
        try {
            const kept = localStorage.getItem(key) ?? '';
            const { words, values } = kept.startsWith('{') ? JSON.parse(kept) : { words: kept, values: {} };
            text.value = words;
            fields.forEach(({ ask, write }) => ask in values && write(values[ask]));
        } catch { /* this browser keeps nothing */ }
    };
    const keep = () => {
        try {
            const values = Object.fromEntries(fields.map(({ ask, read }) => [ask, read()]));
            localStorage.setItem(key, JSON.stringify({ words: text.value.trim(), values }));
        } catch { /* the prediction is shown, and not kept */ }
    };
    const predicted = () => fields.filter(({ read }) => read() !== undefined);
    const isPredicted = () => text.value.trim() !== '' || predicted().length > 0;
    const open = () => {
        answer.hidden = false;
        form.hidden = true;
        if (isFolded) next.open = true;
        said.hidden = !isPredicted();
        const verdicts = predicted().map(({ ask, read, judge }) => {
            const [isRight, words, lines = []] = judge(read());
            const verdict = [element('strong', { textContent: isRight ? 'Right. ' : 'Not so. ' }), ...withCode(words)];
            const list = lines.length ? [element('ol', {}, ...lines.map((line) => element('li', {}, ...withCode(line))))] : [];
            return element('li', {}, ...withCode(ask), element('br'), ...verdict, ...list);
        });
        said.replaceChildren(element('ul', {}, ...verdicts), text.value.trim() ? element('blockquote', { textContent: text.value.trim() }) : '', again);
    };
    form.addEventListener('submit', (event) => {
        event.preventDefault();
        const missing = fields.findIndex(({ read }) => read() === undefined);
        if (missing >= 0) {
            status.textContent = `Still to predict: ${fields[missing].ask}`;
            return fields[missing].node.querySelector('input, button').focus();
        }
        keep();
        open();
        said.focus(); // the button that was pressed is gone
    });
    skip.addEventListener('click', () => {
        open();
        (isFolded ? next.firstElementChild : next.querySelector('a'))?.focus();
    });
    again.addEventListener('click', () => {
        form.hidden = false;
        said.hidden = true;
        form.querySelector('input, button').focus();
    });
    // A link into the answer, a search in the page and a printer open it.
    const isAsked = () => location.hash.length > 1 && answer.contains(target());
    addEventListener('hashchange', () => isAsked() && open());
    answer.addEventListener('beforematch', open);
    addEventListener('beforeprint', open);

    load();
    if (isPredicted() || isAsked() || new URLSearchParams(location.search).has('highlight')) open();
    else {
        said.hidden = true;
        answer.setAttribute('hidden', 'until-found');
    }
}

// The page for printing has all sections, and all answers.
if (!location.pathname.endsWith('/print.html')) document.querySelectorAll('script.predict').forEach(predict);
