/* readers.js: let other tools read heaptap's exports, in a browser without a window.
 *
 *     readers.js HEAPTAP speedscope|devtools|flamegraph PROFILE...
 *
 * The numbers that a tool reads must equal `heaptap report --json`, to the byte. Both tools round
 * the numbers that they show. So the test lets speedscope save the file again, which then contains
 * the data that speedscope has read, and queries the sums behind the view in DevTools, which a
 * debugging port serves as a page. A flame graph only has to run, and to switch between its
 * metrics. Each number read becomes a line in the file $READINGS (readings.py). The pages come from
 * NODE_PATH, and no request leaves this machine. If it fails, a profile opened in these tools shows
 * an error or wrong numbers. */
'use strict';
const assert = require('assert');
const fs = require('fs');
const http = require('http');
const path = require('path');
const {execFileSync} = require('child_process');
const {chromium} = require('playwright-core');

const [heaptap, tool, ...profiles] = process.argv.slice(2);
const browserArguments = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

function run(...args) {
    return execFileSync(heaptap, args, {maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore']});
}

function totals(profile) {
    return JSON.parse(run('report', '--json', '--no-fold', profile)).totals;
}

function reading(format, consumer, profile, metric, read, truth) {
    fs.appendFileSync(process.env.READINGS, [format, consumer, profile.replace('.heaptap', ''),
        metric, read, truth].join('\t') + '\n');
}

/* Serve the files below ROOT, and the contents of `extra`, by path. */
function serve(root, extra) {
    const server = http.createServer((request, answer) => {
        const name = decodeURIComponent(request.url.split('?')[0]);
        const file = path.join(root, name === '/' ? 'index.html' : path.normalize(name));
        if (name in extra)
            answer.end(extra[name]);
        else if (fs.existsSync(file))
            answer.end(fs.readFileSync(file));
        else
            answer.writeHead(404).end();
    });
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/* Return the data that speedscope has read from a file at URL, as `importer`: a sum for each
 * profile, by its name. */
async function readBySpeedscope(browser, url, importer) {
    const page = await browser.newPage();
    const said = [];
    page.on('console', (message) => said.push(message.text()));
    page.on('dialog', (dialog) => { said.push(dialog.message()); dialog.dismiss(); });
    await page.goto(url);
    await page.getByText('Sandwich').waitFor();
    assert(said.some((line) => line === `Importing as ${importer}`), said.join('\n'));
    const [download] = await Promise.all([
        page.waitForEvent('download'), page.keyboard.press('Control+s')]);
    const read = JSON.parse(fs.readFileSync(await download.path(), 'utf8'));
    await page.close();
    return read.profiles.map((one) => {
        const open = [];
        let sum = 0;
        if (one.type === 'sampled')
            sum = one.weights.reduce((a, b) => a + b, 0);
        for (const event of one.events || []) {
            if (event.type === 'O')
                open.push(event.at);
            else if (open.length > 1)
                open.pop();
            else
                sum += event.at - open.pop();
        }
        return [one.name.split(',')[0].replace('temporary', 'short-lived'), sum];
    });
}

async function speedscope(browser) {
    const release = path.join(path.dirname(require.resolve('speedscope/package.json')),
        'dist/release');
    const files = {};
    const server = await serve(release, files);
    const base = `http://127.0.0.1:${server.address().port}/#profileURL=`;
    for (const [number, profile] of profiles.entries()) {
        const truth = totals(profile);
        const titles = {
            'bytes in use': 'live_bytes', 'bytes at the peak': 'peak_bytes',
            'bytes allocated': 'allocated_bytes',
            'short-lived blocks': truth.died_within_16 === null ? 'temporary' : 'died_within_16',
            'allocation calls': 'allocations'};
        files[`/profile${number}.json`] = run('export', '-f', 'speedscope', '--no-fold', profile);
        const sums = Object.fromEntries(await readBySpeedscope(browser,
            `${base}/profile${number}.json`, 'speedscope json file'));
        assert.deepStrictEqual(Object.keys(sums).sort(), Object.keys(titles).sort());
        for (const [title, field] of Object.entries(titles))
            reading('speedscope', 'speedscope', profile, field, sums[title], truth[field]);
        if (truth.allocated_bytes === 0)
            continue; // Speedscope mistakes an empty file for a missing one.
        files[`/stacks${number}.txt`] = run('export', '-f', 'collapsed', '--alloc', '--no-fold',
            profile);
        const [[, sum]] = await readBySpeedscope(browser, `${base}/stacks${number}.txt`,
            'collapsed stack format');
        reading('collapsed', 'speedscope', profile, 'allocated_bytes', sum, truth.allocated_bytes);
    }
    server.close();
}

/* Return a port that was free just now. */
function freePort() {
    return new Promise((resolve) => {
        const server = http.createServer().listen(0, '127.0.0.1', () => {
            const {port} = server.address();
            server.close(() => resolve(port));
        });
    });
}

async function devtools(browser, port) {
    for (const profile of profiles)
        for (const [metric, field] of [['--inuse', 'live_bytes'], ['--peak', 'peak_bytes'],
            ['--alloc', 'allocated_bytes']])
            await devtoolsShows(browser, port, profile, metric, field);
}

async function devtoolsShows(browser, port, profile, metric, field) {
    const file = path.resolve(profile.replace('.heaptap', '.heapprofile'));
    const page = await browser.newPage();
    run('export', metric, '-o', file, '--no-fold', '--no-fold-recursion', profile);
    await page.goto(`http://127.0.0.1:${port}/devtools/js_app.html?panel=heap_profiler`);
    await page.getByRole('tab', {name: 'Memory'}).first().click();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'),
        page.getByRole('button', {name: /Load profile/}).first().click()]);
    await chooser.setFiles(file);
    await page.getByRole('treeitem', {name: /, Loaded/}).click();
    await page.getByText('Self size').first().waitFor();
    const read = await page.evaluate(async () => {
        const {HeapProfilerPanel} = await import('/devtools/panels/profiler/profiler.js');
        const view = HeapProfilerPanel.HeapProfilerPanel.instance().visibleView;
        const todo = [view.profileInternal.root];
        let own = 0;
        for (let node; (node = todo.pop()) !== undefined; todo.push(...node.children))
            own += node.self;
        return {total: view.profileInternal.root.total, own};
    });
    assert.strictEqual(read.own, read.total);
    reading('chrome', 'DevTools', profile, field, read.total, totals(profile)[field]);
    await page.close();
}

async function flamegraph(browser) {
    for (const profile of profiles) {
        const file = path.resolve(profile.replace('.heaptap', '.svg'));
        const page = await browser.newPage();
        const wrong = [];
        const truth = totals(profile);
        page.on('pageerror', (error) => wrong.push(error.message));
        run('export', '-o', file, '--no-fold', '--no-fold-recursion', profile);
        await page.goto(`file://${file}#metric=count`);
        for (const [number, field] of ['live_bytes', 'peak_bytes', 'allocated_bytes',
            truth.died_within_16 === null ? 'temporary' : 'died_within_16',
            'allocations'].entries()) {
            await page.keyboard.press(String(number + 1));
            const read = await page.evaluate((n) => data.nodes[3 + n], number);
            await page.waitForFunction((wanted) => document.getElementById('graph').textContent
                .startsWith(wanted), read > 0 ? 'all' : 'Nothing was counted');
            reading('flamegraph', 'Chromium', profile, field, read, truth[field]);
        }
        assert.deepStrictEqual(wrong, []);
        await page.close();
    }
}

async function main() {
    const port = await freePort();
    const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: [
        ...browserArguments, `--remote-debugging-port=${port}`, '--remote-allow-origins=*']});
    try {
        await {speedscope, devtools, flamegraph}[tool](browser, port);
    } finally {
        await browser.close();
    }
}

main().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
