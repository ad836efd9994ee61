// Plays the panels of the built book in a real browser, compares them with the graphs of states, and writes down a prediction.
//
//   node --experimental-websocket .ci/panels.js target/book
//
// Each panel is played along a shortest way, which this program searches itself, and fifty times by chance. After each move, the
// panel must show what the graph says. Needs Chromium from the distribution's package; without it, nothing is tried.
'use strict';
const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const book = path.resolve(process.argv[2]);
const graphs = path.join(__dirname, '../exercises/graphs');
const programs = [...fs.readFileSync(path.join(graphs, '../kinds.toml'), 'utf8').matchAll(/^name = "(schedule\d+)"\ntitle = "(.*)"\nchapter = "(.*)\.md"/gm)];

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Starts the browser, and returns a function that runs JavaScript in its page, and the list of what went wrong there.
async function browser(profile) {
    const process = spawn('chromium', ['--headless=new', '--no-sandbox', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'], { stdio: 'ignore' });
    const portFile = path.join(profile, 'DevToolsActivePort');
    while (!fs.existsSync(portFile) || !fs.readFileSync(portFile, 'utf8').includes('\n')) await sleep(50);
    const port = fs.readFileSync(portFile, 'utf8').split('\n')[0];
    const { webSocketDebuggerUrl } = await (await fetch(`http://127.0.0.1:${port}/json/new?about:blank`, { method: 'PUT' })).json();
    const socket = new WebSocket(webSocketDebuggerUrl);
    await new Promise((resolve) => { socket.onopen = resolve; });
    const answers = new Map();
    const errors = [];
    socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.id) return answers.get(message.id)(message.result);
        if (message.method === 'Runtime.exceptionThrown') errors.push(JSON.stringify(message.params));
        if (message.method === 'Log.entryAdded' && message.params.entry.level === 'error') errors.push(message.params.entry.text);
    };
    const send = (method, params = {}) => new Promise((resolve) => {
        answers.set(answers.size + 1, resolve);
        socket.send(JSON.stringify({ id: answers.size, method, params }));
    });
    for (const domain of ['Page', 'Runtime', 'Log']) await send(`${domain}.enable`);
    const run = async (expression) => (await send('Runtime.evaluate', { expression, returnByValue: true })).result?.value;
    const open = async (page) => {
        const url = page.startsWith('http:') ? page : pathToFileURL(path.join(book, `${page}.html`)).href;
        await send('Page.navigate', { url });
        while (await run('document.readyState') !== 'complete' || await run('location.href') === 'about:blank') await sleep(50);
    };
    return { process, run, open, errors };
}

// The numbers of the moves on a shortest way from a state to a goal; undefined if there is none.
function shortest({ states, breaks }, from) {
    const ways = new Map([[from, []]]);
    for (const [state, way] of ways) {
        if (states[state].end?.kind === breaks) return way;
        states[state].moves.forEach(({ to }, move) => ways.has(to) || ways.set(to, [...way, move]));
    }
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
async function yours({ run, open, errors }) {
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

async function main() {
    if (spawnSync('chromium', ['--version']).error) return console.log('skipped: there is no chromium');
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'panels-'));
    const { process: child, run, open, errors } = await browser(profile);
    let moves = 0;
    for (const [, name, , page] of programs) {
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
        for (let turn = 0; turn < 50; turn++) await play((state) => Math.floor(Math.random() * state.moves.length));
    }
    await progress({ run, open, errors });
    await yours({ run, open, errors });
    // The answer to a *Predict* opens when the reader has written something, and is open at the next visit.
    const [answer, form] = ['.predict-answer', '.predict-form'].map((name) => `document.querySelector('${name}')`);
    const isOpen = () => run(`!${answer}.hidden`);
    await open('no-room');
    if (await isOpen()) errors.push('no-room: the answer is open before the prediction');
    await run(`${form}.requestSubmit()`);
    if (await isOpen()) errors.push('no-room: the answer opens without a prediction');
    await run(`${form}.querySelector('textarea').value = 'two are <refused>', ${form}.requestSubmit()`);
    for (const visit of ['first', 'second']) {
        if (!await isOpen() || !(await run(`${answer}.textContent`)).startsWith('You predicted: two are <refused>')) errors.push(`no-room: at the ${visit} visit, the answer or the prediction is missing`);
        await open('no-room');
    }
    // Each page with a *Predict* has one field, except the page on which the answer is folded into the questions.
    for (const file of fs.readdirSync(book).filter((name) => name.endsWith('.html') && name !== 'print.html')) {
        const asks = /<h2 id="predict/.test(fs.readFileSync(path.join(book, file), 'utf8'));
        if (!asks) continue;
        const page = path.basename(file, '.html');
        await open(page);
        const fields = await run(`document.querySelectorAll('.predict-form').length`);
        if (fields !== (page === 'the-problem' ? 0 : 1)) errors.push(`${page}: ${fields} fields for a prediction`);
    }
    child.kill();
    await new Promise((resolve) => child.on('exit', resolve));
    fs.rmSync(profile, { recursive: true, force: true });
    console.log(`${moves} moves played; ${errors.length} faults`);
    errors.slice(0, 20).forEach((error) => console.log(error));
    process.exitCode = moves && !errors.length ? 0 : 1;
}

main().then(() => process.exit(), (error) => { console.error(error); process.exit(1); });
