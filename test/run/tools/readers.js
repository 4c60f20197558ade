/* readers.js: the tools themselves read what heaptap exports, in a browser without a window.
 *
 *     readers.js HEAPTAP speedscope PROFILE...
 *
 * What a tool says of a file must be what `heaptap report --json` says, to the byte. speedscope
 * rounds what it shows, so it is asked to save the file again: that has what it has read. Nothing
 * goes further than this machine; the pages come from NODE_PATH. If it fails, a profile opened
 * there shows an error or wrong numbers.
 */
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

/* A server of the files below ROOT, and of what `extra` holds by path. */
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

async function speedscope(browser) {
    const release = path.join(path.dirname(require.resolve('speedscope/package.json')),
        'dist/release');
    const files = {};
    const server = await serve(release, files);
    const base = `http://127.0.0.1:${server.address().port}`;
    for (const [number, profile] of profiles.entries()) {
        const page = await browser.newPage();
        const said = [];
        files[`/profile${number}.json`] = run('export', '-f', 'speedscope', '--no-fold', profile);
        page.on('console', (message) => said.push(message.text()));
        page.on('dialog', (dialog) => { said.push(dialog.message()); dialog.dismiss(); });
        await page.goto(`${base}/#profileURL=/profile${number}.json`);
        await page.getByText('Sandwich').waitFor();
        assert(said.some((line) => line === 'Importing as speedscope json file'), said.join('\n'));
        const [download] = await Promise.all([
            page.waitForEvent('download'), page.keyboard.press('Control+s')]);
        const read = JSON.parse(fs.readFileSync(await download.path(), 'utf8'));
        const sums = Object.fromEntries(read.profiles.map((one) => {
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
        }));
        const truth = totals(profile);
        assert.deepStrictEqual(sums, {
            'bytes in use': truth.live_bytes, 'bytes at the peak': truth.peak_bytes,
            'bytes allocated': truth.allocated_bytes,
            'short-lived blocks': truth.died_within_16 ?? truth.temporary,
            'allocation calls': truth.allocations});
        console.log(profile, JSON.stringify(sums));
        await page.close();
    }
    server.close();
}

async function main() {
    const browser = await chromium.launch(
        {executablePath: '/usr/bin/chromium', args: browserArguments});
    try {
        await {speedscope}[tool](browser);
    } finally {
        await browser.close();
    }
}

main().catch((error) => {
    console.log(error.stack);
    process.exit(1);
});
