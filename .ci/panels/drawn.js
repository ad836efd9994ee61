// The panels that are drawn from recorded data, and the marks in the list of pages.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { sleep } = require('./browser.js');

// The kill point: in each order and at each point, the panel says what the recorded JSON says. It is solved when the third letter
// was lost and was read twice, and the sidebar says so until the reader starts afresh.
async function killPoint({ run, open, errors }) {
    const recorded = JSON.parse(fs.readFileSync(path.join(__dirname, '../../book/src/transcripts/orders.json'), 'utf8'));
    await open('at-least-once');
    const panel = `document.querySelector('.kill-point.panel')`;
    const mark = `document.querySelector('#mdbook-sidebar a.active .done')?.textContent ?? ''`;
    for (const [index, { order, kills }] of recorded.letters.entries()) {
        await run(`${panel}.querySelectorAll('input[type=radio]')[${index}].click()`);
        for (const [steps, { marked, read, lost, again }] of kills.entries()) {
            await run(`{ const slider = ${panel}.querySelector('input[type=range]'); slider.value = ${steps}; slider.dispatchEvent(new Event('input')); }`);
            const rows = await run(`[...${panel}.querySelectorAll('tbody tr')].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))`);
            const expected = [
                rows[0].map((_, letter) => (letter < marked ? 'marked' : '–')),
                rows[0].map((_, letter) => (read.includes(letter) ? 'read' : '–')),
                rows[0].map((_, letter) => (lost.includes(letter) ? 'lost' : again.includes(letter) ? 'twice' : 'once')),
            ];
            if (JSON.stringify(rows) !== JSON.stringify(expected)) errors.push(`kill point, ${order}, ${steps} steps: ${JSON.stringify(rows)}`);
            const said = await run(`${panel}.querySelector('[role=status]').textContent`);
            if (said.includes('is lost') !== lost.length > 0 || said.includes('is read twice') !== again.length > 0) errors.push(`kill point, ${order}, ${steps} steps: it says ${said}`);
            const isSolved = (await run(mark)).includes('solved');
            if (isSolved !== (index > 1 || (index === 1 && steps >= 5))) errors.push(`kill point, ${order}, ${steps} steps: the sidebar says ${await run(mark)}`);
        }
    }
    await run(`window.confirm = () => true, document.querySelector('.done-sum button').click()`);
    await open('at-least-once');
    if ((await run(mark)).includes('solved')) errors.push('kill point: it is still solved after starting afresh');
}

// The race: each run beside the next one. The answer comes after the first images; at each recorded time, as many images are there.
async function race({ run, open, errors }) {
    const panel = `document.querySelector('.race.panel')`;
    for (const page of ['index', 'completion-order']) {
        await open(page);
        await run(`window.matchMedia = () => ({ matches: true })`); // stands still
        const runs = (await run(`[...document.querySelectorAll('div.race script')].map((script) => script.textContent)`)).map((text) => ({ run: JSON.parse(text) }));
        for (const [number, { run: left }] of runs.entries()) {
            const fault = (text) => errors.push(`race on ${page}, run ${number}: ${text}`);
            const { run: right } = runs[(number + 1) % runs.length];
            for (const [side, chosen] of [number, (number + 1) % runs.length].entries()) {
                await run(`{ const choice = ${panel}.querySelectorAll('select')[${side}]; choice.selectedIndex = ${chosen}; choice.dispatchEvent(new Event('change')); }`);
            }
            await run(`${panel}.querySelectorAll('fieldset button')[0].click()`);
            const said = () => run(`${panel}.querySelector('[role=status]').textContent`);
            if (await said()) fault(`it answers before the first images: ${await said()}`);
            let moves = 0;
            for (; await run(`${panel}.querySelector('input').value !== ${panel}.querySelector('input').max`) && moves < 30; moves++) {
                await run(`[...${panel}.querySelectorAll('button')].find((button) => button.textContent === 'Step').click()`);
                const now = await run(`${panel}.querySelector('input').valueAsNumber`);
                for (const [side, { seen }] of [left, right].entries()) {
                    const images = seen.filter(({ what, ms }) => what === 'image' && ms <= now).length;
                    const covers = await run(`${panel}.querySelectorAll('.race-page')[${side}].querySelectorAll('.race-cover').length`);
                    const label = await run(`${panel}.querySelectorAll('.race-page')[${side}].ariaLabel`);
                    if (covers !== 9 - images || !(label.includes(` ${images} images`) || label.endsWith('an empty page'))) fault(`${covers} covers, ${label}, at ${now} ms`);
                }
            }
            if (moves < 2) fault(`${moves} steps`);
            const [a, b] = [left, right].map(({ first_image_ms: ms }) => ms);
            const truth = Math.abs(a - b) < Math.max(a, b) / 10 ? 'hardly any difference' : a < b ? 'left' : 'right';
            const expected = truth === 'left' ? 'As you said, “left”' : `You said “left”, and it is “${truth}”`;
            if (!(await said()).startsWith(expected)) fault(`not ${expected}: ${await said()}`);
        }
    }
}

