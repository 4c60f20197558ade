/* stretches.js: choose the lines of a long source file to show. */

const LINES_ALL = 2000, AROUND = 12, OPENED_AT_ONCE = 500;

/**
 * Divide the COUNT lines of a file into consecutive ranges. Lines are counted from 0.
 * @param {Map|undefined} lines the lines with data, by number from 1 on
 * @param {?number} line number of the requested line
 * @param {number[]} opened the first lines of gaps that the user has opened
 * @returns {{from: number, to: number, isGap: boolean}[]} lines from `from` to before `to`
 */
export function stretches(count, lines, line, opened) {
    const shown = new Uint8Array(count);
    const mark = (from, to) => shown.fill(1, Math.max(0, from), Math.max(0, Math.min(count, to)));
    mark(0, count <= LINES_ALL ? count : AROUND);
    for (const number of [...(lines ? lines.keys() : []), ...(line > 0 ? [line] : [])])
        mark(number - 1 - AROUND, number + AROUND);
    for (const from of opened)
        mark(from, from + OPENED_AT_ONCE);
    const parts = [];
    for (let from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && shown[to] === shown[from];)
            to++;
        parts.push({from, to, isGap: shown[from] === 0});
    }
    return parts;
}
