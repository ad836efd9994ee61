// Plays the panels in which the reader is the scheduler, and compares them with the graphs of states.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { sleep } = require('./browser.js');

const graphs = path.join(__dirname, '../../exercises/graphs');
const programs = [...fs.readFileSync(path.join(graphs, '../kinds.toml'), 'utf8').matchAll(/^name = "(schedule\d+)"\ntitle = "(.*)"\nchapter = "(.*)\.md"/gm)];

// The numbers of the moves on a shortest way from a state to a goal; undefined if there is none.
function shortest({ states, breaks }, from) {
    const ways = new Map([[from, []]]);
    for (const [state, way] of ways) {
        if (states[state].end?.kind === breaks) return way;
        states[state].moves.forEach(({ to }, move) => ways.has(to) || ways.set(to, [...way, move]));
    }
}

// Plays each panel along a shortest way, which this function searches itself, and fifty times by chance. After each move, the panel must
// show what the graph says. Returns the number of moves.
async function schedule({ run, open, errors, isShort }) {
    let moves = 0;
    for (const [, name, , page] of isShort ? programs.slice(0, 1) : programs) {
        await open(page);
        const graph = JSON.parse(fs.readFileSync(path.join(graphs, `${name}.json`), 'utf8'));
        const fault = (text) => errors.push(`${page}, ${name}: ${text}`);
        const panel = `document.getElementById('${name}')`;
        const said = () => run(`${panel}.querySelector('.schedule-said').textContent`);
        const press = (place, which) => run(`${panel}.querySelectorAll('${place} button')[${which}].click()`);
        const play = async (choose, least) => {
            await press('.schedule-tools', 1);
            let state = graph.states[0];
            let before = state;
            for (let made = 0; !state.end; made++, moves++) {
                const buttons = await run(`${panel}.querySelectorAll('.schedule-choices button').length`);
                if (buttons !== state.moves.length) fault(`${buttons} buttons for ${state.moves.length} moves`);
                const move = choose(state, made);
                before = state;
                await press('.schedule-choices', move);
                state = graph.states[state.moves[move].to];
                const next = await run(`[...${panel}.querySelectorAll('tbody tr')].map((row) => row.cells[3].textContent)`);
                state.threads.forEach((thread, n) => next[n].startsWith(thread.next) || fault(`${next[n]} for ${thread.next}`));
            }
            const reached = state.end.kind === graph.breaks;
            const text = await said();
            if (text.includes('That is it') !== reached || !text.includes(state.end.text)) fault(`it says: ${text}`);
            if (least !== undefined && !text.includes(`after ${least} move`)) fault(`not ${least} moves: ${text}`);
            if (!reached) {
                await press('.schedule-tools', 0);
                await press('.schedule-tools', 2);
                const left = shortest(graph, graph.states.indexOf(before))?.length;
                const told = await said();
                if (!told.startsWith(left === undefined ? 'Right' : `It still can: ${left} move`)) fault(`it says of a claim: ${told}`);
            }
        };
        const way = shortest(graph, 0);
        await play((_, made) => way[made], way.length);
        for (let turn = 0; turn < (isShort ? 5 : 50); turn++) await play((state) => Math.floor(Math.random() * state.moves.length));
    }
    return moves;
}

