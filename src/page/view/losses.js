/* losses.js: names of the recorder's losses, in the words of the command.
 *
 * Each name has a form for one loss and a form for several. */

/* In the view of the recording: member of `losses`, name of one, name of several. Rows with "…" are
 * parts of the row before them. */
export const LOSSES = [
    ['events', 'event lost', 'events lost'],
    ['reentrant_events', '… in signal handlers that interrupted the recorder'],
    ['no_memory_events', '… because the recorder got no memory, or none within --max-memory'],
    ['no_thread_events', '… in threads that it had no memory to follow, or too many at once'],
    ['early_events', '… in other threads while it was starting'],
    ['heap_events', '… of heaps of the program’s own: too many, or destroyed before'],
    ['unseen_allocators', 'C library whose own malloc could not be recorded',
        'C libraries whose own malloc could not be recorded'],
    ['ledger_events', 'block whose free could not be followed',
        'blocks whose free could not be followed'],
    ['other_site_events', 'allocation charged to “other”: the call tree had no room',
        'allocations charged to “other”: the call tree had no room'],
    ['label_sets', 'set of labels that found no room: charged to “other labels”',
        'sets of labels that found no room: charged to “other labels”'],
    ['shortened_stacks', 'allocation with its innermost frames only: the call tree was full',
        'allocations with their innermost frames only: the call tree was full'],
    ['truncated_stacks', 'allocation with a stack deeper than the recorder follows',
        'allocations with a stack deeper than the recorder follows'],
    ['guessed_frames', 'allocation with a guessed frame (no unwind information)',
        'allocations with a guessed frame (no unwind information)'],
    ['frames_without_module', 'code address without a name: too many libraries',
        'code addresses without a name: too many libraries'],
    ['unwind_failures', 'allocation whose stack broke off', 'allocations whose stack broke off'],
    ['ends_without_table', '… of them at a frame without unwind tables'],
    ['unknown_frees', 'free of a block that was not live (foreign, older or freed twice)',
        'frees of blocks that were not live (foreign, older or freed twice)'],
    ['double_frees', '… of them freed twice'],
    ['unrecorded_frees', 'free of a block from when not all was recorded',
        'frees of blocks from when not all was recorded'],
    ['inherited_frees', 'free of a block from before the fork',
        'frees of blocks from before the fork'],
    ['overwritten_blocks', 'block whose free was not seen', 'blocks whose free was not seen'],
    ['lost_sizes', 'free of a block whose size was overwritten: its bytes are a guess',
        'frees of blocks whose sizes were overwritten: their bytes are guesses'],
    ['damaged_blocks', 'block that was written out of: heaptap report shows it',
        'blocks that were written out of: heaptap report shows them'],
    ['failed_calls', 'call that returned no block', 'calls that returned no block'],
    ['history_records', 'value at a snapshot that found no room: a later one replaces it',
        'values at a snapshot that found no room: later ones replace them']];

/* Above every view: only the losses that make numbers wrong. */
export const WRONG = [
    ['events', 'event was lost', 'events were lost'],
    ['ledger_events', 'block whose free could not be followed',
        'blocks whose free could not be followed'],
    ['other_site_events', 'allocation found no room in the tree of stacks',
        'allocations found no room in the tree of stacks'],
    ['unseen_allocators', 'C library whose own malloc could not be recorded',
        'C libraries whose own malloc could not be recorded'],
    ['overwritten_blocks', 'block whose free was not seen', 'blocks whose free was not seen'],
    ['history_records', 'value at a snapshot found no room',
        'values at a snapshot found no room']];

/**
 * Return the losses of TABLE that occurred, each as {name, number, text}.
 * @param {string[][]} table LOSSES or WRONG
 * @param {Object<string, number>} losses numbers by name
 */
export function lossesIn(table, losses) {
    return table.filter(([name]) => losses[name] > 0).map(([name, one, several = one]) =>
        ({name, number: losses[name], text: losses[name] === 1 ? one : several}));
}
