// A panel in which two runs of the renderer race: a `<div class="race">` has a `<script>` for each run, with its name and the
// recorded output of its command with `--json`. The reader says which one shows its first image earlier, and then sees both.

function race(data) {
    const runs = [...data.querySelectorAll('script')].map((script) => ({ name: script.dataset.name, run: JSON.parse(script.textContent) }));
    const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
    const names = ['left', 'right'];
    const same = 'hardly any difference';
    let asked; // what the reader has said; undefined before that
    let frame; // the animation that is running

    const time = element('input', { type: 'range', min: 0, step: 10, value: 0, disabled: true });
    const clock = element('output');
    const said = element('p', { className: 'panel-said' });
    said.role = 'status';

    const sides = names.map((name, index) => {
        const choice = element('select', { onchange: () => begin() }, ...runs.map((run) => element('option', { textContent: run.name })));
        choice.selectedIndex = index === 0 ? 0 : Number(data.dataset.right);
        const page = element('div', { className: 'race-page' });
        page.role = 'img';
        return { choice, page, run: () => runs[choice.selectedIndex].run };
    });

    // Covers the parts of the whole picture that the reader does not see yet.
    function paint({ page, run }, now) {
        const { size: [width, height], seen } = run();
        const there = seen.filter(({ ms }) => ms <= now);
        const covers = seen.filter((one) => one.area && !(one.what === 'image' && there.includes(one))).map(({ what, ms, area: [x, y, w, h] }) => {
            const cover = element('span', { className: 'race-cover', textContent: what === 'replaced' && ms <= now ? 'to let' : '' });
            Object.assign(cover.style, { left: `${100 * x / width}%`, top: `${100 * y / height}%`, width: `${100 * w / width}%`, height: `${100 * h / height}%` });
            return cover;
        });
        const isBlank = !there.some(({ what }) => what === 'text');
        page.classList.toggle('race-blank', isBlank);
        page.replaceChildren(element('img', { src: data.dataset.picture, alt: '', width, height }), ...covers);
        const images = there.filter(({ what }) => what === 'image').length;
        page.ariaLabel = `At ${seconds(now)}: ${isBlank ? 'an empty page' : `the text and ${images} images`}`;
    }

    function show(now) {
        time.value = now;
        time.ariaValueText = clock.textContent = seconds(now);
        sides.forEach((side) => paint(side, now));
        const runs = sides.map(({ run }) => run());
        const firsts = runs.map((run) => run.first_image_ms);
        if (!asked || said.textContent || now < Math.max(...firsts)) return;
        const near = Math.abs(firsts[0] - firsts[1]) < Math.max(...firsts) / 10;
        const truth = near ? same : names[firsts[0] < firsts[1] ? 0 : 1];
        const verdict = truth === asked ? `As you said, “${asked}”` : `You said “${asked}”, and it is “${truth}”`;
        said.textContent = `${verdict}: the first image is there after ${seconds(firsts[0])} on the left and ${seconds(firsts[1])} on the right. The whole page takes ${seconds(runs[0].page_ms)} and ${seconds(runs[1].page_ms)}.`;
    }

    // The times behind the pictures.
    function list() {
        const rows = sides[0].run().seen.map((_, number) => element('tr', {},
            element('th', { scope: 'row', textContent: number ? `${number} of ${sides[0].run().images} images` : 'the text' }),
            ...sides.map(({ run }) => element('td', { textContent: `${run().seen[number].what === 'replaced' ? 'replaced, ' : ''}${seconds(run().seen[number].ms)}` }))));
        const head = element('tr', {}, ...['', ...names].map((text) => element('th', { scope: 'col', textContent: text })));
        times.replaceChildren(element('thead', {}, head), element('tbody', {}, ...rows));
    }

    // Where a reader wants little motion, the race is a series of steps.
    function play() {
        cancelAnimationFrame(frame);
        if (matchMedia('(prefers-reduced-motion: reduce)').matches) return show(0);
        const began = performance.now();
        const next = (at) => {
            show(Math.max(0, Math.min(at - began, time.max)));
            if (at - began < time.max) frame = requestAnimationFrame(next);
        };
        frame = requestAnimationFrame(next);
    }

    function step() {
        cancelAnimationFrame(frame);
        const events = sides.flatMap(({ run }) => run().seen.map(({ ms }) => ms)).filter((ms) => ms > time.valueAsNumber);
        show(events.length ? Math.ceil(Math.min(...events) / 10) * 10 : time.max);
    }

    function answer(choice) {
        asked = choice;
        noteDone('prediction for the race');
        questions.hidden = true;
        tools.hidden = false;
        time.disabled = false;
        list();
        tools.querySelector('button').focus(); // the button that was pressed is gone
        play();
    }

    // Two runs are chosen: the question comes again.
    function begin() {
        cancelAnimationFrame(frame);
        asked = undefined;
        time.max = Math.ceil(Math.max(...sides.map(({ run }) => run().page_ms)) / 10) * 10 + 10;
        time.disabled = true;
        questions.hidden = false;
        tools.hidden = true;
        said.textContent = '';
        show(Math.max(...sides.map(({ run }) => run().text_ms))); // not an empty page
    }

    const button = (text, onclick) => element('button', { type: 'button', textContent: text, onclick });
    const questions = element('fieldset', {}, element('legend', { textContent: 'Which one shows its first image earlier?' }),
        ...[...names, same].map((choice) => button(choice, () => answer(choice))));
    const times = element('table');
    const tools = element('div', {}, button('Once more', play), button('Step', step),
        element('details', {}, element('summary', { textContent: 'The times as a table' }), element('div', { className: 'table-wrapper' }, times)));
    time.oninput = () => {
        cancelAnimationFrame(frame);
        show(time.valueAsNumber);
    };
    const panel = element(
        'section',
        { className: 'panel race' },
        element('p', {}, element('strong', { textContent: 'Two ways to fetch one page. ' }), data.dataset.about),
        element('div', { className: 'race-sides' }, ...sides.map(({ choice, page }, index) => element('div', {}, element('label', {}, `${names[index]}: `, choice), page))),
        questions,
        element('label', {}, 'Time: ', clock, time),
        said,
        tools,
    );
    panel.ariaLabel = 'Two ways to fetch one page';
    data.after(panel);
    begin();
}

document.querySelectorAll('div.race').forEach(race);
