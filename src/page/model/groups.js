/* groups.js: sums of values by function, line, file, module, and by properties of sites and parts.
 *
 * Each grouping has keys, dense numbers that depend only on the shape and are computed once.
 * Therefore the rows of a grouping have the same keys for every metric, and a table can have
 * columns for several metrics.
 *
 * A stack counts once in `total` of each key on it, even if recursion repeats the key: this is the
 * sum over the outermost stacks of the tree with the key (shape.js). It counts in `self` only of
 * the innermost frame's key, so the sum of `self` over all keys is the total. Groupings by a
 * property of the whole site (site, own, heap, labels, type, class) have equal self and total.
 *
 * Results equal `heaptap report --by` (analyse/group.c), and for two profiles `heaptap diff`. */
import {PairMap} from './pair_map.js';
import {partValues, labelValue} from './extent.js';
import {KINDS, SIZE_CLASSES, VERDICT_NAMES, baseName} from './profile.js';
import {START_UP, cached, outermost, shapeOf, shapeOrder, stackSums, usefulStart} from './shape.js';

/** Groupings for `group`; 'label:KEY' groups by the values of one label. */
export const GROUPINGS = ['site', 'own', 'function', 'line', 'file', 'module', 'kind', 'type',
    'class', 'heap', 'labels'];

/**
 * @typedef {object} Group
 * @property {string} by
 * @property {number} count of keys
 * @property {boolean} nested true if total may exceed self
 * @property {Float64Array} self by key
 * @property {Float64Array} total by key
 * @property {Float64Array|null} selfBefore in the first of two profiles
 * @property {Float64Array|null} totalBefore
 * @property {Int32Array} order the keys with a nonzero value, by descending self, then by
 *     descending total; for two profiles, by the change of these
 * @property {Keys} keys the meaning of each key
 *
 * @typedef {object} Keys arrays by key: -1 = unknown; some arrays may be absent
 * @property {(key: number) => string} name for people
 * @property {Int32Array} [function]
 * @property {Int32Array} [file]
 * @property {Int32Array} [line]
 * @property {Int32Array} [module]
 * @property {Int32Array} [stack] of the shape
 * @property {Int32Array} [site] one of its sites
 * @property {Int32Array} [heap]
 * @property {Int32Array} [labels]
 * @property {Int32Array} [type]
 * @property {Int32Array} [verdict]
 */

/**
 * @param {import('./profile.js').Profile} profile
 * @param {import('./extent.js').Values} values
 * @param {string} by one of GROUPINGS, or 'label:KEY'
 * @param {{fold?: boolean, recursion?: boolean}} [options] see shape.js
 * @returns {Group}
 * @throws {Error} if BY is type or class and the document lacks these
 */
export function group(profile, values, by, options = {}) {
    const shape = shapeOf(profile, options), keys = keysOf(shape, by);
    const sides = keys.ofStack ? nestedSums(shape, keys, values) : flatSums(profile, keys, values);
    const result = {by, count: keys.count, nested: Boolean(keys.ofStack), ...sides, keys};

    result.order = sorted(result);
    return result;
}

/** Return the keys of a grouping, without values. @returns {Keys} */
export function keysOf(shape, by) {
    return cached(shape, `keys ${by}`, () => {
        if (by.startsWith('label:'))
            return labelKeys(shape.profile, by.slice('label:'.length));
        if (!MAKERS[by])
            throw new Error(`There is no table by ${by}`);
        return MAKERS[by](shape);
    });
}

/** Return the key of each site, for groupings with one key per site. @returns {Int32Array|null} */
export function keyOfSites(shape, by) {
    const keys = keysOf(shape, by);

    if (keys.ofSite)
        return keys.ofSite;
    return keys.ofStack ? shape.end.map((stack) => keys.ofStack[stack]) : null;
}

/* --- Sums ------------------------------------------------------------------------------------ */

function nestedSums(shape, keys, {after, before}) {
    const first = cached(shape, `outermost ${keys.cacheName}`, () =>
        outermost(shape, shapeOrder(shape), keys.ofStack, keys.count));
    const both = (values) => {
        const ends = stackSums(shape, values, false), sums = stackSums(shape, values, true);
        const self = new Float64Array(keys.count), total = new Float64Array(keys.count);
        const {ofStack} = keys;

        // Stack 0 has no frames, so only the sites that end there count.
        self[ofStack[0]] = total[ofStack[0]] = ends[0];
        for (let i = 1; i < ofStack.length; i++) {
            self[ofStack[i]] += ends[i];
            if (first[i])
                total[ofStack[i]] += sums[i];
        }
        return {self, total};
    };
    const {self, total} = both(after), old = before && both(before);

    return {self, total, selfBefore: old?.self ?? null, totalBefore: old?.total ?? null};
}

