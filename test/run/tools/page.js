/* page.js: test the page of `heaptap html` in a browser without a window, from a file, as users
 * send it.
 *
 *     page.js HEAPTAP [TEST|GROUP]...  in a directory with the profiles of page.subr
 *
 * The texts of the page are compared with the command's. Both round by the same rules, so the texts
 * must be equal. axe checks every view, in both themes, and at the width of a phone. If it fails,
 * the page shows a wrong number, or nothing, or cannot be used; or a hostile profile runs code in
 * the browser of its reader. */
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {execFileSync} = require('child_process');
const {pathToFileURL} = require('url');
const {chromium} = require('playwright-core');

const [heaptap, ...wanted] = process.argv.slice(2);
const AXE = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const VIEWS = ['overview', 'table', 'table?by=site', 'table?by=line', 'flame', 'time', 'sizes',
    'leaks', 'direct', 'calls', 'source', 'recording'];
/* Pages made from other profiles than their name suggests. */
const PAGES = {session: ['session.processes'], compared: ['before.heaptap', 'leak.heaptap'],
    different: ['many.heaptap', 'leak.heaptap'],
    doubtful: ['hostile.heaptap', 'sample.heaptap'], guessed: ['sample.heaptap', 'leak.heaptap'],
    part: ['--filter', 'look_up', 'leak.heaptap'], nothing: ['--filter', 'nosuch', 'leak.heaptap'],
    source: ['--source', 'leak.heaptap'], before_cut: ['cut.heaptap', 'leak.heaptap'],
    truncating: ['before.heaptap', 'truncated.heaptap']};
const MINUS = '\u2212';
let failures = 0, browser;

function run(...args) {
    return execFileSync(heaptap, args, {maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore']});
}

function json(...args) {
    return JSON.parse(run(...args, '--json'));
}

/* --- As the command rounds ------------------------------------------------------------------- */

function bytes(value) {
    const units = ['B', 'KiB', 'MiB', 'GiB'];
    let size = Math.abs(value), unit = 0;
    while ((unit === 0 ? size >= 1024 : size >= 1023.95) && unit < 3) {
        size /= 1024;
        unit++;
    }
    const below = Math.floor(size * 10), isMiddle = size * 10 - below === 0.5;
    const text = (isMiddle ? (below + below % 2) / 10 : size).toFixed(1); // As printf: 0.25 is 0.2.
    return `${value < 0 ? MINUS : ''}${unit ? text : size} ${units[unit]}`;
}

function count(value) {
    return (value < 0 ? MINUS : '')
        + String(Math.abs(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function growth(value, text) {
    return (value > 0 ? '+' : value === 0 ? '±' : '') + text(value);
}

/* --- The page -------------------------------------------------------------------------------- */

/* Open NAME.html, and create it at the first use; `said` collects errors. */
async function open(name, {hash = '', options = {}} = {}) {
    const file = path.resolve(`${name}.html`);
    if (!fs.existsSync(file))
        run('html', '-o', file, ...PAGES[name] || [`${name}.heaptap`]);
    const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
    const page = await context.newPage();
    const said = [], url = pathToFileURL(file).href;
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.message));
    page.on('request', (request) => {
        if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
            said.push(`asks for ${request.url()}`);
    });
    await page.goto(url + hash);
    await page.locator('main').waitFor();
    return {page, said, close: () => context.close()};
}

async function show(page, hash) {
    await page.evaluate((to) => {
        location.hash = to;
    }, `#/${hash}`);
    // The page first changes the hash, then draws.
    await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() =>
        setTimeout(done)), 0)));
}

function tiles(page) {
    return page.locator('.tile').evaluateAll((all) => Object.fromEntries(all.map((tile) =>
        [tile.querySelector('.what').textContent, tile.querySelector('.much').textContent])));
}

/* Return the visible rows: lists of the texts of their cells; for a function, the whole name. */
function rows(page, label) {
    return page.locator(`[aria-label="${label}"] tbody tr:not(.gap)`).evaluateAll((all) =>
        all.map((row) => [...row.cells].map((cell) =>
            cell.querySelector('a.fn')?.title ?? cell.innerText.trim())));
}

async function check(name, test) {
    try {
        await test();
        console.log(`ok - ${name}`);
    } catch (error) {
        failures++;
        console.log(`not ok - ${name}`);
        console.log(String(error.stack).split('\n').slice(0, 30).join('\n').replace(/^/gm, '#   '));
    }
}

