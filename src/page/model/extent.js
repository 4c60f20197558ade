/* extent.js: the values of sites for a metric, a period and a filter.
 *
 * A click changes these values; everything else (trees, groups, sums) is computed from them. For
 * the whole run, values are columns of the document. For a moment or a period, they are sums of the
 * history's changes. A change is a site's growth between points[point - 1] and points[point], so
 *
 *     at points[k]                      all changes with        point <= k
 *     between points[i] and points[k]   all changes with    i < point <= k
 *
 * Live is allocated minus freed. Between two points it is a growth, which may be negative.
 *
 * A filter keeps or removes a whole site; criteria that are not given keep all. A text is searched
 * in every function, file and module of the stack before folding, like --filter. */
import {cached} from './shape.js';

/**
 * @typedef {{kind: 'whole'} | {kind: 'peak'} | {kind: 'at', point: number}
 *     | {kind: 'between', from: number, to: number}} Extent points are indices of profile.points
 *
 * @typedef {object} Filter conditions on sites; a site must meet all that are given
 * @property {string} [text] occurs in a function, file or module of the stack; case is
 *     ignored
 * @property {string} [pattern] like text, as a case-sensitive regular expression, like --filter
 * @property {number} [function] a function of the stack
 * @property {number} [module] a module of the stack
 * @property {number} [file] a file of the stack
 * @property {number} [heap]
 * @property {number} [labels] a set of labels
 * @property {{key: string, value: string|null}} [label] null: blocks without that label
 * @property {number} [type] for parts: keep only parts with that type
 *
 * @typedef {object} Values
 * @property {import('./profile.js').Profile} profile
 * @property {import('./metric.js').Metric} metric
 * @property {Extent} extent
 * @property {Filter|null} filter
 * @property {Float64Array} after by site: values of the only or the second profile; read-only
 * @property {Float64Array|null} before by site: values of the first of two profiles
 * @property {Uint8Array|null} mask by site: 1 if the filter keeps it; null = all
 */

/** The whole run. @type {Extent} */
export const WHOLE = {kind: 'whole'};

/**
 * @param {import('./profile.js').Profile} profile
 * @param {import('./metric.js').Metric} metric known in EXTENT (metric.js, isKnown)
 * @param {Extent} extent
 * @param {Filter|null} [filter]
 * @returns {Values}
 * @throws {Error} if the metric is unknown in the extent
 */
export function siteValues(profile, metric, extent = WHOLE, filter = null) {
    const mask = siteMask(profile, filter), type = filter?.type;
    const whole = (columns, table) => masked(columnOf(columns, metric, extent), table, mask);
    let after, before = null;

    if (type !== undefined) {
        const parts = partValues({profile, metric, extent, filter, mask});

        after = bySite(profile, parts.after);
        before = parts.before && bySite(profile, parts.before);
    } else if (extent.kind === 'whole' || extent.kind === 'peak') {
        after = whole(profile.sites.columns, profile.sites);
        before = profile.sites.beforeColumns && whole(profile.sites.beforeColumns, profile.sites);
    } else {
        after = masked(sumChanges(profile, metric, extent, 'site', profile.sites.count),
            profile.sites, mask);
    }
    return {profile, metric, extent, filter, after, before, mask};
}

/**
 * Return the values by part (profile.parts), for tables by type and by size class.
 * @param {Values} values
 * @returns {{after: Float64Array, before: Float64Array|null}}
 */
export function partValues({profile, metric, extent, filter, mask}) {
    const {parts} = profile, type = filter?.type;
    const keeps = (mask || type !== undefined) && Uint8Array.from(parts.site, (site, i) =>
        (!mask || mask[site]) && (type === undefined || parts.type[i] === type) ? 1 : 0);
    const kept = (column) => masked(column, parts, keeps || null);

    if (extent.kind === 'whole' || extent.kind === 'peak')
        return {after: kept(columnOf(parts.columns, metric, extent)),
            before: parts.beforeColumns && kept(columnOf(parts.beforeColumns, metric, extent))};
    const by = profile.changes?.part || !parts.known ? 'part' : null;

    if (by === null)
        throw new Error('Types and sizes are known of the whole run only');
    return {after: kept(sumChanges(profile, metric, extent, parts.known ? 'part' : 'site',
        parts.count)), before: null};
}

/** Return the sums of VALUES (by part) by site. */
export function bySite(profile, values) {
    const sums = new Float64Array(profile.sites.count), {site} = profile.parts;

    for (let i = 0; i < values.length; i++)
        sums[site[i]] += values[i];
    return sums;
}

/** Return the sum of the kept values: 100 % of percentages. @param {Values} values */
export function totals({after, before}) {
    return {after: sum(after), before: before && sum(before)};
}

function sum(values) {
    let result = 0;

    for (let i = 0; i < values.length; i++)
        result += values[i];
    return result;
}

function columnOf(columns, metric, extent) {
    const atPeak = {live_bytes: 'peak_bytes', live_blocks: 'peak_blocks'};
    const name = extent.kind === 'peak' ? atPeak[metric.column] : metric.column;

    if (!columns[name])
        throw new Error(`${metric.name} is not known there`);
    return columns[name];
}

function masked(values, table, mask) {
    if (!mask)
        return values;
    const kept = new Float64Array(table.count);

    for (let i = 0; i < kept.length; i++)
        if (mask[i])
            kept[i] = values[i];
    return kept;
}