function flatSums(profile, keys, values) {
    const {after, before} = keys.ofPart ? partValues(values) : values;
    const of = keys.ofPart ?? keys.ofSite;
    const add = (column) => {
        const sums = new Float64Array(keys.count);

        for (let i = 0; i < column.length; i++)
            sums[of[i]] += column[i];
        return sums;
    };
    const self = add(after), selfBefore = before && add(before);

    return {self, total: self, selfBefore, totalBefore: selfBefore};
}

function sorted({count, self, total, selfBefore, totalBefore}) {
    const change = (now, old) => old ? Math.abs(now - old) : now;
    const bySelf = self.map((value, i) => change(value, selfBefore && selfBefore[i]));
    const byTotal = total.map((value, i) => change(value, totalBefore && totalBefore[i]));
    const kept = [];

    for (let i = 0; i < count; i++)
        if (self[i] !== 0 || total[i] !== 0 || selfBefore?.[i] || totalBefore?.[i])
            kept.push(i);
    return Int32Array.from(kept).sort((x, y) =>
        bySelf[y] - bySelf[x] || byTotal[y] - byTotal[x] || x - y);
}

/* --- Keys ------------------------------------------------------------------------------------ */

/* By grouping: keys of stacks by their innermost frame (ofStack; sites without a stack have the key
 * of stack 0), of sites or of parts. */
const MAKERS = {
    function: functionKeys,
    line: lineKeys,
    file: fileKeys,
    module: moduleKeys,
    kind: kindKeys,
    site: siteKeys,
    own: ownKeys,
    type: typeKeys,
    class: classKeys,
    heap: heapKeys,
    labels: labelSetKeys,
};

/* Return keys by the innermost frame of a stack. NO_FRAME is the key of stack 0. */
function byFrame(shape, name, ofFrame, count, noFrame) {
    const ofStack = new Int32Array(shape.count);

    ofStack[0] = noFrame;
    for (let i = 1; i < ofStack.length; i++)
        ofStack[i] = ofFrame[shape.frame[i]];
    return {cacheName: name, count, ofStack};
}

function functionKeys(shape) {
    const {functions, frames} = shape.profile;

    return {...byFrame(shape, 'function', frames.function, functions.count, functions.other),
        function: Int32Array.from({length: functions.count}, (_, i) => i),
        module: functions.module, file: functions.file, name: (key) => functions.name[key]};
}

/* Return keys by line. A frame without a file has a key for its function or, if that has no name,
 * for the call. */
function lineKeys(shape) {
    const {profile} = shape, {frames, functions, files} = profile;
    const places = new PairMap(frames.count), fn = [], example = [];
    const ofFrame = frames.function.map((of, i) => {
        const file = frames.file[i], known = places.count;
        const key = file >= 0 ? places.put(file, frames.line[i])
            : functions.nameless[of] ? places.put(-2, i) : places.put(-1, of);

        if (key === known) {
            fn.push(of);
            example.push(i);
        }
        return key;
    });
    const other = places.put(-3, 0);

    fn.push(functions.other);
    return {...byFrame(shape, 'line', ofFrame, places.count, other),
        function: Int32Array.from(fn),
        file: Int32Array.from(fn, (_, i) => i < other ? frames.file[example[i]] : -1),
        line: Int32Array.from(fn, (_, i) => i < other ? frames.line[example[i]] : 0),
        name: (key) => key < other && frames.file[example[key]] >= 0
            ? `${files[frames.file[example[key]]]}:${frames.line[example[key]] || '?'}`
            : functions.name[fn[key]]};
}

/* Return keys by file. A frame without a file has a key for its module. */
function fileKeys(shape) {
    const {profile} = shape, {frames, files, modules} = profile, count = files.length;
    const ofFrame = frames.file.map((file, i) => file >= 0 ? file : count + 1 + frames.module[i]);
    const other = count + 1 + modules.count;

    return {...byFrame(shape, 'file', ofFrame, other + 1, other),
        file: Int32Array.from({length: other + 1}, (_, i) => i < count ? i : -1),
        module: Int32Array.from({length: other + 1}, (_, i) =>
            i > count && i < other ? i - count - 1 : -1),
        name: (key) => key < count ? files[key] : key === other ? '[other stacks]'
            : `? (${baseName(modules.path[key - count - 1] ?? '') || 'unknown module'})`};
}