/* Test one page, after which no error may have been reported. */
function onPage(what, name, test, more = {}) {
    return check(what, async () => {
        const {page, said, close} = await open(name, more);
        try {
            await test(page);
            assert.deepStrictEqual(said, []);
        } finally {
            await close();
        }
    });
}

/* --- Whole pages ----------------------------------------------------------------------------- */

async function everyView(page, look, more = '') {
    for (const view of VIEWS) {
        await show(page, `${view}${more && (view.includes('?') ? '&' : '?')}${more}`);
        await look(view);
    }
    await show(page, 'function?fn=0');
    await look('function');
}

async function everything() {
    for (const name of ['leak', 'many', 'sample', 'empty', 'past', 'merged', 'heaps', 'hostile',
        'cut', ...Object.keys(PAGES)])
        await onPage(`every view of ${name} fits on a phone, without a word or a request`, name,
            async (page) => everyView(page, async (view) => {
                assert.notStrictEqual((await page.locator('main').innerText()).trim(), '', view);
                const width = await page.evaluate(() => document.documentElement.scrollWidth);
                assert(width <= 360, `${view}: ${width}`);
            }), {options: {viewport: {width: 360, height: 740}}});
}

/* Return what is wrong with the layout: boxes wider than their parent, numbers that are not fully
 * visible, and cut texts without a tip. A wide source line wraps. */
function wrongLayout() {
    const root = document.documentElement, wrong = [];
    const boxes = '.panel, .grid, .tile, .tiles, .title, .about, .headline, .controls, .flame, ' +
        '.flame-box, .flame-rows, .tablewrap, .losses, .news, .facts, .stack, .note';
    if (root.scrollWidth > root.clientWidth)
        wrong.push(`page: ${root.scrollWidth} in ${root.clientWidth}`);
    for (const box of document.querySelectorAll(boxes))
        if (box.clientWidth > 0 && box.scrollWidth > box.clientWidth + 1)
            wrong.push(`${box.className}: ${box.scrollWidth} in ${box.clientWidth}`);
    for (const cell of document.querySelectorAll('main td, main th, .tile > span')) {
        if (cell.scrollWidth <= cell.clientWidth || getComputedStyle(cell).display === 'inline')
            continue;
        if (cell.matches('.number, thead th, .much, .what'))
            wrong.push(`cut: ${cell.textContent}`);
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        const range = document.createRange(), end = cell.getBoundingClientRect().right - 3;
        while (texts.nextNode()) {
            range.selectNodeContents(texts.currentNode);
            const tip = texts.currentNode.parentElement.closest('[title]');
            if (texts.currentNode.data.trim() !== '' &&
                range.getBoundingClientRect().right > end && !cell.contains(tip))
                wrong.push(`cut without a tip: ${texts.currentNode.data}`);
        }
    }
    return wrong;
}

async function fits() {
    for (const name of ['leak', 'many', 'compared', 'source', 'session', 'heaps', 'hostile'])
        for (const width of [400, 800, 1400])
            await onPage(`all of ${name} is visible with ${width} pixels`, name, async (page) =>
                everyView(page, async (view) => {
                    await page.waitForTimeout(50); // Names adapt after the layout.
                    assert.deepStrictEqual([view, ...await page.evaluate(wrongLayout)], [view]);
                }), {options: {viewport: {width, height: 900}}});
}

/* The test puts all hostile content that an attacker could get into the document into the page
 * itself. */
function attack() {
    return new Promise((done) => {
        const kinds = [];
        document.addEventListener('securitypolicyviolation', (event) =>
            kinds.push(event.effectiveDirective));
        const add = (where, name, members) =>
            where.append(Object.assign(document.createElement(name), members));
        add(document.body, 'many', {textContent: 'window.broken = true'});
        add(document.body, 'img', {src: 'https://example.org/x.png'});
        add(document.head, 'style', {textContent: 'main { display: none }'});
        document.body.setAttribute('onclick', 'window.broken = true');
        document.body.click();
        setTimeout(() => done(kinds.sort()), 300);
    });
}

async function policy() {
    await check('a script or a picture that got into the page would do nothing', async () => {
        const {page, close} = await open('leak');
        const stopped = await page.evaluate(attack);
        for (const kind of ['img-src', 'script-src-attr', 'style-src-elem'])
            assert(stopped.includes(kind), `${kind}: ${stopped}`);
        assert.strictEqual(await page.evaluate(() => window.broken), undefined);
        assert(await page.locator('main').isVisible());
        await close();
    });
}

