/* bundle.mjs: make the page that `heaptap html` fills with data, as one self-contained file.
 *
 *     node bundle.mjs OUT [PACKAGES]
 *
 * PACKAGES is the node_modules directory that `npm ci` made from package-lock.json, which is beside
 * this file (default: $PAGE_PACKAGES). It may be outside of the source tree. esbuild is loaded from
 * there as well.
 *
 * A page that users pass on must not load or send anything. Therefore script and style are inline,
 * and the policy permits only these two, by their hashes: a name in a profile can never become
 * code, even if a view has a bug. For this reason no element may have an attribute `style`;
 * properties of element.style are permitted.
 *
 * The output has the line DATA of page.html exactly once, and the command replaces it by the
 * document. The document is not a script, so the policy does not apply to it.
 */
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';

const MARKER = '@DATA@';
const here = path.dirname(fileURLToPath(import.meta.url));
const [out, given] = process.argv.slice(2);
const packages = path.resolve(given || process.env.PAGE_PACKAGES || 'build/page/node_modules');

async function bundle() {
    const {build} = createRequire(path.join(packages, 'here.js'))('esbuild');
    const result = await build({
        entryPoints: [path.join(here, 'main.jsx')],
        bundle: true, minify: true, write: false, format: 'iife', outdir: here,
        target: 'es2022', charset: 'utf8', legalComments: 'none',
        jsx: 'automatic', jsxImportSource: 'preact', nodePaths: [packages],
        define: {'process.env.NODE_ENV': '"production"'}});
    const text = (end) => result.outputFiles.find((file) => file.path.endsWith(end)).text;
    return {script: text('.js').trim(), style: text('.css').trim()};
}

function hash(text) {
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function policy({script, style}) {
    return ["default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`,
        'img-src data:', "base-uri 'none'", "form-action 'none'"].join('; ');
}

/* The replacements are functions, because "$" has a special meaning in a replacement text. */
function fill(template, parts) {
    return Object.entries(parts).reduce(
        (page, [name, text]) => page.replace(`@${name}@`, () => text), template);
}

async function main() {
    const parts = await bundle();
    const page = fill(readFileSync(path.join(here, 'page.html'), 'utf8'),
        {POLICY: policy(parts), STYLE: parts.style, SCRIPT: parts.script});
    if (page.split(MARKER).length !== 2)
        throw new Error(`${MARKER} must be in the page once`);
    if (/<\/(script|style)/i.test(parts.script + parts.style))
        throw new Error('the script or the style would end before its end');
    mkdirSync(path.dirname(path.resolve(out)), {recursive: true});
    writeFileSync(out, page);
}

if (!out) {
    console.error('usage: node bundle.mjs OUT [PACKAGES]');
    process.exit(2);
}
main().catch((error) => {
    console.error(`bundle.mjs: ${error.message}`);
    process.exit(1);
});