/* --- Time ------------------------------------------------------------------------------------ */

/* Columns that a metric adds, and columns that it subtracts. */
const OF_CHANGES = {
    allocations: ['allocations', null],
    allocated_bytes: ['allocated_bytes', null],
    frees: ['frees', null],
    freed_bytes: ['freed_bytes', null],
    live_bytes: ['allocated_bytes', 'freed_bytes'],
    live_blocks: ['allocations', 'frees'],
};

/** Return the points of EXTENT: changes count if they are after the first and up to the second. */
function spanOf(profile, extent) {
    if (extent.kind === 'at')
        return [0, extent.point];
    if (extent.kind === 'between')
        return [extent.from, extent.to];
    return [0, profile.points.length - 1];
}

function sumChanges(profile, metric, extent, by, count) {
    const changes = profile.changes, names = OF_CHANGES[metric.column];

    if (!changes || !names)
        throw new Error(`${metric.name} is not known of a stretch of time`);
    const [from, to] = spanOf(profile, extent), {point} = changes, row = changes[by];
    const added = changes[names[0]], taken = names[1] && changes[names[1]];
    const sums = new Float64Array(count);

    for (let i = firstAfter(point, from), end = firstAfter(point, to); i < end; i++)
        sums[row[i]] += taken ? added[i] - taken[i] : added[i];
    return sums;
}

/* Return the first change after POINT; changes are sorted. */
function firstAfter(points, point) {
    let low = 0, high = points.length;

    while (low < high) {
        const middle = (low + high) >> 1;

        if (points[middle] <= point)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/**
 * Return the last of the profile's points at or before a time, like --at.
 * @returns {number} index; -1 if there is no history
 */
export function pointAt(profile, elapsedNs) {
    let found = profile.points.length > 0 ? 0 : -1;

    // The last point is the end of the run.
    for (let i = 1; i < profile.points.length; i++)
        if (profile.points[i].elapsed_ns <= elapsedNs)
            found = i;
    return found;
}

/* --- Filters --------------------------------------------------------------------------------- */

/**
 * Return a mask of the sites that FILTER keeps; null if it keeps all.
 * @returns {Uint8Array|null} by site
 */
export function siteMask(profile, filter) {
    const key = filter && JSON.stringify(filter);

    if (!filter || key === '{}')
        return null;
    return cached(profile, `mask ${key}`, () => makeMask(profile, filter));
}

function makeMask(profile, filter) {
    const {sites} = profile, mask = new Uint8Array(sites.count).fill(1);
    const keep = (test) => {
        for (let i = 0; i < mask.length; i++)
            if (mask[i] && !test(i))
                mask[i] = 0;
    };

    for (const wanted of frameTests(profile, filter)) {
        const has = stacksWith(profile, wanted);

        keep((i) => has[sites.stack[i]]);
    }
    if (filter.heap !== undefined)
        keep((i) => sites.heap[i] === filter.heap);
    if (filter.labels !== undefined)
        keep((i) => sites.labels[i] === filter.labels);
    if (filter.label !== undefined)
        keep((i) => labelValue(profile, sites.labels[i], filter.label.key) === filter.label.value);
    return mask;
}

/** Return the value of the label KEY in a set; null without that label; for an unknown set, its
 * substitute text. */
export function labelValue(profile, labels, key) {
    const entry = profile.labels[labels];

    if (!entry || (entry.set && !Object.hasOwn(entry.set, key)))
        return null;
    return entry.set ? entry.set[key] : entry.text;
}

/* Return the conditions of FILTER on frames, each as an array by frame: 1 = passed. */
function frameTests(profile, filter) {
    const {frames} = profile, tests = [];
    const frameTest = (test) => tests.push(Uint8Array.from({length: frames.count},
        (_, i) => test(i) ? 1 : 0));

    if (filter.function !== undefined)
        frameTest((i) => frames.function[i] === filter.function);
    if (filter.module !== undefined)
        frameTest((i) => frames.module[i] === filter.module);
    if (filter.file !== undefined)
        frameTest((i) => frames.file[i] === filter.file);
    if (filter.text)
        tests.push(framesNaming(profile, textTest(filter.text)));
    if (filter.pattern)
        tests.push(framesNaming(profile, patternTest(filter.pattern)));
    return tests;
}

function textTest(text) {
    const wanted = text.toLowerCase();

    return (name) => name.toLowerCase().includes(wanted);
}

/* Text that is not a regular expression matches literally. */
function patternTest(pattern) {
    let regular;

    try {
        regular = new RegExp(pattern, 'u');
    } catch {
        return (name) => name.includes(pattern);
    }
    return (name) => regular.test(name);
}

/** Return, by frame, 1 if TEST holds for the function, file or module. */
function framesNaming(profile, test) {
    const {frames, functions, files, modules} = profile;
    const byFunction = functions.name.map(test), byFile = files.map(test);
    const byModule = modules.path.map(test);

    return Uint8Array.from(frames.function, (fn, i) => byFunction[fn] ||
        byFile[frames.file[i]] || byModule[frames.module[i]] ? 1 : 0);
}

/* Return, by stack, 1 if any frame passes. */
function stacksWith({stacks}, frames) {
    const has = new Uint8Array(stacks.count);

    for (let i = 1; i < has.length; i++)
        has[i] = has[stacks.parent[i]] | frames[stacks.frame[i]];
    return has;
}