/* --- Numbers --------------------------------------------------------------------------------- */

function tilesOf(totals) {
    return {'Still live at end': bytes(totals.live_bytes), 'At the peak': bytes(totals.peak_bytes),
        Allocated: bytes(totals.allocated_bytes),
        ...(totals.died_within_16 === null ? {'Temporary blocks': count(totals.temporary)}
            : {'Short-lived blocks': count(totals.died_within_16)}),
        Allocations: count(totals.allocations)};
}

async function totals() {
    for (const name of ['leak', 'many', 'sample', 'empty', 'past', 'merged', 'heaps'])
        await onPage(`the totals of ${name} are the report's`, name, async (page) => {
            assert.deepStrictEqual(await tiles(page),
                tilesOf(json('report', `${name}.heaptap`).totals));
        });
    await onPage('the totals of a session are those of its processes', 'session', async (page) => {
        const {totals: sums} = json('report', 'session.processes');
        const shown = await tiles(page);
        assert.strictEqual(shown.Allocated, bytes(sums.allocated_bytes));
        assert.strictEqual(shown.Allocations, count(sums.allocations));
    });
}

/* Return self and total by name, from `heaptap report --by function`; null if several functions
 * have the name. */
function functionRows(profile, metric, column, ...time) {
    const document = json('report', '--by', 'function', '--no-fold', `--${metric}`, ...time,
        profile);
    const found = new Map();
    for (const row of document.rows)
        found.set(row.function, found.has(row.function) ? null
            : [row[`self_${column}`], row[column]]);
    return found;
}

/* Check that each visible row matches TRUTH. */
async function sameRows(page, truth, text) {
    const listed = await rows(page, 'By function');
    let compared = 0;
    for (const [name, self, total] of listed) {
        const values = truth.get(name);
        assert.notStrictEqual(values, undefined, name);
        if (values === null)
            continue;
        assert.deepStrictEqual([name, self, total], [name, text(values[0]), text(values[1])]);
        compared++;
    }
    assert(compared > 3, `${compared} rows`);
}

async function tables() {
    for (const [metric, option, column, text] of [['live', 'inuse', 'live_bytes', bytes],
        ['peak', 'peak', 'peak_bytes', bytes], ['calls', 'count', 'allocations', count]])
        await onPage(`functions by ${option} are those of the report`, 'many', async (page) => {
            await sameRows(page, functionRows('many.heaptap', option, column), text);
        }, {hash: `#/table?fold=0&metric=${metric}`});
}

/* The view "Sizes" by each metric, compared with `heaptap sizes` and with the parts of the
 * document. */
async function sizes() {
    const label = {live: 'live', allocated: 'allocated', calls: 'allocations',
        peak: 'at the peak', short: 'short-lived'};
    const {bins} = json('sizes', '--all', 'many.heaptap');
    const member = {live: 'kept_bytes', allocated: 'bytes', calls: 'allocs'};
    for (const [metric, of] of Object.entries(member))
        await onPage(`sizes by ${metric} are those of heaptap sizes`, 'many', async (page) => {
            const text = metric === 'calls' ? count : bytes;
            const wanted = bins.filter((bin) => bin.allocs > 0).map((bin) =>
                [bin.size === null ? '> 1,024' : count(bin.size), text(bin[of])]);
            const shown = (await rows(page, 'Bins: blocks by size'))
                .map(([size, value]) => [size, value]);
            assert.deepStrictEqual(shown.sort(), wanted.sort());
            const least = (row) => bins.filter((bin) => bin.size !== null && bin.size <= 16)
                .reduce((sum, bin) => sum + bin[row], 0);
            const [first] = await rows(page, `Sizes: ${label[metric]}`);
            assert.deepStrictEqual([first[0], first[2]], ['up to 16 B', text(least(of))]);
        }, {hash: `#/sizes?metric=${metric}`});
    const {parts} = json('html', 'many.heaptap').report;
    for (const [metric, of, text] of [['peak', 'peak_bytes', bytes],
        ['short', 'died_within_16', count]])
        await onPage(`sizes by ${metric} are those of the parts`, 'many', async (page) => {
            const sums = [0, 1, 2, 3].map((place) => parts[of].reduce((sum, value, i) =>
                sum + (parts.size_class[i] === place ? value : 0), 0));
            assert.deepStrictEqual((await rows(page, `Sizes: ${label[metric]}`))
                .map((row) => row[2]), sums.map(text));
        }, {hash: `#/sizes?metric=${metric}`});
}