// All programs have been solved above. One of them is forgotten, and each panel leads there; then the last panel leads nowhere.
async function progress({ run, open, errors }) {
    const [, name, title, page] = programs[4];
    const [, elsewhere, , other] = programs.at(-1);
    const panel = `document.getElementById('${elsewhere}')`;
    const expect = async (holds, text) => await run(holds) || errors.push(`${text}: ${await run(`${panel}.querySelector('.schedule-progress').textContent`)}`);
    await open(other);
    const all = programs.length;
    await expect(`${panel}.querySelector('.schedule-progress summary').textContent === '${all} of ${all} programs solved'`, 'not all are solved');
    await expect(`${panel}.querySelector('.schedule-progress p').textContent === 'You have solved all programs.'`, 'it does not say that all are solved');
    await run(`(() => { const all = JSON.parse(localStorage.schedules); delete all.${name}; localStorage.schedules = JSON.stringify(all); })()`);
    await open(other);
    await expect(`${panel}.querySelector('.schedule-progress p').textContent === 'Another one: ${title}'`, 'another one is not offered');
    await expect(`${panel}.querySelectorAll('.schedule-progress li').length === ${all}`, 'the list is not whole');
    await run(`${panel}.querySelector('.schedule-progress p a').click()`);
    for (let turn = 0; turn < 100 && !(await run('location.href')).includes(page); turn++) await sleep(50);
    await sleep(500);
    if (!await run(`document.getElementById('${name}').getBoundingClientRect().top < innerHeight`)) errors.push(`${name}: its panel is not in view`);
    await run(`localStorage.schedules = 'no JSON'`);
    await open(other);
    await expect(`${panel}.querySelector('.schedule-progress summary').textContent === '0 of ${all} programs solved'`, 'what it cannot read is not nothing');
}

// The schedule on which the reader's answer failed, as a server of the course sends it: none, one with three steps, and a broken one.
async function yours({ run, open, errors, book }) {
    const stand = (next) => [{ did: '', line: null, next, next_line: 3 }];
    const move = (to, text) => [{ thread: 0, to, text, line: 3 }];
    const state = (next, moves, end) => ({ threads: stand(next), holders: [null], moves, end });
    const failed = {
        file: 'a/<b>.rs', cause: 'The <cause>.', format: 1, title: 'ex01, p', goal: 'It ends.', breaks: 'broken_promise', listing: [{ number: 3, text: 'if a < b && c {' }],
        threads: [{ name: 'worker', runs: '' }], states: [state('locks', move(1, 'locks')), state('unlocks', move(2, 'unlocks')), state('has ended', [], { kind: 'broken_promise', text: 'It <hangs>.' })],
    };
    let answer;
    const server = http.createServer(({ url }, response) => {
        const file = path.join(book, url.split('?')[0]);
        if (url === '/your-schedule.json') return response.end(answer);
        if (!fs.existsSync(file)) return response.writeHead(404).end();
        response.setHeader('Content-Type', { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' }[path.extname(file)] ?? 'application/octet-stream');
        response.end(fs.readFileSync(file));
    });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const at = `http://127.0.0.1:${server.address().port}/how-exercises-work.html`;
    const place = () => run(`document.querySelector('.your-schedule').textContent`);
    const panel = `document.querySelector('.schedule-panel')`;
    const said = () => run(`${panel}?.querySelector('.schedule-said').textContent`);
    const until = async (text, holds) => {
        for (let turn = 0; turn < 100; turn++, await sleep(50)) if (await holds()) return;
        errors.push(`your schedule: ${text}: ${await place()} ${await said()}`);
    };
    for (const [text, says] of [['null', 'Your schedule is shown here'], ['{}', 'No check has failed yet.'], ['{', 'Your schedule cannot be read.']]) {
        answer = text;
        await open(at);
        await until(`of ${text} it does not say ${says}`, async () => (await place()).startsWith(says));
        if (await run(panel) !== null) errors.push(`your schedule: of ${text} there is a panel`);
    }
    answer = JSON.stringify(failed);
    await open(at);
    await until('the file is not named', async () => (await place()).includes('a/<b>.rs'));
    for (let step = 0; step < 2; step++) await run(`${panel}.querySelector('.schedule-choices button').click()`);
    await until('the end is not told', async () => await said() === 'A, worker: unlocks. Here the check failed.\nSeen: It <hangs>.\nLikely cause: The <cause>.');
    if (await run(`${panel}.querySelectorAll('.schedule-choices button, .schedule-progress a').length`)) errors.push('your schedule: it goes on after its end');
    await run(`${panel}.querySelector('.schedule-tools button').click()`);
    await until('no step back', async () => await said() === 'One move was taken back.');
    if (!(await run(`${panel}.querySelector('.schedule-listing').textContent`)).includes('A   3  if a < b && c {')) errors.push('your schedule: no line of the file');
    server.close();
    server.closeAllConnections();
}

module.exports = { schedule, progress, yours };
