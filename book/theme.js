// What a terminal shows, a line at a time: a long command wraps, and the button copies commands alone.

function terminalLine(text) {
    const line = document.createElement('span');
    line.className = text.startsWith('$ ') ? 'line command' : 'line';
    line.textContent = text;
    return line;
}

// The transcripts that the book shows as text are a server's log.
for (const code of document.querySelectorAll('code:is(.language-console, [class*="shows-"])')) {
    code.replaceChildren(...code.textContent.replace(/\n$/, '').split('\n').map(terminalLine));
}

// mdBook's button asks this function for the text of its block. `cargo course book check` sees that it still does.
const wholeText = window.playground_text;
window.playground_text = (block, hidden) => {
    const commands = [...block.querySelectorAll('.command')].map((line) => line.textContent.slice('$ '.length));
    return commands.length ? commands.join('\n') : wholeText(block, hidden);
};

// A block that is wider than the page takes the focus, so that the keyboard can scroll it.
const widths = new ResizeObserver((entries) => {
    for (const { target } of entries) {
        if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
        else target.removeAttribute('tabindex');
    }
});
document.querySelectorAll('main :is(pre > code, figure)').forEach((block) => widths.observe(block));

// For a screen reader, a label must have a role to be a button that opens something.
document.getElementById('mdbook-sidebar-toggle')?.setAttribute('role', 'button');

// What the scripts of panels share.
function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

// What `cargo course` tells its pages, or nothing. A page from a file or from another machine asks nothing of the network.
const isHere = location.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
const liveSession = isHere
    ? fetch(`${path_to_root}live/session.json`).then((answer) => (answer.ok ? answer.json() : {}), () => ({}))
    : Promise.resolve({});

// A page loads only the panels that it has.
const panelsOfPages = {
    'script.schedule, .your-schedule': 'scheduler',
    'code[class*="shows-"]': 'run',
    'script.kill-point': 'kill-point',
    'div.race': 'race',
    'script.curve': 'curves',
};
for (const [part, name] of Object.entries(panelsOfPages)) {
    if (document.querySelector(part)) document.body.append(element('script', { src: `${path_to_root}panels/${name}.js`, async: false }));
}