function moduleKeys(shape) {
    const {frames, modules} = shape.profile, other = modules.count + 1;

    return {...byFrame(shape, 'module', frames.module.map((m) => m + 1), other + 1, other),
        module: Int32Array.from({length: other + 1}, (_, i) => i < other ? i - 1 : -1),
        name: (key) => key === other ? '[other stacks]'
            : modules.path[key - 1] || 'unknown module'};
}

/* Return keys by kind of code: user code, libraries, the runtime. */
function kindKeys(shape) {
    const {frames, functions} = shape.profile;
    const ofFrame = frames.function.map((fn) => functions.kind[fn]);

    return {...byFrame(shape, 'kind', ofFrame, KINDS.length, KINDS.indexOf('unknown')),
        name: (key) => KINDS[key]};
}

/* Return keys by site. Stacks with equal text after folding, the same heap and the same labels
 * share a key. */
function siteKeys(shape) {
    const {profile, end} = shape, {sites} = profile;
    const tags = new PairMap(), rows = new PairMap();
    const same = profile.before ? comparedStacks(shape) : null;
    const ofSite = end.map((stack, i) => {
        // Flags belong to one recording, so a comparison ignores them.
        const tag = tags.put(sites.heap[i], sites.labels[i] << 4 | (same ? 0 : sites.flags[i]));

        return rows.put(same ? same[stack] : stack, tag);
    });
    const site = new Int32Array(rows.count), number = new Int32Array(rows.count);

    // Find the first site of each row, from the second profile if that has one, and the smallest
    // number.
    for (let i = ofSite.length - 1; i >= 0; i--) {
        const key = ofSite[i];

        site[key] = i;
        if (sites.number[i] > 0 && (number[key] === 0 || sites.number[i] < number[key]))
            number[key] = sites.number[i];
    }
    const stack = site.map((i) => end[i]), {functions} = profile;
    const fn = stack.map((at) => at === 0 ? functions.other : shape.function[at]);

    return {count: rows.count, ofSite, site, number, stack, function: fn,
        heap: site.map((i) => sites.heap[i]), labels: site.map((i) => sites.labels[i]),
        name: (key) => functions.name[fn[key]]};
}

/* Return, by stack, the row number in a comparison. Functions, files and inlining distinguish
 * rows. */
function comparedStacks(shape) {
    const {count, parent, frame, profile} = shape, {frames} = profile;
    const entries = new PairMap(), rows = new PairMap(count), row = new Int32Array(count);

    rows.put(-1, -1);
    for (let i = 1; i < count; i++) {
        const entry = entries.put(frames.function[frame[i]], frames.inlined[frame[i]]);

        row[i] = rows.put(row[parent[i]], entry);
    }
    return row;
}

/* --- Properties of whole sites --------------------------------------------------------------- */

/**
 * Return the innermost frame of user code on each stack; without one, the innermost frame of a
 * library; otherwise the innermost frame. Same rule as in analyse/user_code.c.
 * @returns {Int32Array} by site: a stack of the shape; 0 = none
 */
export function ownStacks(shape) {
    return cached(shape, 'own', () => {
        const {count, parent, frame, profile, end} = shape;
        const kind = profile.frames.module.map((m) => profile.modules.kind[m] ?? 3);
        const state = usefulStart(shape), nearest = [new Int32Array(count), new Int32Array(count)];

        // Kinds 0 and 1 are user code and libraries; code of an unclassified module counts as user
        // code.
        for (let i = 1; i < count; i++)
            for (let wanted = 0; wanted < 2; wanted++) {
                const of = kind[frame[i]] === 3 ? 0 : kind[frame[i]];

                nearest[wanted][i] = state[i] === START_UP ? 0 : of <= wanted ? i
                    : nearest[wanted][parent[i]];
            }
        return end.map((stack) => {
            const found = nearest[0][stack] || nearest[1][stack];

            return found ? namedNear(shape, found) : stack;
        });
    });
}

/**
 * Return the lines of holders. A holder is a function, and sums all lines of it.
 * @param {object} shape
 * @param {{after: Float64Array, before: Float64Array|null}} values by site
 * @param {Int32Array} of key by site
 * @param {number} count of keys
 * @returns {{frame: Int32Array, more: Int32Array}} by key: the frame of user code whose line
 *     has most, or -1; the number of other lines that contribute
 */
