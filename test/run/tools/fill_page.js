/* fill_page.js: put a document into the page as `heaptap html` does, to view the page without
 * heaptap.
 *
 *     fill_page.js TEMPLATE DOCUMENT OUT        DOCUMENT is JSON, heaptap-page or heaptap-report */
'use strict';
const fs = require('fs');
const zlib = require('zlib');

const [template, document, out] = process.argv.slice(2);
let text = fs.readFileSync(document, 'utf8');
const read = JSON.parse(text);
if (read.format !== 'heaptap-page')
    text = JSON.stringify({format: 'heaptap-page', version: 1, report: read, before: null,
        sizes: null, leaks: null, sources: []});
const data = zlib.gzipSync(text).toString('base64');
fs.writeFileSync(out, fs.readFileSync(template, 'utf8').replace('@DATA@', () => data));
