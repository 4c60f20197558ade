/* main.jsx: what the page does when it is opened: read the data, then show the views.
 *
 * The document is behind the marker of page.html, as base64 of gzip of JSON. Everything else is
 * in model/ (numbers, no DOM), flame/ (the flame graph) and view/ (what one sees).
 */
import {render} from 'preact';
import './view/page.css';

async function readPage(element) {
    const bytes = Uint8Array.from(atob(element.textContent.replace(/\s+/g, '')),
        (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return JSON.parse(await new Response(stream).text());
}

function Totals({report}) {
    return (
        <main>
            <h1>{report.process.command}</h1>
            <dl>
                {Object.entries(report.totals).map(([name, value]) =>
                    <><dt>{name}</dt><dd>{String(value)}</dd></>)}
            </dl>
        </main>);
}

async function main() {
    const root = document.getElementById('page');
    try {
        const page = await readPage(document.getElementById('data'));
        root.textContent = '';
        render(<Totals report={page.report} />, root);
    } catch (error) {
        root.textContent = `This page cannot be shown: ${error.message}`;
    }
}

main();
