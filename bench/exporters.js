/* exporters.js: measure the time that a viewer in a browser takes to open a file.
 *
 *     exporters.js speedscope|chrome|flamegraph|dhat FILE [PICTURE.png]
 *
 * The time begins when the page is opened, or when the file is chosen in it, and ends when the
 * viewer shows the data. NODE_PATH must have playwright-core and speedscope (tools/setup
 * readers). */
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const {chromium} = require('playwright-core');

const [form, file, picture] = process.argv.slice(2);
const LIMIT_MS = 300000;

async function speedscope(page) {
    const release = path.join(path.dirname(require.resolve('speedscope/package.json')),
        'dist/release');
    const server = http.createServer((request, answer) => {
        const name = request.url.split('?')[0];
        const found = name === '/profile.json' ? file :
            path.join(release, name === '/' ? 'index.html' : path.normalize(name));
        fs.createReadStream(found).on('error', () => answer.writeHead(404).end()).pipe(answer);
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
    const started = Date.now();
    await page.goto(`http://127.0.0.1:${server.address().port}/#profileURL=/profile.json`);
    await page.getByText('Sandwich').waitFor();
    return started;
}

async function chrome(page, port) {
    await page.goto(`http://127.0.0.1:${port}/devtools/js_app.html?panel=heap_profiler`);
    await page.getByRole('tab', {name: 'Memory'}).first().click();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'),
        page.getByRole('button', {name: /Load profile/}).first().click()]);
    const started = Date.now();
    await chooser.setFiles(file);
    await page.getByRole('treeitem', {name: /, Loaded/}).click();
    await page.getByText('Self size').first().waitFor();
    return started;
}

async function flamegraph(page) {
    const started = Date.now();
    await page.goto('file://' + path.resolve(file));
    await page.waitForFunction(() => document.getElementById('graph').textContent !== '');
    return started;
}

async function dhat(page) {
    const viewer = ['/usr/libexec/valgrind/dh_view.html', '/usr/lib/valgrind/dh_view.html']
        .find((name) => fs.existsSync(name));
    await page.goto('file://' + viewer);
    const started = Date.now();
    await page.locator('input[type=file]').setInputFiles(path.resolve(file));
    await page.waitForFunction(() => document.body.textContent.includes('At t-gmax:'));
    return started;
}

async function main() {
    const port = 9500 + process.pid % 400;
    const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: [
        '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
        `--remote-debugging-port=${port}`, '--remote-allow-origins=*']});
    try {
        const page = await browser.newPage({viewport: {width: 1400, height: 900}});
        page.setDefaultTimeout(LIMIT_MS);
        const started = await {speedscope, chrome, flamegraph, dhat}[form](page, port);
        console.log(`in the browser: ${((Date.now() - started) / 1000).toFixed(1)} s`);
        if (picture) {
            await page.waitForTimeout(1500);
            await page.screenshot({path: picture});
        }
    } finally {
        await browser.close();
    }
}

main().catch((error) => {
    console.log(error.message.split('\n')[0]);
    process.exit(1);
});
