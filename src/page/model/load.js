/* load.js: decode the document in the page's data block.
 *
 * The block is base64 of gzip of JSON. base64 is needed, because HTML cannot contain arbitrary
 * bytes. gzip reduces a profile of 10 MB to 1.6 MB, and browsers decompress it without a library
 * (DecompressionStream). The data is inside the page, because the page's policy blocks all fetches,
 * even of a file beside the page.
 *
 * The contents are untrusted: a document of a later version, or of another kind, is rejected with a
 * sentence for the user. */

/** Versions of `heaptap-page`, and of the reports in it, that this page can read. */
export const PAGE_VERSION = 1, REPORT_VERSION = 2;

/**
 * Decode the page's document.
 * @param {Element|string} source the data block, or its text: base64 of gzip of JSON
 * @returns {Promise<object>} a `heaptap-page` document (docs/json.md)
 * @throws {Error} with a sentence for the user if the document cannot be read
 */
export async function readPage(source) {
    const text = typeof source === 'string' ? source : source.textContent;
    let document;

    try {
        document = JSON.parse(await unpacked(text));
    } catch (error) {
        throw new Error('The data in this page is damaged: it was cut off or changed on its way',
            {cause: error});
    }
    return checkPage(document);
}

/**
 * Return DOCUMENT as a page document. A `heaptap-report` becomes a page document without other
 * parts, so that the model can read the output of `heaptap report --json`.
 * @throws {Error} if DOCUMENT is neither, or has an unknown version
 */
export function checkPage(document) {
    let page = document;

    if (page && page.format === 'heaptap-report')
        page = {format: 'heaptap-page', version: PAGE_VERSION, report: page, before: null,
            sizes: null, leaks: null, sources: []};
    if (!page || page.format !== 'heaptap-page' || !page.report)
        throw new Error('The data in this page is no profile of heaptap');
    for (const report of [page, page.report, page.before].filter(Boolean)) {
        const known = report === page ? PAGE_VERSION : REPORT_VERSION;

        if (report.version !== known)
            throw new Error(`The data in this page is of version ${report.version}; ` +
                `this page reads ${known}`);
    }
    return page.filter ? withoutTimelines(page) : page;
}

/* Remove the timeline from a report of a part, because a timeline always covers the whole
 * process. */
function withoutTimelines(page) {
    const without = (report) => report && {...report, timeline: []};

    return {...page, report: without(page.report), before: without(page.before)};
}

async function unpacked(base64) {
    const bytes = bytesOf(base64.replace(/\s+/g, ''));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));

    return new Response(stream).text();
}

/* atob makes a string with one character per byte. Decoding in pieces avoids a second copy of large
 * data. A piece has whole groups of four characters. */
function bytesOf(base64) {
    const part = 1 << 20, padding = /=*$/.exec(base64)[0].length;
    const bytes = new Uint8Array(base64.length / 4 * 3 - padding);
    let filled = 0;

    for (let i = 0; i < base64.length; i += part) {
        const text = atob(base64.slice(i, i + part));

        for (let k = 0; k < text.length; k++)
            bytes[filled++] = text.charCodeAt(k);
    }
    return bytes;
}