async function sorting() {
    await onPage('a click on a head sorts, and the search leaves what it finds', 'many',
        async (page) => {
            const column = async (place) => (await rows(page, 'By function'))
                .map((row) => row[place]);
            const first = await column(0);
            await page.getByRole('button', {name: 'function'}).click();
            const up = await column(0);
            assert.notDeepStrictEqual(up, first);
            await page.getByRole('button', {name: /^total/}).click();
            assert.match((await column(2))[0], /B$/);
            assert.match(page.url(), /sort=total/);
            await page.getByRole('searchbox').fill('gr');
            const found = await column(0);
            assert(found.length > 0);
            assert(found.every((name) => /gr/i.test(name)), found.join('\n'));
            assert.match(page.url(), /q=gr/);
        }, {hash: '#/table'});
}

/* --- Links ----------------------------------------------------------------------------------- */

async function links() {
    await onPage('a function leads to its page, back leads back, a link is the same again', 'leak',
        async (page) => {
            await page.locator('main').getByRole('link', {name: 'make_answer'}).first().click();
            await page.getByRole('heading', {name: 'make_answer'}).waitFor();
            await page.getByRole('link', {name: 'handle_request', exact: true}).first().click();
            await page.getByRole('heading', {name: 'handle_request'}).waitFor();
            await page.goBack();
            await page.getByRole('heading', {name: 'make_answer'}).waitFor();
            const before = await page.locator('main').innerText(), url = page.url();
            await page.reload();
            await page.getByRole('heading', {name: 'make_answer'}).waitFor();
            assert.strictEqual(await page.locator('main').innerText(), before);
            assert.strictEqual(page.url(), url);
            await page.goBack();
            await page.getByText(/held by/).first().waitFor();
        });
    await onPage('an address of another page shows what it can', 'leak', async (page) => {
        for (const hash of ['#/nothing', '#/function?fn=99999', '#/table?by=nothing&sort=x',
            '#/time?from=9&to=3', '#/overview?at=9999999&metric=nothing', '#/table?only=heap:77',
            '#/table?only=constructor', '#/table?only=__proto__:0', '#/table?by=__proto__',
            '#/table?sort=constructor&dir=toString', '#/flame?only=valueOf:0',
            '#/flame?fn=-1&focus=1e9', '#/table?by=site&stack=4000000000']) {
            await show(page, hash.slice(2));
            assert.notStrictEqual((await page.locator('main').innerText()).trim(), '', hash);
        }
    });
}

/* --- Time ------------------------------------------------------------------------------------ */

/* Return the expected numbers of the page for a time that the command selects by OPTION. */
async function sameAsReport(page, profile, option, isGrowth) {
    const {totals: sums} = json('report', '--no-fold', ...option, profile);
    const shown = await tiles(page);
    const live = isGrowth ? growth(sums.live_bytes, bytes) : bytes(sums.live_bytes);
    assert.strictEqual(shown[isGrowth ? 'Growth' : 'Live'], live);
    await show(page, `table?fold=0&metric=live&${new URL(page.url()).hash.split('?')[1]}`);
    await sameRows(page, functionRows(profile, 'inuse', 'live_bytes', ...option),
        isGrowth ? (value) => growth(value, bytes) : bytes);
}

