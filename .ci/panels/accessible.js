// Tries each page with the library axe, for readers who use a keyboard or a screen reader, or who see few colours: in a light and in a
// dark theme, with all answers open.
'use strict';
const { pagesOf } = require('./pages.js');

// Tries each page by the rules of the Web Content Accessibility Guidelines, levels A and AA.
async function findBarriers({ run, open, errors, book }, axe) {
    const rules = { preload: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] };
    for (const theme of ['light', 'navy']) {
        await run(`localStorage.setItem('mdbook-theme', '${theme}')`);
        for (const page of pagesOf(book, '')) {
            await open(page);
            await run(`document.querySelectorAll('details').forEach((fold) => { fold.open = true; })`);
            await run(`document.querySelectorAll('.predict-answer').forEach((answer) => { answer.hidden = false; })`);
            await run(axe);
            const found = await run(`axe.run(document, ${JSON.stringify(rules)}).then(({ violations }) => violations.map(({ id, nodes }) => \`\${id}: \${nodes[0].html.slice(0, 100)}\`))`);
            (found ?? ['axe has not run']).forEach((fault) => errors.push(`${page}, ${theme}: ${fault}`));
        }
    }
}

module.exports = { findBarriers };
