// What the reader has done: a mark beside each page in the sidebar. This browser keeps it, under keys such as
// `prediction of no-room.html`. The names of the keys of all panels end so. The course tells which exercises are solved.

const thisPage = location.pathname.split('/').at(-1) || 'index.html';
let pagesWithSolvedExercise = [];

// Notes that the reader has done something on this page, such as `read` or `solved the kill point`.
function noteDone(what) {
    try {
        localStorage.setItem(`${what} of ${thisPage}`, 'yes');
    } catch { /* this browser keeps nothing */ }
    showDone();
}

// The keys of this course, each with what was done and on which page.
function allDone() {
    try {
        return Object.keys(localStorage).flatMap((key) => {
            const [, what, page] = key.match(/^(.+) of ([\w-]+\.html)$/) ?? [];
            return page ? [{ key, what, page }] : [];
        });
    } catch {
        return [];
    }
}

function showDone() {
    const kinds = [['read', '✓', 'read to its end'], ['prediction', '✎', 'predicted'], ['solved', '★', 'solved'], ['exercise', '◆', 'exercise solved']];
    const done = [...allDone(), ...pagesWithSolvedExercise.map((page) => ({ what: 'exercise', page }))];
    let read = 0;
    const links = [...document.querySelectorAll('#mdbook-sidebar .chapter-link-wrapper > a')].filter(({ hash }) => !hash); // no headings
    for (const link of links) {
        const page = link.pathname.split('/').at(-1);
        const here = kinds.filter(([kind]) => done.some((one) => one.page === page && one.what.split(' ')[0] === kind));
        read += here.some(([kind]) => kind === 'read');
        link.querySelector('.done')?.remove();
        if (!here.length) continue;
        const said = here.map(([, , text]) => text).join(', ');
        const signs = element('span', { textContent: here.map(([, sign]) => sign).join('') });
        signs.ariaHidden = 'true';
        link.append(element('span', { className: 'done', title: said }, signs, element('span', { className: 'for-ears', textContent: ` (${said})` })));
    }
    const sum = document.querySelector('.done-sum');
    sum.hidden = !done.length;
    sum.querySelector('output').textContent = `${read} of ${links.length} pages read to the end. ✓ read, ✎ predicted, ★ solved, ◆ exercise solved. `;
}

{
    const list = document.querySelector('#mdbook-sidebar .sidebar-scrollbox');
    const afresh = element('button', { type: 'button', textContent: 'Start afresh' });
    afresh.onclick = () => {
        if (!confirm('Forget all marks, predictions and solved panels of this course? Answers to exercises stay.')) return;
        localStorage.removeItem('schedules'); // the moves that `scheduler.js` counts
        allDone().forEach(({ key }) => localStorage.removeItem(key));
        location.reload();
    };
    list?.append(element('div', { className: 'done-sum' }, element('output'), afresh));
    if (list) showDone();
    liveSession.then(({ solved }) => {
        if (!list || !solved?.length) return;
        pagesWithSolvedExercise = solved;
        showDone();
    });
    const end = document.querySelector('main')?.lastElementChild;
    if (list && end) {
        new IntersectionObserver(([{ isIntersecting }], observer) => {
            if (!isIntersecting) return;
            observer.disconnect();
            noteDone('read');
        }).observe(end);
    }
}
