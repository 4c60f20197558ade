/* flame_words.js: texts of a flame graph: names that fit into rectangles, and descriptions of
 * frames.
 *
 * The tip, the line below the picture and screen readers use the same sentences, so all have the
 * same information. */
import {fittingName, visible} from '../view/name_text.js';
import {amount, growth, hasBounds, percent} from '../view/units.js';

// Minimum number of letters for a part of a name, or of an offset ("+0x1f…"), to be useful.
const LEAST_LETTERS = 3, LEAST_OFFSET = 6;
// Least room for a name in front of its file, in letters.
const LEAST_BEFORE_PLACE = 6;

/* Return the place of function FN in brackets, behind a name that several functions share. */
function suffixOf(profile, fn) {
    const place = visible(profile.functions.place[fn] ?? '');

    return place === '' ? '' : ` (${place})`;
}

/** Return the name of function FN in at most LETTERS letters, with its place if there is room. */
export function functionLabel(profile, fn, letters) {
    const name = profile.functions.name[fn], suffix = suffixOf(profile, fn);
    const room = letters - suffix.length;

    return suffix !== '' && room >= Math.min(LEAST_BEFORE_PLACE, name.length)
        ? label(name, room) + suffix : label(name, letters);
}

/**
 * Return NAME in at most LETTERS letters: without namespaces, then without arguments, then cut at
 * the end; '' if LETTERS is too small. A function without a name is identified by its offset alone,
 * because its neighbours have the same module.
 */
export function label(name, letters) {
    const whole = visible(name), offset = /\+0x[0-9a-f]+…?$/.exec(whole);

    if (whole.length <= letters)
        return whole;
    if (letters < (offset ? LEAST_OFFSET : LEAST_LETTERS))
        return '';
    if (offset)
        return offset[0].length <= letters ? offset[0] : `${offset[0].slice(0, letters - 1)}…`;
    return fittingName(whole, letters);
}

/** Return the name of NODE, with its place if several functions have the name. */
export function nodeName(profile, tree, node) {
    const fn = tree.function[node];

    return fn < 0 ? 'all stacks'
        : visible(profile.functions.name[fn]) + suffixOf(profile, fn);
}

/* Return true if the value of NODE with its callees is a lower bound: some stacks begin at the root
 * of truncated stacks, and may have the frames of NODE in their unknown part. */
function isBound(profile, tree, node) {
    return hasBounds(profile) && tree.depth[node] > (tree.inverted ? 1 : 0) &&
        tree.function[node] !== profile.functions.truncated;
}

/**
 * Return the numbers of NODE, each as {name, text}.
 * @param {import('../model/profile.js').Profile} profile
 * @param {import('../model/tree.js').CallTree} tree
 * @param {number} node
 * @param {import('../model/metric.js').Metric} metric
 * @param {number} focus the zoomed node; 0 = all
 */
export function numbersOf(profile, tree, node, metric, focus) {
    const {unit} = metric, total = tree.total[node], whole = tree.total[0];
    const rows = [{name: 'with all it calls', text: `${amount(total, unit)}, ` +
        `${percent(total, whole)} of all`}];

    if (tree.inverted)
        rows[0].name = 'through here';
    if (isBound(profile, tree, node))
        rows[0].name += ' at least';
    if (focus > 0 && node !== focus && tree.total[focus] > 0)
        rows.push({name: 'of the zoomed frame', text: percent(total, tree.total[focus])});
    if (!tree.inverted)
        rows.push({name: 'itself', text: amount(tree.self[node], unit)});
    if (tree.totalBefore)
        rows.push({name: 'before', text: amount(tree.totalBefore[node], unit)},
            {name: 'change', text: growth(total - tree.totalBefore[node], unit)});
    return rows;
}

/** Return a description of NODE in one sentence. */
export function sentence(profile, tree, node, metric, focus) {
    const numbers = numbersOf(profile, tree, node, metric, focus)
        .map(({name, text}) => `${name} ${text}`).join('; ');

    return `${nodeName(profile, tree, node)}: ${numbers}; level ${tree.depth[node]}`;
}

/** Return the place of function FN: its file or, without one, its module. */
export function placeOf(profile, fn) {
    const {functions, files, modules} = profile;
    const file = fn < 0 ? null : files[functions.file[fn]];

    return visible(file ?? (fn < 0 ? '' : modules.path[functions.module[fn]] ?? ''));
}
