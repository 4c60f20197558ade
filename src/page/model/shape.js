/* shape.js: stacks after folding.
 *
 * Stacks are transformed in three ways, each by the command's rule:
 *
 *   fold       omits the innermost functions that only pass an allocation on (operator new,
 *              xmalloc), and charges their caller. The result is also a stack of the tree, further
 *              out. Therefore folding only changes the end of each site.
 *   recursion  omits a sequence of frames that repeats the sequence just inside it: f g f g main
 *              becomes f g main. Such stacks are not in the tree, so another tree is made.
 *   useful     omits start-up code outside of main, or below a thread's function, in trees
 *              (usefulStart). Tables keep it, because they count every function of a stack.
 *
 * A shape is computed once for each of the four combinations of fold and recursion, and cached.
 * Other data that is independent of metrics, extents and filters is also computed once per shape.
 * This is the order in which all stacks below a stack are one range (preorder) and, for each kind
 * of key (a function, a line), the outermost stacks with each key. The sum over these is the
 * inclusive value, which counts each stack once even if recursion repeats the key. */
import {PairMap} from './pair_map.js';
import {ROLE_STARTUP, ROLE_WRAPPER, baseName} from './profile.js';

const RECURSION_PERIOD_MAX = 32; // Longer repetitions are not searched for, as in the command.

/**
 * @typedef {object} Shape
 * @property {import('./profile.js').Profile} profile
 * @property {number} count of stacks; a parent has a smaller number than its children
 * @property {Int32Array} parent
 * @property {Int32Array} frame
 * @property {Int32Array} function
 * @property {Int32Array} depth
 * @property {Int32Array} end by site: its stack after folding
 * @property {Map} cache
 */

/**
 * @param {import('./profile.js').Profile} profile
 * @param {{fold?: boolean, recursion?: boolean}} [options] recursion: fold it as well
 * @returns {Shape}
 */
export function shapeOf(profile, {fold = false, recursion = false} = {}) {
    return cached(profile, `shape ${fold} ${recursion}`, () => {
        if (recursion)
            return foldRecursion(shapeOf(profile, {fold}));
        return {profile, cache: new Map(), ...profile.stacks,
            end: fold ? foldedEnds(profile) : profile.sites.stack};
    });
}

/** Return the result of MAKE, cached in OWNER's `cache`. */
export function cached(owner, key, make) {
    if (!owner.cache.has(key))
        owner.cache.set(key, make());
    return owner.cache.get(key);
}

/* One frame of a stack always remains. A frame without a name that a wrapper of the same module
 * called belongs to the wrapper: a stripped library only has its exported names. */
function foldedEnds(profile) {
    const {parent, frame, function: fn} = profile.stacks;
    const {role, nameless} = profile.functions, {file, module} = profile.frames;
    const known = new Int32Array(profile.stacks.count).fill(-1);

    return profile.sites.stack.map((stack) => {
        if (known[stack] >= 0)
            return known[stack];
        let end = stack, at = stack;

        for (; at > 0 && parent[at] > 0; at = parent[at]) {
            if (role[fn[at]] === ROLE_WRAPPER)
                end = parent[at];
            else if (!nameless[fn[at]] || file[frame[at]] >= 0 ||
                     module[frame[at]] !== module[frame[parent[at]]])
                break;
        }
        return known[stack] = end;
    });
}

/* --- Recursion ------------------------------------------------------------------------------- */

function foldRecursion(shape) {
    const {parent, frame} = shape;
    const stacks = new PairMap(shape.count), known = new Int32Array(shape.count).fill(-1);
    const path = new Path(shape);

    stacks.put(-1, -1);
    const end = shape.end.map((stack) => {
        if (known[stack] >= 0)
            return known[stack];
        let made = 0;

        for (let at = stack; at > 0; at = parent[at]) {
            path.push(at);
            path.drop(path.repeated());
        }
        for (let i = path.length - 1; i >= 0; i--)
            made = stacks.put(made, frame[path.stacks[i]]);
        path.drop(path.length);
        return known[stack] = made;
    });
    return {profile: shape.profile, cache: new Map(), end, ...treeOf(shape.profile, stacks)};
}

/* The path from the root to a stack. Each entry refers to the previous entry with its function,
 * because a repetition ends with the function with which it began. */
class Path {
    constructor(shape) {
        const longest = maximum(shape.depth) + 1;

        this.fn = shape.function;
        this.stacks = new Int32Array(longest);
        this.before = new Int32Array(longest);
        this.last = new Int32Array(shape.profile.functions.count).fill(-1); // By function.
        this.length = 0;
    }

    push(stack) {
        this.before[this.length] = this.last[this.fn[stack]];
        this.stacks[this.length] = stack;
        this.last[this.fn[stack]] = this.length++;
    }

    drop(count) {
        for (let i = 0; i < count; i++)
            this.last[this.fn[this.stacks[--this.length]]] = this.before[this.length];
    }

    /* Return the number of frames at the end that repeat the frames just before them. */
    repeated() {
        const {fn, stacks, before, length} = this, end = length - 1;

        for (let at = before[end]; at >= 0; at = before[at]) {
            const period = end - at;

            if (period > RECURSION_PERIOD_MAX || length < 2 * period)
                return 0;
            let same = 1;

            while (same < period && fn[stacks[end - same]] === fn[stacks[at - same]])
                same++;
            if (same === period)
                return period;
        }
        return 0;
    }
}

function treeOf(profile, stacks) {
    const parent = stacks.firsts(), frame = stacks.seconds(), count = parent.length;
    const fn = new Int32Array(count).fill(-1), depth = new Int32Array(count);

    for (let i = 1; i < count; i++) {
        fn[i] = profile.frames.function[frame[i]];
        depth[i] = depth[parent[i]] + 1;
    }
    return {count, parent, frame, function: fn, depth};
}

