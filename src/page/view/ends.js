/* ends.js: how processes ended, in words. */

/* Return true if REPORT sums the histories of several processes: blocks that a process still held
 * at its end count as freed then. */
export function freesAtEnds(report) {
    return (report.merged?.processes ?? 0) > 1 && report.history?.points !== undefined;
}

/* Return the end that a signal caused: ", killed by SIGSEGV"; "" if there was none. */
export function endOf(process) {
    if (!process.end || process.end.how === 'exited')
        return '';
    return process.end.how === 'out-of-memory' ? ', killed: out of memory'
        : `, killed by ${process.end.name}`;
}