async function time() {
    const {history} = json('html', 'leak.heaptap').report, {points} = history;
    const seconds = (point) => `${points[point].elapsed_ns / 1e6}ms`;
    await onPage('a drag over the curve shows what the stretch brought, in all views', 'leak',
        async (page) => {
            const box = await page.locator('.u-over').first().boundingBox();
            await page.mouse.move(box.x + box.width * 0.3, box.y + 50);
            await page.mouse.down();
            await page.mouse.move(box.x + box.width * 0.5, box.y + 60, {steps: 4});
            await page.mouse.move(box.x + box.width * 0.7, box.y + 60, {steps: 4});
            await page.mouse.up();
            await page.getByText('All numbers are those').waitFor();
            const query = new URLSearchParams(page.url().split('?')[1]);
            const [from, to] = [Number(query.get('from')), Number(query.get('to'))];
            assert(from > points.length / 5 && to > from && to < points.length * 4 / 5);
            await sameAsReport(page, 'leak.heaptap',
                ['--between', `${seconds(from)}..${seconds(to)}`], true);
            await page.getByRole('button', {name: 'Whole run'}).first().click();
            assert.doesNotMatch(page.url(), /from/);
        });
    await onPage('a click on the curve shows what was live at that moment', 'leak',
        async (page) => {
            const box = await page.locator('.u-over').first().boundingBox();
            await page.mouse.click(box.x + box.width * 0.4, box.y + 50);
            await page.getByText('All numbers are those').waitFor();
            const at = Number(new URLSearchParams(page.url().split('?')[1]).get('at'));
            assert(at > points.length / 5 && at < points.length * 3 / 5);
            await sameAsReport(page, 'leak.heaptap', ['--at', seconds(at)], false);
        }, {hash: '#/time'});
    await onPage('moments are chosen with the keyboard and by the lists', 'leak', async (page) => {
        await page.locator('.curve').focus();
        await page.keyboard.press('Home');
        for (let i = 0; i < 5; i++)
            await page.keyboard.press('ArrowRight');
        await page.keyboard.press('Shift+ArrowRight');
        await page.keyboard.press('Shift+ArrowRight');
        await page.keyboard.press('Enter');
        await page.getByText('All numbers are those').waitFor();
        assert.match(page.url(), /from=5&to=7/);
        await page.getByLabel('to', {exact: true}).selectOption({index: 4});
        assert.match(page.url(), /from=5&to=9/);
        await page.getByLabel('at', {exact: true}).selectOption({index: 3});
        assert.match(page.url(), /at=2/);
        await page.locator('.curve').focus();
        await page.keyboard.press('w');
        assert.doesNotMatch(page.url(), /at=/);
    }, {hash: '#/time'});
}

/* --- Two profiles ---------------------------------------------------------------------------- */

async function compared() {
    await onPage('growth between two profiles is that of heaptap diff', 'compared',
        async (page) => {
            const difference = json('diff', '--by', 'function', '--no-fold', '--inuse',
                'before.heaptap', 'leak.heaptap');
            const shown = await tiles(page);
            assert.strictEqual(shown['Still live at end'],
                growth(difference.growth.inuse, bytes));
            assert.strictEqual(shown.Allocations, growth(difference.growth.count, count));
            const truth = new Map(difference.rows.map((row) => [row.function,
                [row.growth.inuse, row.inclusive_growth.inuse]]));
            for (const [name] of await rows(page, 'By function'))
                truth.set(name, truth.get(name) || [0, 0]);
            await sameRows(page, truth, (value) => growth(value, bytes));
        }, {hash: '#/table?fold=0&metric=live'});
}

/* --- For everybody --------------------------------------------------------------------------- */

async function noFindings(page) {
    await page.evaluate(AXE);
    await everyView(page, async (view) => {
        const {violations} = await page.evaluate(() => window.axe.run());
        assert.deepStrictEqual(violations.map(({id, nodes}) =>
            [view, id, nodes.slice(0, 2).map((node) => node.html.slice(0, 200)
                + node.failureSummary)]), []);
    });
}

async function accessible() {
    for (const [name, ...schemes] of [['many', 'light', 'dark'], ['compared', 'light', 'dark'],
        ['sample', 'light'], ['heaps', 'dark'], ['source', 'light', 'dark'],
        ['session', 'light', 'dark'], ['cut', 'light', 'dark']])
        for (const colorScheme of schemes)
            await onPage(`axe finds nothing in any view of ${name}, ${colorScheme}`, name,
                noFindings, {options: {colorScheme}});
    for (const name of ['many', 'hostile', 'compared', 'truncated', 'session'])
        for (const colorScheme of ['light', 'dark'])
            await onPage(`axe finds nothing in any view of ${name} on a phone, ${colorScheme}`,
                name, noFindings, {options: {colorScheme, viewport: {width: 400, height: 900}}});
}

async function looks() {
    await onPage('light and dark follow the system, and the switch', 'leak', async (page) => {
        const ground = () => page.evaluate(() =>
            getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0]);
        assert(await ground() > 200);
        await page.emulateMedia({colorScheme: 'dark'});
        await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
        assert(await ground() < 60);
        await page.getByRole('button', {name: 'light colours'}).click();
        assert(await ground() > 200);
    });
    await onPage('printed, the page is light and its tables are there', 'many', async (page) => {
        const seen = await page.locator('tbody tr').count();
        assert(seen < 80, `${seen} of all rows are there on the screen`);
        await page.emulateMedia({media: 'print', colorScheme: 'dark'});
        await page.waitForTimeout(300);
        assert(await page.locator('tbody tr').count() >= 80);
        assert.strictEqual(await page.locator('.search').isVisible(), false);
        const [ground, ink] = await page.evaluate(() => {
            const {backgroundColor, color} = getComputedStyle(document.body);
            return [backgroundColor, Number(color.match(/\d+/)[0])];
        });
        assert.strictEqual(ground, 'rgb(255, 255, 255)');
        assert(ink < 80, 'ink on paper is dark');
        assert((await page.pdf()).length > 10000);
    }, {hash: '#/table?by=site&fold=0&metric=calls'});
}