// The figures whose curve the reader moves: the dots are those of the transcript, and the curve goes where the formula says.
async function curves({ run, open, errors }) {
    // A page, the number of its panel, and of the kind of dots; the sliders; a row of the table, its x and its curve; the transcript
    // and the dot in it.
    const cases = [
        ['how-many-threads', 0, 2, [1, 9, 2], 2, '4', '400', 'how_many_threads', /^compute 1 ms, wait 9 ms(?: +[\d.]+){4} +(\d+)/m],
        ['how-many-threads', 0, 3, [10, 0, 1], 5, '32', '100', 'how_many_threads', /^… for the one connection(?: +[\d.]+){7} +(\d+)/m],
        ['granularity', 0, 1, [64, 6, 2], 6, '64', '1', 'granularity_sweep', /^ +64 +2048 +[\d.]+ +([\d.]+)/m],
        ['granularity', 1, 3, [4, 3], 3, '8', '9.24', 'steal_simulation_scale', /merge sort[^]*?\n +8 +([\d.]+)/],
    ];
    for (const [page, number, kind, values, row, x, curve, transcript, dot] of cases) {
        await open(page);
        const panel = `document.querySelectorAll('.curve.panel')[${number}]`;
        await run(`${panel}.querySelectorAll('input[type=radio]')[${kind}].click()`);
        const before = await run(`${panel}.querySelector('polyline').getAttribute('points')`);
        await run(`{ const values = ${JSON.stringify(values)}; ${panel}.querySelectorAll('input[type=range]').forEach((slider, place) => { slider.value = values[place]; slider.dispatchEvent(new Event('input')); }); }`);
        if (await run(`${panel}.querySelector('polyline').getAttribute('points')`) === before) errors.push(`${page}, ${transcript}: the curve does not move`);
        const [, recorded] = fs.readFileSync(path.join(__dirname, `../../book/src/transcripts/${transcript}.txt`), 'utf8').match(dot);
        const shown = await run(`[...${panel}.querySelectorAll('tbody tr')[${row}].cells].map((cell) => cell.textContent)`);
        if (shown[0] !== x || Number(shown[1]) !== Number(recorded) || shown[2] !== curve) errors.push(`${page}, ${transcript}: ${shown} for ${[x, recorded, curve]}`);
        const dots = await run(`${panel}.querySelectorAll('circle').length`);
        if (dots !== await run(`${panel}.querySelectorAll('tbody tr').length`)) errors.push(`${page}, ${transcript}: ${dots} dots`);
    }
    const mark = await run(`document.querySelector('#mdbook-sidebar a.active .done')?.textContent ?? ''`);
    if (!mark.includes('solved')) errors.push(`granularity: the curve lies on the dots, and the sidebar says ${mark}`);
}

// A page that was read to its end has a mark in the sidebar, on each page, until the reader starts afresh. Other marks stay apart.
async function marks({ run, open, errors }) {
    const all = `[...document.querySelectorAll('#mdbook-sidebar .done')].map((mark) => mark.parentElement.pathname.split('/').at(-1) + mark.title).join()`;
    const sum = `document.querySelector('.done-sum').hidden || document.querySelector('.done-sum output').textContent`;
    const expect = async (marks, told) => {
        const [shown, said] = [await run(all), await run(sum)];
        if (shown !== marks || !String(said).startsWith(told)) errors.push(`marks: ${shown}; ${said}`);
    };
    const afresh = (sure) => run(`window.confirm = () => ${sure}, document.querySelector('.done-sum button').click()`);
    await afresh(true);
    await open('no-room');
    await expect('', 'true');
    await run(`document.querySelector('main').lastElementChild.scrollIntoView()`);
    for (let tries = 0; tries < 100 && !(await run(all)); tries++) await sleep(50);
    await open('overload');
    await run(`localStorage.setItem('prediction of overload.html', '2'), noteDone('solved this')`);
    await afresh(false);
    await expect('no-room.htmlread to its end,overload.htmlpredicted, solved', '1 of ');
    await run(`pagesWithSolvedExercise = ['no-room.html'], showDone()`);
    await expect('no-room.htmlread to its end, exercise solved,overload.htmlpredicted, solved', '1 of ');
    await run(`localStorage.setItem('else', '1')`);
    await afresh(true);
    await open('overload');
    await expect('', 'true');
    if (await run(`localStorage.getItem('else')`) !== '1') errors.push('marks: starting afresh forgets what belongs to others');
}

module.exports = { killPoint, race, curves, marks };
