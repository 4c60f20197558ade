/* help.jsx: the keys, and the terms that all views use.
 *
 * It is a <dialog>, because that keeps the focus and closes on Escape without further code. */
import {NameKey} from './name.jsx';

const KEYS = [
    ['1 … 9, 0', 'the views, from left to right'],
    ['/', 'search; Enter leads to the table of functions'],
    ['↑ ↓ Enter', 'in a table: from row to row, and into one'],
    ['← → Enter', 'on the curve: to a moment; with Shift a stretch of time'],
    ['arrows, Enter, Esc', 'in the flame graph: from frame to frame, into one, out again'],
    ['w', 'the whole run again'],
    ['t', 'light or dark'],
    ['?', 'this help']];

const WORDS = [
    ['live', 'allocated and not freed. At the end that is no leak yet: nobody has looked '
        + 'whether it can still be reached'],
    ['at the peak', 'live when the whole process had most'],
    ['short-lived', 'freed before its thread had allocated 16 more blocks'],
    ['self', 'of blocks that this function asked for itself'],
    ['total', 'with all that it called; a stack counts once, however often it recurses'],
    ['total ~', 'an estimate: not all allocations were recorded with their callers'],
    ['total ≥', 'a lower bound: the callers of some stacks are not known'],
    ['held by', 'the innermost function of the program’s own code, outside of libraries'],
    ['#12', 'the number of a stack, the same in all views of heaptap']];

export function Help({dialog}) {
    const list = (rows, cell) => rows.map(([word, text]) => (
        <>
            <dt key={word}>{cell(word)}</dt><dd>{text}</dd>
        </>));
    return (
        <dialog ref={dialog} aria-labelledby="help-title">
            <button type="button" class="button close" onClick={() => dialog.current.close()}>
                Close</button>
            <h2 id="help-title">Keys</h2>
            <dl class="facts">{list(KEYS, (key) => <kbd>{key}</kbd>)}</dl>
            <h2 class="block">Words</h2>
            <dl class="facts">{list(WORDS, (word) => <b>{word}</b>)}</dl>
            <NameKey />
            <p class="note">The address of this page holds what it shows: copy it to send a view on
                with the file.</p>
        </dialog>);
}
