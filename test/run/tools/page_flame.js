/* page_flame.js: test the flame graph of the page with keys, pointer and screen reader.
 *
 *     page_flame.js HEAPTAP        in a directory with the profiles that page_flame.sh makes
 *
 * A canvas has no elements that a test could examine. So the test observes the drawing in three
 * ways: the label for screen readers after each key, the tip under the pointer, and the colour of a
 * pixel. All must match `heaptap report --tree --json` for the same profile. */
'use strict';
const assert = require('assert');
const path = require('path');
const fs = require('fs');
const {execFileSync} = require('child_process');
const {pathToFileURL} = require('url');
const {chromium} = require('playwright-core');

const [heaptap] = process.argv.slice(2);
const FOLDED = ['--fold', '^no such function$'], LEVEL = 20;
const OPTION = {live: 'inuse', allocated: 'alloc', calls: 'count'};
const COLUMN = {live: 'live_bytes', allocated: 'allocated_bytes', calls: 'allocations'};
let browser, failures = 0;

function run(...args) {
    return execFileSync(heaptap, args, {maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore']});
}

/* This rounds like the command and the page. */
function amount(value, metric) {
    const units = ['B', 'KiB', 'MiB', 'GiB'];
    let size = value, unit = 0;
    if (metric === 'calls')
        return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
    while ((unit === 0 ? size >= 1024 : size >= 1023.95) && unit < 3) {
        size /= 1024;
        unit++;
    }
    return `${unit ? size.toFixed(1) : size} ${units[unit]}`;
}

/* Return the tree that `heaptap report OPTION --json` prints, as nodes {name, value, self,
 * children}, the largest child first; the root has no name. */
function treeOf(profile, metric, option = '--tree') {
    const {tree, tables} = JSON.parse(run('report', option, '--json', '--metric', OPTION[metric],
        ...FOLDED, profile));
    const column = COLUMN[metric], root = {name: null, value: 0, self: 0, children: []};
    const nodes = tree.depth.map((_, i) => ({value: tree[column][i],
        self: tree[`self_${column}`][i], children: [],
        name: tables.functions.name[tables.frames.function[tree.frame[i]]]}));
    nodes.forEach((node, i) => {
        const parent = tree.parent[i] === null ? root : nodes[tree.parent[i]];
        parent.children.push(node);
        if (parent === root)
            root.value += node.value;
    });
    return root;
}

async function open(name, hash, options = {}) {
    const profiles = name === 'compared' ? ['before.heaptap', 'leak.heaptap'] : [`${name}.heaptap`];
    const file = path.resolve(`${name}.html`);
    if (!fs.existsSync(file))
        run('html', '-o', file, ...profiles);
    const context = await browser.newContext({viewport: {width: 1000, height: 900}, ...options});
    const page = await context.newPage(), said = [];
    page.on('pageerror', (error) => said.push(error.stack));
    // The browser warns that reading pixels in this way is slow.
    page.on('console', (message) => /willReadFrequently/.test(message.text()) ||
        said.push(message.text()));
    await page.goto(pathToFileURL(file).href + hash);
    await page.locator('.flame-canvas').waitFor();
    // Two frames later, everything is drawn.
    const settle = () => page.evaluate(() => new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(done))));
    return {page, canvas: page.locator('.flame-canvas'), settle,
        async told() {
            await settle();
            return page.locator('.flame [aria-live]').innerText();
        },
        async address() {
            await settle();
            return page.evaluate(() => location.hash);
        },
        async close() {
            assert.deepStrictEqual(said, []);
            await context.close();
        }};
}

/* Return the colour drawn at a place, in pixels of the page. */
function pixel(canvas, x, y) {
    return canvas.evaluate((element, [left, top]) => {
        const scale = element.width / element.clientWidth;
        return [...element.getContext('2d').getImageData(left * scale, top * scale, 1, 1).data]
            .slice(0, 3);
    }, [x, y]);
}

