// Commit, then see: below the questions of a *Predict* section, the reader writes down a prediction. The section after it, which has the
// answer, opens then. The prediction stays in this browser, and stands above the answer. Without script, a page is as it is written.

// The element that the address leads to. An address can be malformed.
function target() {
    try {
        return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
        return null;
    }
}

for (const heading of document.querySelectorAll('main h2[id^="predict"]')) {
    const isHeading = (node) => node.tagName === 'H2';
    const from = (node) => (node && !isHeading(node) ? [node, ...from(node.nextElementSibling)] : []);
    const questions = from(heading.nextElementSibling);
    const title = questions.at(-1)?.nextElementSibling;
    // Where the answer is folded into the questions, it opens by itself.
    if (!title || questions.some(({ tagName }) => tagName === 'DETAILS')) continue;

    const key = `prediction of ${location.pathname.split('/').at(-1)}`;
    const answer = document.createElement('div');
    answer.className = 'predict-answer';
    answer.append(...from(title.nextElementSibling));
    title.after(answer);

    const form = document.createElement('form');
    form.className = 'predict-form';
    form.innerHTML = `
        <label>Your prediction<textarea rows="3"></textarea></label>
        <button type="submit">Keep it, and show the answer</button>
        <button type="button">Show the answer without one</button>`;
    const [text, , skip] = [form.querySelector('textarea'), ...form.querySelectorAll('button')];
    const said = document.createElement('blockquote');
    const again = document.createElement('button');
    again.type = 'button';
    again.textContent = 'Change it';
    answer.prepend(said);
    questions.at(-1).after(form);

    const stored = () => {
        try {
            return localStorage.getItem(key) ?? '';
        } catch {
            return ''; // this browser keeps nothing
        }
    };
    const open = () => {
        answer.hidden = false;
        said.hidden = !text.value.trim();
        said.replaceChildren(`You predicted: ${text.value.trim()} `, again);
        form.hidden = true;
    };
    const openFor = (reader) => {
        open();
        reader.querySelector('a')?.focus(); // the button that was pressed is gone
    };
    form.addEventListener('submit', (event) => {
        event.preventDefault();
        if (!text.value.trim()) return text.focus();
        try {
            localStorage.setItem(key, text.value.trim());
        } catch { /* the prediction is shown, and not kept */ }
        openFor(title);
    });
    skip.addEventListener('click', () => openFor(title));
    again.addEventListener('click', () => {
        form.hidden = false;
        text.focus();
    });
    // A link into the answer, a search in the page and a printer open it.
    const isAsked = () => location.hash.length > 1 && answer.contains(target());
    addEventListener('hashchange', () => isAsked() && open());
    answer.addEventListener('beforematch', open);
    addEventListener('beforeprint', open);

    text.value = stored();
    if (text.value || isAsked() || new URLSearchParams(location.search).has('highlight')) open();
    else answer.setAttribute('hidden', 'until-found');
}
