// Plays the panels of the built book in a real browser, compares them with the graphs of states, and writes down a prediction.
//
//   node --experimental-websocket .ci/panels.js target/book [axe.min.js]
//
// Each panel is played along a shortest way, which this program searches itself, and fifty times by chance. After each move, the
// panel must show what the graph says. With the library axe, each page is also tried for readers who use a keyboard or a screen
// reader, or who see few colours: in a light and in a dark theme, with all answers open. Needs Chromium from the distribution's package; without it, nothing is tried.
'use strict';
const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const book = path.resolve(process.argv[2]);
const graphs = path.join(__dirname, '../exercises/graphs');
const pages = { 'locks-and-waiting': [1, 2, 4], 'order-without-a-lock': [3] };

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
    const run = async (expression) => (await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })).result?.value;
    const open = async (page) => {
        await send('Page.navigate', { url: pathToFileURL(path.join(book, `${page}.html`)).href });
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

// Tries each page by the rules of the Web Content Accessibility Guidelines, levels A and AA.
async function findBarriers({ run, open, errors }, axe) {
    const rules = { preload: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] };
    for (const theme of ['light', 'navy']) {
        await run(`localStorage.setItem('mdbook-theme', '${theme}')`);
        for (const page of pagesOf('')) {
            await open(page);
            await run(`document.querySelectorAll('details').forEach((fold) => { fold.open = true; })`);
            await run(`document.querySelectorAll('.predict-answer').forEach((answer) => { answer.hidden = false; })`);
            await run(axe);
            const found = await run(`axe.run(document, ${JSON.stringify(rules)}).then(({ violations }) => violations.map(({ id, nodes }) => \`\${id}: \${nodes[0].html.slice(0, 100)}\`))`);
            (found ?? ['axe has not run']).forEach((fault) => errors.push(`${page}, ${theme}: ${fault}`));
        }
    }
}

// The names of the built pages whose text matches.
function pagesOf(pattern) {
    const names = fs.readdirSync(book).filter((name) => name.endsWith('.html') && !['print.html', 'toc.html', '404.html'].includes(name));
    return names.filter((name) => fs.readFileSync(path.join(book, name), 'utf8').match(pattern)).map((name) => path.basename(name, '.html'));
}

// Predicts on each page with a *Predict*: nothing, then in each field a wrong value, and after another visit the right one. Returns the
// number of fields.
async function predict(run, open, errors) {
    let count = 0;
    for (const page of pagesOf(/<h2 id="predict/)) {
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

async function main() {
    if (spawnSync('chromium', ['--version']).error) return console.log('skipped: there is no chromium');
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'panels-'));
    const { process: child, run, open, errors } = await browser(profile);
    let moves = 0;
    for (const [page, numbers] of Object.entries(pages)) {
        await open(page);
        for (const [index, number] of numbers.entries()) {
            const graph = JSON.parse(fs.readFileSync(path.join(graphs, `schedule${number}.json`), 'utf8'));
            const fault = (text) => errors.push(`${page}, schedule${number}: ${text}`);
            const panel = `document.querySelectorAll('.schedule-panel')[${index}]`;
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
    }
    const predicted = await predict(run, open, errors);
    const axe = process.argv[3];
    if (axe) await findBarriers({ run, open, errors }, fs.readFileSync(axe, 'utf8'));
    else console.log('skipped: accessibility, without axe');
    child.kill();
    await new Promise((resolve) => child.on('exit', resolve));
    fs.rmSync(profile, { recursive: true, force: true });
    console.log(`${moves} moves played; ${predicted} fields filled in; ${errors.length} faults`);
    errors.slice(0, 20).forEach((error) => console.log(error));
    process.exitCode = moves && predicted && !errors.length ? 0 : 1;
}

main().then(() => process.exit(), (error) => { console.error(error); process.exit(1); });