/* --- Orders ---------------------------------------------------------------------------------- */

/**
 * Return the nodes of a tree in preorder: all nodes below a node directly follow it. Parents must
 * have smaller numbers.
 * @param {{count: number, parent: Int32Array}} tree
 * @returns {Int32Array} node by place
 */
export function preorder({count, parent}) {
    const size = new Int32Array(count).fill(1), next = new Int32Array(count);
    const order = new Int32Array(count);

    for (let i = count - 1; i > 0; i--)
        size[parent[i]] += size[i];
    next[0] = 1;
    for (let i = 1; i < count; i++) {
        const place = next[parent[i]];

        next[parent[i]] = place + size[i];
        next[i] = place + 1;
        order[place] = i;
    }
    return order;
}

/**
 * Return a mask of the nodes that are the first with their key on the path from the root.
 * @param {{count: number, parent: Int32Array, depth: Int32Array}} tree
 * @param {Int32Array} order of its nodes, see preorder
 * @param {Int32Array} key by node; negative = none
 * @param {number} keys number of keys
 * @returns {Uint8Array} by node: 1 = first with its key
 */
export function outermost({count, depth}, order, key, keys) {
    const open = new Int32Array(keys), path = new Int32Array(maximum(depth) + 2);
    const result = new Uint8Array(count);
    let length = 0;

    for (let place = 0; place < count; place++) {
        const node = order[place], k = key[node];

        while (length > depth[node]) {
            const left = path[--length];

            if (left >= 0)
                open[left]--;
        }
        // The root has depth 0, so the path has as many entries as the next node's depth.
        path[length++] = k;
        if (k >= 0 && open[k]++ === 0)
            result[node] = 1;
    }
    return result;
}

function maximum(values) {
    let most = 0;

    for (let i = 0; i < values.length; i++)
        if (values[i] > most)
            most = values[i];
    return most;
}

/** Return the stacks of SHAPE in preorder. */
export function shapeOrder(shape) {
    return cached(shape, 'order', () => preorder(shape));
}

/**
 * Return the sums of VALUES by stack: of the sites that end at the stack, or at and below it.
 * @param {Shape} shape
 * @param {Float64Array} values by site
 * @param {boolean} below true if a stack includes the sites below it
 * @returns {Float64Array} by stack
 */
export function stackSums(shape, values, below) {
    const sums = new Float64Array(shape.count), {end, parent} = shape;

    for (let i = 0; i < values.length; i++)
        sums[end[i]] += values[i];
    if (below)
        addUp(sums, parent);
    return sums;
}

/** Add each node's sum to its parent's, from the last node on. Parents have smaller numbers. */
export function addUp(sums, parent) {
    for (let i = sums.length - 1; i > 0; i--)
        if (sums[i] !== 0)
            sums[parent[i]] += sums[i];
}

/* --- Start-up code --------------------------------------------------------------------------- */

/* Return, by frame, 1 if it belongs to the C library's code that calls main or a thread's function.
 * A stripped library has no names for this code, but frames between main and _start, or below a
 * thread's function, can be nothing else. */
function startupFrames(profile) {
    return cached(profile, 'startup', () => {
        const {functions, frames, modules} = profile;
        const isLibc = modules.path.map((path) => baseName(path).startsWith('libc.so.'));

        return Uint8Array.from(frames.function, (fn, i) => functions.nameless[fn]
            ? Number(isLibc[frames.module[i]] ?? false)
            : Number(functions.role[fn] === ROLE_STARTUP));
    });
}

/** Result of usefulStart: longer stacks keep all frames of this stack. */
export const START_NONE = 0;
/** Result of usefulStart: the outermost frame begins a stripped program. It is start-up code if
 * start-up code follows. */
export const START_MAYBE = 1;
/** Result of usefulStart: the whole stack is start-up code. */
export const START_UP = 2;

/**
 * Return, by stack, how longer stacks that contain it treat its frames: they omit all of them or
 * none. One frame of a stack always remains, so a site that ends in start-up code keeps the
 * innermost frame.
 * @param {Shape} shape
 * @returns {Uint8Array} by stack: one of START_
 */
export function usefulStart(shape) {
    return cached(shape, 'useful', () => {
        const {count, parent, frame, function: fn, profile} = shape;
        const startup = startupFrames(profile), {nameless} = profile.functions;
        const state = new Uint8Array(count);

        for (let i = 1; i < count; i++) {
            const outer = parent[i] === 0 ? START_UP : state[parent[i]];

            if (outer !== START_NONE && startup[frame[i]])
                state[i] = START_UP;
            else if (parent[i] === 0 && nameless[fn[i]])
                state[i] = START_MAYBE;
        }
        return state;
    });
}

/**
 * Return the number of frames of STACK, the whole stack of a site, without start-up code.
 * @param {Shape} shape
 * @param {number} stack
 * @returns {number} number of frames, from the innermost on; at least 1 unless STACK is empty
 */
export function usefulDepth(shape, stack) {
    const state = usefulStart(shape), {parent, depth} = shape, left = startDepth(shape)[stack];

    // The innermost frame always remains, even if it is start-up code.
    if (left === 0 || left < depth[stack])
        return depth[stack] - left;
    return left === 2 && state[parent[stack]] === START_MAYBE ? 2 : 1;
}

/** Return, by stack, the number of its outermost frames that are start-up code, for longer stacks
 * that contain it. */
export function startDepth(shape) {
    return cached(shape, 'start', () => {
        const state = usefulStart(shape), {count, parent, depth} = shape;
        const result = new Int32Array(count);

        for (let i = 1; i < count; i++)
            result[i] = state[i] === START_UP ? depth[i] : result[parent[i]];
        return result;
    });
}