const tests = {
    async 'the keys walk through the tree of the command'() {
        for (const [profile, metric] of [['leak', 'live'], ['recursive', 'allocated'],
            ['containers', 'calls']]) {
            const {canvas, told, close} = await open(profile, `#/flame?metric=${metric}`);
            const root = treeOf(`${profile}.heaptap`, metric);
            let node = root;
            await canvas.focus();
            for (let level = 1; node.children.length > 0; level++) {
                const child = node.children.filter((one) => one.value > 0)[0];
                if (!child)
                    break;
                await canvas.press('ArrowDown');
                const share = (100 * child.value / root.value).toFixed(1);
                assert.strictEqual(await told(), `${child.name}: with all it calls ` +
                    `${amount(child.value, metric)}, ${share} % of all; ` +
                    `itself ${amount(child.self, metric)}; level ${level}`);
                node = child;
            }
            await close();
        }
    },

    async 'arrows go to siblings and back to the caller'() {
        const {canvas, told, close} = await open('leak', '#/flame?metric=live');
        let node = treeOf('leak.heaptap', 'live');
        const names = [];
        await canvas.focus();
        while (node.children.filter((one) => one.value > 0).length === 1) {
            node = node.children[0];
            names.push(node.name);
            await canvas.press('ArrowDown');
        }
        const [first, second] = node.children;
        assert(second.value > 0);
        for (const [key, name] of [['ArrowDown', first.name], ['ArrowRight', second.name],
            ['ArrowLeft', first.name], ['ArrowUp', node.name]]) {
            await canvas.press(key);
            assert((await told()).startsWith(`${name}: `), `${key}: ${await told()}`);
        }
        await close();
    },

    async 'Enter zooms, which the address says, and Escape zooms out'() {
        const {page, canvas, address, close} = await open('leak', '#/flame?metric=live');
        const way = page.locator('.flame-way');
        await canvas.focus();
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter'])
            await canvas.press(key);
        assert.match(await address(), /focus=\d+-\d+-\d+/);
        await way.waitFor();
        const name = await way.locator('b').innerText();
        await page.reload();
        await canvas.waitFor();
        assert.strictEqual(await way.locator('b').innerText(), name);
        await canvas.focus();
        for (let i = 0; i < 5 && /focus=/.test(await address()); i++)
            await canvas.press('Escape');
        assert.doesNotMatch(await address(), /focus=/);
        await page.goBack();
        assert.match(await address(), /focus=/);
        await way.getByRole('button').first().click();
        assert.doesNotMatch(await address(), /focus=/);
        await close();
    },

    async 'a click zooms, and the pointer is told of what it is over'() {
        const {page, canvas, settle, address, close} = await open('leak', '#/flame?metric=live');
        const [main] = treeOf('leak.heaptap', 'live').children;
        const box = await canvas.boundingBox();
        await page.mouse.move(box.x + 30, box.y + 1.5 * LEVEL);
        const tip = page.locator('.flame-tip');
        assert.match(await tip.innerText(), new RegExp(`^${main.name}\\b`));
        assert((await tip.innerText()).includes(amount(main.value, 'live')));
        await page.mouse.move(box.x + 30, box.y + box.height + 30);
        await settle();
        assert.strictEqual(await tip.count(), 0);
        await page.mouse.click(box.x + 30, box.y + 2.5 * LEVEL);
        assert.match(await address(), /focus=\d+-\d+$/);
        await close();
    },

    async 'the table of a level has its frames with the values of the command'() {
        for (const [invert, option] of [['', '--tree'], ['&invert=1', '--invert']]) {
            const {page, settle, close} =
                await open('containers', `#/flame?metric=allocated${invert}`);
            const root = treeOf('containers.heaptap', 'allocated', option);
            await page.locator('.flame-table summary').click();
            await page.locator('.flame-table tbody').waitFor();
            await settle();
            const rows = await page.locator('.flame-table tbody tr').evaluateAll((all) =>
                all.map((row) => [row.querySelector('bdi').title, row.cells[1].textContent]));
            // A row without a name shows its address instead ("+0x…").
            assert.deepStrictEqual(rows, root.children.filter((one) => one.value > 0)
                .slice(0, 100).map((one, i) => [one.name ?? rows[i]?.[0],
                    amount(one.value, 'allocated')]));
            assert(rows.some(([name]) => !name.includes('+0x')));
            await close();
        }
    },

    async 'of two profiles the change is told, and has its colour'() {
        const {page, canvas, told, close} = await open('compared', '#/flame?metric=allocated');
        const [before, after] = ['before', 'leak'].map((name) =>
            treeOf(`${name}.heaptap`, 'allocated').children[0]);
        await canvas.focus();
        await canvas.press('ArrowDown');
        assert((await told()).includes(`before ${amount(before.value, 'allocated')}; ` +
            `change +${amount(after.value - before.value, 'allocated')};`), await told());
        const [red, , blue] = await pixel(canvas, 500, 1.5 * LEVEL);
        assert(red > blue + 20, `${red} ${blue}`);
        assert.strictEqual(await page.locator('.flame-legend').getByText('grew').count(), 1);
        await close();
    },

    async 'what a search finds is marked, and how much that is is told'() {
        const {page, canvas, close} = await open('leak', '#/flame?metric=live&q=handle_request');
        const plain = await pixel(canvas, 300, 1.9 * LEVEL);
        const found = await pixel(canvas, 300, 2.9 * LEVEL);
        assert.notDeepStrictEqual(plain, found);
        const mark = await page.evaluate(() =>
            getComputedStyle(document.documentElement).getPropertyValue('--mark').trim());
        assert.strictEqual(`#${found.map((c) => c.toString(16).padStart(2, '0')).join('')}`, mark);
        assert.match(await page.locator('.flame-detail').innerText(),
            /% of all, .*iB, goes through what has .?handle_request.? in its name/);
        await close();
    },

    async 'a sharp screen gets sharp rectangles, a dark page dark ones'() {
        const {page, canvas, settle, close} =
            await open('leak', '#/flame', {deviceScaleFactor: 2});
        assert.strictEqual(await canvas.evaluate((c) => c.width / c.clientWidth), 2);
        const light = await pixel(canvas, 300, 1.9 * LEVEL);
        await page.getByRole('button', {name: /dark/i}).click();
        await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
        await settle();
        const dark = await pixel(canvas, 300, 1.9 * LEVEL);
        assert(dark[0] + dark[1] < light[0] + light[1] - 100, `${light} ${dark}`);
        await close();
    },

    async 'frames of standard libraries have a dashed line at their edge, own code has none'() {
        const {page, canvas, settle, close} =
            await open('containers', '#/flame?metric=calls&fold=0');
        const tones = (level) => canvas.evaluate((element, y) => {
            const row = element.getContext('2d').getImageData(40, y, 30, 1).data;
            return new Set(Array.from({length: 30}, (_, i) => row.slice(4 * i, 4 * i + 3).join()))
                .size;
        }, level * LEVEL + LEVEL - 3); // The ring of the hovered frame is below.
        const tip = async (level) => {
            const box = await canvas.boundingBox();
            await page.mouse.move(box.x + 50, box.y + (level + 0.5) * LEVEL);
            await settle();
            const [name] = await page.locator('.flame-tip b').allInnerTexts();
            return name;
        };
        let own = 0, standard = 0;
        for (let level = 1, name; (name = await tip(level)) !== undefined; level++) {
            const isStandard = /^std::|^__gnu_cxx::/.test(name);
            assert.strictEqual(await tones(level) > 1, isStandard, name);
            own += isStandard ? 0 : 1;
            standard += isStandard ? 1 : 0;
        }
        assert(own > 0 && standard > 0, `${own} ${standard}`);
        await close();
    },

    async 'a part of it can be made wider, and moved'() {
        const {page, canvas, told, settle, address, close} =
            await open('leak', '#/flame?metric=live');
        await canvas.focus();
        await canvas.press('ArrowDown');
        const words = await told(), narrow = await pixel(canvas, 5, 3.5 * LEVEL);
        for (let i = 0; i < 6; i++)
            await canvas.press('+');
        await settle();
        assert(await canvas.evaluate((c) => c.classList.contains('part')));
        const box = await canvas.boundingBox();
        await page.mouse.move(box.x + 500, box.y + 1.5 * LEVEL);
        await page.mouse.down();
        await page.mouse.move(box.x + 100, box.y + 1.5 * LEVEL, {steps: 4});
        await page.mouse.up();
        assert.doesNotMatch(await address(), /focus=/); // A drag must not count as a click.
        for (let i = 0; i < 12; i++)
            await canvas.press('-');
        await settle();
        assert(await canvas.evaluate((c) => !c.classList.contains('part')));
        assert.deepStrictEqual([await told(), await pixel(canvas, 5, 3.5 * LEVEL)],
            [words, narrow]);
        await close();
    },

    async 'names of strangers are text, and a narrow window has no sideways scroll'() {
        const {page, canvas, close} = await open('hostile', '#/flame?fold=0',
            {viewport: {width: 360, height: 740}});
        await canvas.focus();
        for (let i = 0; i < 8; i++)
            await canvas.press('ArrowDown');
        await page.locator('.flame-table summary').click();
        await page.locator('.flame-table tbody').waitFor();
        assert.strictEqual(await page.evaluate(() => document.documentElement.scrollWidth), 360);
        assert.strictEqual(await page.locator('.flame script, .flame img').count(), 0);
        await close();
    },
};

async function main() {
    browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox',
        '--use-angle=swiftshader', '--enable-unsafe-swiftshader']});
    for (const [name, test] of Object.entries(tests))
        try {
            await test();
            console.log(`ok - ${name}`);
        } catch (error) {
            failures++;
            console.log(`not ok - ${name}\n${error.stack.replace(/^/gm, '#   ')}`);
        }
    await browser.close();
    process.exit(failures > 0 ? 1 : 0);
}

main();