export function ownLines(shape, {after, before}, of, count) {
    const own = ownStacks(shape), {file, line} = shape.profile.frames, {frame} = shape;
    const places = new PairMap(), lines = new PairMap(), sums = [], frames = [];
    const ret = {frame: new Int32Array(count).fill(-1), more: new Int32Array(count)};
    const most = new Float64Array(count);

    of.forEach((key, site) => {
        const at = own[site] > 0 ? frame[own[site]] : -1;

        if (key < 0 || at < 0 || file[at] < 0 || !line[at])
            return;
        const number = lines.put(key, places.put(file[at], line[at]));

        sums[number] = (sums[number] ?? 0) + (before ? after[site] - before[site] : after[site]);
        frames[number] ??= at;
    });
    sums.forEach((sum, number) => {
        const key = lines.a[number], weight = before ? Math.abs(sum) : sum;

        if (weight <= 0)
            return;
        ret.more[key] += ret.frame[key] >= 0 ? 1 : 0;
        if (weight > most[key]) {
            most[key] = weight;
            ret.frame[key] = frames[number];
        }
    });
    return ret;
}

/* A function without a name is less useful than a named caller, if that is near and in the same
 * module. */
function namedNear(shape, stack) {
    const {parent, frame, profile} = shape, {frames, functions} = profile;
    const state = usefulStart(shape);
    let at = stack;

    for (let far = 0; at > 0 && far <= 2; far++, at = parent[at]) {
        if (state[at] === START_UP || frames.module[frame[at]] !== frames.module[frame[stack]])
            break;
        if (!functions.nameless[frames.function[frame[at]]])
            return at;
    }
    return stack;
}

function ownKeys(shape) {
    const {functions} = shape.profile;
    const ofSite = ownStacks(shape).map((stack) =>
        stack === 0 ? functions.other : shape.function[stack]);

    return {count: functions.count, ofSite,
        function: Int32Array.from({length: functions.count}, (_, i) => i),
        module: functions.module, file: functions.file, name: (key) => functions.name[key]};
}

const CLASS_NAMES = ['up to 32 bytes', 'up to 256 bytes', 'up to 2 KiB', 'more than 2 KiB'];

/* A type has a row per verdict; blocks with several candidates are split by size. */
function typeKeys({profile}) {
    const {parts, types} = profile, rows = new PairMap(), detail = new PairMap();

    if (!parts.known || parts.verdict.every((v) => v < 0))
        throw new Error('This document does not tell of which types blocks are');
    const ofPart = parts.type.map((type, i) => {
        const isOneOf = VERDICT_NAMES[parts.verdict[i]] === 'same size';
        const size = isOneOf ? parts.columns.size_min[i] : 0;

        return rows.put(detail.put(type, parts.verdict[i]), size);
    });
    const of = rows.firsts(), type = of.map((i) => detail.a[i]), size = rows.seconds();

    return {count: rows.count, ofPart, type, verdict: of.map((i) => detail.b[i]), size,
        name: (key) => type[key] >= 0 ? types[type[key]] : size[key] > 0
            ? `one of several of ${size[key]} byte${size[key] === 1 ? '' : 's'}` : 'unknown'};
}

function classKeys({profile}) {
    const {parts} = profile;

    if (!parts.known)
        throw new Error('This document does not tell how large blocks are');
    return {count: SIZE_CLASSES.length, ofPart: Int32Array.from(parts.sizeClass),
        name: (key) => CLASS_NAMES[key]};
}

function heapKeys({profile}) {
    return {count: profile.heaps.length, ofSite: profile.sites.heap,
        heap: Int32Array.from(profile.heaps, (_, i) => i), name: (key) => profile.heaps[key]};
}

function labelSetKeys({profile}) {
    return {count: profile.labels.length, ofSite: profile.sites.labels,
        labels: Int32Array.from(profile.labels, (_, i) => i),
        name: (key) => profile.labels[key].text || 'without labels'};
}

function labelKeys(profile, label) {
    const values = new Map();
    const ofSet = profile.labels.map((_, i) => {
        const value = labelValue(profile, i, label);

        if (!values.has(value))
            values.set(value, values.size);
        return values.get(value);
    });
    const list = [...values.keys()];

    return {count: list.length, ofSite: profile.sites.labels.map((set) => ofSet[set]),
        value: list, name: (key) => list[key] ?? `without ${label}`};
}

/** Return the keys of all labels of sites, sorted. @returns {string[]} */
export function labelNames(profile) {
    const names = new Set(profile.labels.flatMap(({set}) => Object.keys(set ?? {})));

    return [...names].sort();
}
