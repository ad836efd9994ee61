// Uses the panels of the built book in a real browser, as a reader would, and compares what they show with what was recorded.
//
//   node --experimental-websocket .ci/panels/main.js target/book [axe.min.js | --short]
//
// With --short: one program to schedule, two pages with predictions, and the commands.
//
// Needs Chromium from the distribution's package; without it, nothing is tried.
'use strict';
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { findBarriers } = require('./accessible.js');
const { browser } = require('./browser.js');
const { commands } = require('./commands.js');
const { killPoint, race, curves, marks } = require('./drawn.js');
const { experiments } = require('./experiments.js');
const { predict } = require('./predictions.js');
const { schedule, progress, yours } = require('./schedules.js');

async function main() {
    if (spawnSync('chromium', ['--version']).error) return console.log('skipped: there is no chromium');
    const book = path.resolve(process.argv[2]);
    const isShort = process.argv[3] === '--short';
    const axe = isShort ? undefined : process.argv[3];
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'panels-'));
    const reader = { book, isShort, ...await browser(profile, book) };
    const moves = await schedule(reader);
    const predicted = await predict(reader);
    if (!isShort) for (const panel of [progress, yours, killPoint, race, curves, marks, experiments]) await panel(reader);
    await commands(reader);
    if (axe) await findBarriers(reader, fs.readFileSync(axe, 'utf8'));
    else if (!isShort) console.log('skipped: accessibility, without axe');
    reader.process.kill();
    await new Promise((resolve) => reader.process.on('exit', resolve));
    await remove(profile);
    console.log(`${moves} moves played, ${predicted} fields filled in; ${reader.errors.length} faults`);
    reader.errors.slice(0, 20).forEach((error) => console.log(error));
    process.exitCode = moves && predicted && !reader.errors.length ? 0 : 1;
}

// Removes a folder to which helpers of the browser may still write for a moment. Node's own retries end at a folder inside.
async function remove(folder) {
    for (const until = Date.now() + 30_000; ;) {
        try {
            return fs.rmSync(folder, { recursive: true, force: true });
        } catch (error) {
            if (Date.now() > until) throw error;
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
    }
}

main().then(() => process.exit(), (error) => { console.error(error); process.exit(1); });
