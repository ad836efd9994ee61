'use strict';

// Above its folded answers, a section *Break it* lists the commands of its experiments.
async function experiments({ run, open, errors }) {
    await open('first-pool');
    const listed = await run(`[...document.querySelectorAll('[class*="shows-break-"] .command')].map((line) => line.textContent).join()`);
    if (listed !== '$ cargo course break first-pool 1,$ cargo course break first-pool 2') errors.push(`first-pool: the experiments are ${listed}`);
}

module.exports = { experiments };
