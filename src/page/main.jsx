/* main.jsx: entry point of the page: read the data, then show the views.
 *
 * The document replaces the marker of page.html. Other code is in model/ (numbers, no DOM), flame/
 * (the flame graph) and view/ (everything else that is visible).
 */
import {render} from 'preact';
import {readPage} from './model/load.js';
import {App} from './view/app.jsx';
import './view/page.css';

async function main() {
    const root = document.getElementById('page');
    try {
        const page = await readPage(document.getElementById('data'));
        root.textContent = '';
        render(<App page={page} />, root);
    } catch (error) {
        root.textContent = `This page cannot be shown: ${error.message}`;
        root.setAttribute('role', 'alert');
        throw error;
    }
}

main();