async function keyboard() {
    await onPage('all can be done with the keyboard', 'many', async (page) => {
        await page.keyboard.press('/');
        await page.keyboard.type('words');
        await page.keyboard.press('Enter');
        await page.waitForURL(/table.*q=words/);
        await page.keyboard.press('Escape');
        await page.getByRole('region', {name: 'By function'}).waitFor();
        await page.keyboard.press('1');
        await page.getByText(/held by/).first().waitFor();
        await page.keyboard.press('2');
        await page.getByRole('region', {name: 'By function'}).waitFor();
        await page.keyboard.press('/');
        await page.keyboard.type('or');
        await page.waitForURL(/q=or/);
        await page.keyboard.press('Escape');
        await page.getByRole('region', {name: 'By function'}).locator('a').first().focus();
        await page.keyboard.press('ArrowDown');
        const name = await page.evaluate(() => document.activeElement.title);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', {name}).first().waitFor();
        await page.keyboard.press('?');
        await page.getByRole('dialog').waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({state: 'hidden'});
        await page.keyboard.press('1');
        await page.getByText(/held by/).first().waitFor();
    });
}

/* --- Names of strangers ---------------------------------------------------------------------- */

async function hostile() {
    await onPage('names are text, whatever they hold', 'hostile', async (page) => {
        const foreign = () => page.evaluate(() => document.querySelectorAll(
            'img, svg, iframe, object, embed, script:not([id="data"]):not(:last-of-type)').length);
        await everyView(page, async (view) => {
            assert.strictEqual(await foreign(), 0, view);
            assert.doesNotMatch(await page.locator('body').innerText(), /[\u202a-\u202e\u2066]/u);
        });
        assert.match(await page.title(), /heaptap$/);
        await show(page, 'table?fold=0');
        const evil = json('report', 'hostile.heaptap').tables.functions.name
            .find((name) => name.includes('<script>'));
        assert((await rows(page, 'By function')).some(([name]) => name === evil), evil);
    });
    await onPage('a name of 2,000 characters is cut in rows and whole on its page', 'hostile',
        async (page) => {
            const {functions} = json('report', 'hostile.heaptap').tables;
            const longest = functions.name.reduce((a, b) => (a.length > b.length ? a : b));
            await show(page, `function?fn=${functions.name.indexOf(longest)}`);
            const title = await page.locator('h2').first().innerText();
            assert(title.length >= longest.length, `${title.length} of ${longest.length}`);
        });
}

async function estimates() {
    await onPage('a sampled profile says that its numbers are estimates, and how good', 'sample',
        async (page) => {
            assert.match(await page.locator('.about').innerText(), /estimates/);
            const {totals: sums} = json('report', 'sample.heaptap');
            const text = await page.locator('.tile').first().innerText();
            assert(text.includes(`${bytes(sums.live_bytes_low)} to ${
                bytes(sums.live_bytes_high)}`), text);
        });
    await onPage('what was lost stands on every view', 'hostile', async (page) =>
        everyView(page, async () => {
            assert.match(await page.locator('.losses').innerText(), /no room in the tree/);
        }));
    await onPage('what could not be read stands on every view', 'lacking', async (page) =>
        everyView(page, async () => assert.match(await page.locator('.damage').innerText(),
            /1 profile that could not be read; its numbers are incomplete or wrong/)));
    for (const [name, wanted] of [['cut', /^Damaged: This profile is cut short: 60000 of \d+ b/],
        ['before_cut', /^Damaged: The first profile is cut short: 60000 of \d+ bytes/]])
        await onPage(`damage is the first line of every view: ${name}`, name, async (page) =>
            everyView(page, async () => {
                const banner = page.locator('.damage .wide');
                assert.match(await banner.innerText(), wanted);
                assert.match(await page.locator('body').innerText(), /^Damaged: /);
                const {y, height} = await banner.boundingBox();
                assert(y >= 0 && height < 45, `one line in sight: ${y}, ${height}`);
                assert.strictEqual(await page.locator('.losses').count(), 0);
            }));
    await onPage('a whole profile has no line about damage', 'leak', async (page) =>
        assert.strictEqual(await page.locator('.damage').count(), 0));
}

