'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { sleep } = require('./browser.js');

// Runs commands of the book from its pages: `cargo course` serves it. A page of another origin and a book without the course run nothing.
async function commands({ run, open, errors }) {
    const expect = (holds, text) => holds || errors.push(`run.js: ${text}`);
    const until = async (expression, what) => {
        for (let turn = 0; turn < 6000; turn++, await sleep(50)) if (await run(expression)) return;
        throw new Error(`waited for ${what}`);
    };
    await open('no-room');
    await sleep(500);
    expect(await run(`!document.querySelector('.run') && performance.getEntriesByType('resource').every(({ name }) => name.startsWith('file:'))`), 'a page from a file has a button, or asks the network');

    const course = spawn('cargo', ['course', '--addr', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'ignore'] });
    process.on('exit', () => course.kill('SIGINT')); // also if something fails below
    let told = '';
    for await (const text of course.stdout) if ((told += text).includes('/\n')) break;
    const base = told.match(/http:\S+/)[0];
    const said = `document.querySelector('.run-said').textContent`;
    const press = `document.querySelector('.run-tools button').click()`;
    await open(`${base}no-room.html`);
    await until(`document.querySelector('.run-tools button')`, 'a button');
    await run(press);
    await until(`${said}.startsWith('Ended')`, 'the end of a command');
    const transcript = fs.readFileSync(path.join(__dirname, '../../book/src/transcripts/saturation.txt'), 'utf8');
    expect((await run(said)).includes('status 0. The output is as in the book'), await run(said));
    const printed = await run(`[...document.querySelectorAll('.run-pane .line:not(.command)')].map((line) => line.textContent).join('\\n')`);
    expect(printed === transcript.trimEnd(), `it shows: ${printed}`);
    await open(`${base}single-threaded.html`);
    await until(`document.querySelector('.run-tools button')`, 'a button');
    await run(press);
    await until(`document.querySelectorAll('.run-pane')[1].textContent.includes('$ curl')`, 'a client');
    await run(press);
    await until(`${said}.startsWith('Stopped')`, 'the end of a server');

    // Another server on this machine, with a page that knows the token.
    const { token } = await (await fetch(`${base}live/session.json`)).json();
    const attack = `Promise.allSettled([
        fetch('${base}live/session.json').then((answer) => answer.text()),
        fetch('${base}live/start?of=saturation.txt', { method: 'POST', headers: { Authorization: 'Bearer ${token}' } }),
        fetch('${base}live/start?of=saturation.txt', { method: 'POST', mode: 'no-cors' }),
    ]).then((all) => { document.title = all.map(({ status }) => status).join(' '); })`;
    const stranger = http.createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end(`<!doctype html><link rel="icon" href="data:,"><script>${attack}</script>`));
    await new Promise((resolve) => { stranger.listen(0, '127.0.0.1', resolve); });
    const before = errors.length;
    await open(`http://127.0.0.1:${stranger.address().port}/`);
    await until('document.title', 'the page of another origin');
    await sleep(100);
    errors.length = before; // the browser complains about that page
    expect(await run('document.title') === 'rejected rejected fulfilled', `a page of another origin: ${await run('document.title')}`);
    expect((await fetch(`${base}live/run?run=3&seen=0`)).status === 404, 'a page of another origin has run a command');
    stranger.close();
    course.kill('SIGINT');
    await new Promise((resolve) => { course.on('exit', resolve); });
}

module.exports = { commands };
