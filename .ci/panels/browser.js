// A headless Chromium, driven over the DevTools protocol.
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Starts the browser, and returns a function that runs JavaScript in its page, and the list of what went wrong there.
async function browser(profile, book) {
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
        const url = page.startsWith('http:') ? page : pathToFileURL(path.join(book, `${page}.html`)).href;
        await send('Page.navigate', { url });
        while (await run('document.readyState') !== 'complete' || await run('location.href') === 'about:blank') await sleep(50);
    };
    return { process, run, open, errors };
}

module.exports = { browser, sleep };