/* A problem in either of two profiles is a problem in their difference. */
async function doubts() {
    await onPage('what the first of two profiles has lost stands on every view', 'doubtful',
        async (page) => everyView(page, async () => assert.match(await page.locator('.losses')
            .innerText(), /before: .*no room in the tree/)));
    for (const [name, which] of [['guessed', 'first'], ['doubtful', 'last']])
        await onPage(`growth from estimates is said to be one: ${name}`, name, async (page) => {
            assert.match(await page.locator('.about')[which]().innerText(), /are estimates/);
            assert.match(await page.locator('.headline').innerText(), /These are estimates/);
        });
    await onPage('exact growth is no estimate', 'compared', async (page) =>
        assert.doesNotMatch(await page.locator('body').innerText(), /estimates/));
}

/* Columns of values with callees are marked if callers of some stacks are not known. */
async function bounds() {
    const heads = (page) => page.locator('main th').allInnerTexts();
    const marks = async (page) => (await heads(page))
        .map((text) => text.replace(/[▾▴]/, '').trim())
        .filter((text) => /[≥?]/.test(text));
    for (const [name, hash, wanted] of [['truncated', 'table', ['total ≥', 'total of all ≥']],
        ['truncated', 'calls', ['total ≥', 'of all ≥']], ['many', 'table', []],
        ['truncating', 'table', ['total growth ?', 'total before ≥', 'total after ≥']]])
        await onPage(`lower bounds are marked: ${name}, ${hash}`, name, async (page) => {
            await page.locator('main th').first().waitFor();
            assert.deepStrictEqual((await marks(page)).slice(0, wanted.length), wanted);
            assert.strictEqual((await marks(page)).length > 0, wanted.length > 0);
        }, {hash: `#/${hash}`});
}

/* Views with inclusive values show how much is in stacks whose callers are not known. */
async function truncated() {
    const views = ['table', 'table?by=line', 'table?by=file', 'calls', 'flame', 'function?fn=0'];
    for (const [name, root] of [['truncated', '[truncated stacks]'],
        ['callers', '[callers not recorded]']])
        await onPage(`stacks without callers have a root with its share: ${name}`, name,
            async (page) => {
                const {sites, totals: sums} = json('html', `${name}.heaptap`).report;
                const cut = sites.allocations.reduce((sum, value, i) =>
                    sum + (sites.truncated[i] ? value : 0), 0);
                assert(cut > 0);
                const share = (100 * cut / sums.allocations).toFixed(1);
                for (const view of views) {
                    await show(page, `${view}${view.includes('?') ? '&' : '?'}metric=calls`);
                    assert.strictEqual(await page.locator('.note.truncated').innerText(),
                        `${root}: ${count(cut)}, ${share} % of all. Their callers are not known, ` +
                        'so inclusive values (≥) are lower bounds.', view);
                }
                await show(page, 'flame?metric=calls&fold=0');
                await page.locator('.flame-table summary').click();
                assert(await page.locator('.flame-table tbody th').allInnerTexts()
                    .then((names) => names.includes(root)));
                await page.locator('.flame-canvas').focus();
                const told = async () => page.locator('.flame [aria-live]').innerText();
                for (let i = 0; i < 50 && !(await told()).includes(' at least '); i++)
                    await page.keyboard.press(i % 2 ? 'ArrowRight' : 'ArrowDown');
                assert.match(await told(), /with all it calls at least [\d,]+, /);
            });
    await onPage('a profile with all callers has no such root', 'many', async (page) =>
        everyView(page, async () =>
            assert.strictEqual(await page.locator('.note.truncated').count(), 0)));
}

/* While the help is open, keys are shown instead of obeyed. */
async function helped() {
    await onPage('with the help open a digit leads nowhere', 'many', async (page) => {
        await page.keyboard.press('?');
        await page.keyboard.press('2');
        assert.doesNotMatch(await page.evaluate(() => location.hash), /table/);
        await page.keyboard.press('Escape');
        await page.keyboard.press('2');
        await page.locator('[aria-label="By function"]').waitFor();
    });
}

