// Predicts on each page with a *Predict*, as a reader would.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { pagesOf } = require('./pages.js');

// Predicts on each page with a *Predict*: nothing, then in each field a wrong value, and after another visit the right one. Returns the
// number of fields.
async function predict({ run, open, errors, book, isShort }) {
    let count = 0;
    for (const page of pagesOf(book, /<h2 id="predict/).slice(0, isShort ? 2 : undefined)) {
        const html = fs.readFileSync(path.join(book, `${page}.html`), 'utf8');
        const fault = (text) => errors.push(`${page}: ${text}`);
        const fields = JSON.parse(/<script[^>]*class="predict">(.*?)<\/script>/.exec(html)?.[1] ?? '[]');
        const wrong = ({ kind, right, options }) => ({
            number: () => right * 2 + 1,
            choice: () => options.find(({ say }) => say !== right).say,
            order: () => [...right].reverse(),
        })[kind]();
        const form = `document.querySelector('.predict-form')`;
        const fill = (valueOf) => run(fields.map((field, at) => {
            const controls = `[...${form}.querySelectorAll('.predict-field')[${at}].querySelectorAll('input, button')]`;
            const value = valueOf(field);
            const press = (number) => `${controls}[${number}].click();`;
            return {
                number: () => `${controls}[0].value = ${value};`,
                choice: () => press(field.options.findIndex(({ say }) => say === value)),
                order: () => `${controls}.forEach((button) => button.ariaPressed === 'true' && button.click());`
                    + value.map((item) => press(field.items.indexOf(item))).join(''),
            }[field.kind]();
        }).join('') + `${form}.requestSubmit()`);
        // The verdict on each field, if the answer is open.
        const verdicts = async () => await run(`document.querySelector('.predict-answer').hidden`) === false
            ? run(`[...document.querySelectorAll('.predict-said > ul > li')].map((verdict) => verdict.textContent.replaceAll('’', "'"))`) : undefined;
        const plain = (text) => text.replaceAll('`', '');
        if (!fields.length) {
            fault('there is no field');
            continue;
        }
        count += fields.length;
        await open(page);
        if (await verdicts()) fault('the answer is open before the prediction');
        await run(`${form}.requestSubmit()`);
        const asks = await run(`${form}.querySelector('[role=status]').textContent`);
        if (await verdicts() || !asks.startsWith('Still to predict')) fault('the answer opens without a prediction');
        await run(`${form}.querySelector('textarea').value = 'two are <refused>'`);
        await fill(wrong);
        for (const visit of ['first', 'second']) {
            if (visit === 'second') await open(page);
            const said = await verdicts() ?? [];
            if (await run(`document.querySelector('.predict-said blockquote').textContent`) !== 'two are <refused>') fault(`the words are missing at the ${visit} visit`);
            fields.forEach((field, at) => {
                const { kind, right, ask } = field;
                const but = field.options?.find(({ say }) => say === wrong(field)).but ?? '';
                const told = { number: 'too high', choice: `Right: “${right}”. ${but}`, order: `(you: ${right[0]})` }[kind];
                if (!said[at]?.startsWith(plain(`${ask}Not so. `)) || !said[at].includes(plain(told))) fault(`it says of a wrong value: ${said[at]}`);
            });
        }
        await run(`document.querySelector('.predict-said button').click()`);
        await fill(({ right }) => right);
        const said = await verdicts() ?? [];
        fields.forEach(({ ask }, at) => said[at]?.startsWith(plain(`${ask}Right. `)) || fault(`it says of the right value: ${said[at]}`));
    }
    return count;
}

module.exports = { predict };