/* Tooltips explain numbers in the words of the report. */
async function words() {
    for (const [name, wanted] of [['handed', /temporary, .* before the next was allocated/],
        ['guessed', /The number of temporary blocks/], ['sample', /No block was temporary/]])
        await onPage(`of a sample only what died at once is known: ${name}`, name, async (page) => {
            assert((await tiles(page))['Temporary blocks'] !== undefined);
            await show(page, 'overview?metric=short');
            assert.match(await page.locator('.headline').innerText(), wanted);
        });
    await onPage('of an exact profile more is known', 'leak', async (page) => {
        await show(page, 'overview?metric=short');
        assert.match(await page.locator('.headline').innerText(), /before 16 more were allocated/);
    });
    await onPage('a process that has not ended has no end', 'running', async (page) => {
        assert.match((await tiles(page))['Live now'], /MiB$/);
        for (const metric of ['live', 'peak']) {
            await show(page, `overview?metric=${metric}`);
            const text = await page.locator('.headline').innerText();
            assert.match(text, /Now,? /);
            assert.doesNotMatch(text, /the end/);
        }
    });
}

/* The page has one word for memory that is allocated and not freed: live. */
async function terms() {
    for (const name of ['many', 'compared', 'running'])
        await onPage(`live memory has one name: ${name}`, name, async (page) => {
            for (const metric of ['live', 'peak', 'allocated', 'short'])
                await everyView(page, async (view) => {
                    const tips = await page.locator('[title]').evaluateAll((all) =>
                        all.filter((one) => !one.closest('td, th')).map((one) => one.title));
                    const text = [await page.locator('body').innerText(), ...tips].join('\n');
                    assert.doesNotMatch(text, /\b(in use|kept|keeps)\b/i, view);
                }, `metric=${metric}`);
            await page.keyboard.press('?');
            assert.doesNotMatch(await page.getByRole('dialog').innerText(), /\bin use\b|\bkept\b/i);
        });
}

/* A name of a standard library looks different from user code, in colour and in slant. */
async function kinds() {
    const look = (page, title) => page.locator(`main tbody a.fn[title^="${title}"]`).first()
        .evaluate((name) => [name.classList[1], getComputedStyle(name).fontStyle]);
    await onPage('std:: in the module of the program is no own code', 'many', async (page) => {
        assert.deepStrictEqual(await look(page, 'std::'), ['runtime', 'italic']);
        assert.deepStrictEqual(await look(page, '__libc_start'), ['runtime', 'italic']);
        assert.deepStrictEqual(await look(page, 'words'), ['own', 'normal']);
        const key = page.locator('main .namekey .runtime');
        // axe leaves open whether letters can be seen that have the colour of their background.
        assert.strictEqual(await key.evaluate((one) => getComputedStyle(one).backgroundColor),
            'rgba(0, 0, 0, 0)');
        assert.match(await key.innerText(), /standard libraries, libc and interpreters/);
    }, {hash: '#/table?fold=0&metric=calls'});
}

/* Readers of a partial page must not mistake it for the whole. */
async function parts() {
    for (const [name, wanted] of [['part', 'look_up'], ['nothing', 'nosuch']])
        await onPage(`a page of a part says so on every view: ${name}`, name, async (page) =>
            everyView(page, async () => assert.match(await page.locator('.losses').first()
                .innerText(), new RegExp(`only stacks that match ${wanted}`))));
    await onPage('a part without anything is not said to be all', 'nothing', async (page) =>
        assert.match(await page.locator('.headline').innerText(), /of this part/));
    await onPage('without a sample nobody says that nothing was allocated', 'empty', async (page) =>
        assert.match(await page.locator('.headline').innerText(), /No block was chosen/));
    await onPage('sizes and leaks say of which profile they are', 'compared', async (page) => {
        for (const view of ['sizes', 'leaks']) {
            await show(page, view);
            assert.match(await page.locator('main').innerText(), /second/, view);
        }
    });
}

const GROUPS = {
    layout: [everything, fits, accessible],
    content: [policy, totals, tables, sizes, sorting, links, time, compared, looks, keyboard,
        hostile, estimates, doubts, bounds, truncated, helped, words, terms, kinds, parts],
};

async function main() {
    browser = await chromium.launch({executablePath: '/usr/bin/chromium',
        args: ['--no-sandbox']});
    try {
        for (const [group, tests] of Object.entries(GROUPS))
            for (const test of tests)
                if (wanted.length === 0 || wanted.includes(group) || wanted.includes(test.name))
                    await test();
    } finally {
        await browser.close();
    }
    process.exit(failures > 0 ? 1 : 0);
}

main();
