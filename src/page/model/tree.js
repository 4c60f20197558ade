/* tree.js: stacks as a tree of functions: top-down from main, or inverted from allocating
 * functions.
 *
 * Two representations have the same interface:
 *
 *   The whole top-down tree has a fixed skeleton, which depends only on the shape (shape.js). It
 *   is built once. A click stores values at the nodes and sums them in two passes over typed
 *   arrays, because parents have smaller numbers. A node has the same number for every metric,
 *   period and filter.
 *
 *   The inverted tree of half a million stacks has as many nodes as all stacks have frames, tens of
 *   millions, while a screen shows a thousand. Therefore it grows on demand: a node stores its
 *   places in the skeleton, and its children are made from the callers on first use. A tree that
 *   starts at one function is built the same way.
 *
 * Values equal `heaptap report --tree --json`. A node's total covers all stacks through it, and its
 * self value the stacks that end there. A recursive function is a chain of nodes, and start-up code
 * is omitted. The node of sites without a stack has the function `functions.other`. Stacks whose
 * outer frames are missing begin at a node `functions.truncated`.
 *
 * `width` is the drawn size: the larger of before and after, summed over stacks; negative values
 * count as 0. Therefore a picture of differences shows everything, no node is narrower than its
 * children together, and shrinkage within a period takes no space. */
import {PairMap} from './pair_map.js';
import {SITE_BROKEN, SITE_TRUNCATED} from './profile.js';
import {START_MAYBE, START_NONE, START_UP, addUp, cached, outermost, preorder, shapeOf, usefulDepth,
    usefulStart} from './shape.js';

/**
 * The tree of functions of a shape, without values.
 * @typedef {object} Skeleton
 * @property {number} count node 0 is the root
 * @property {Int32Array} parent smaller than the node; -1 of the root
 * @property {Int32Array} function -1 of the root
 * @property {Int32Array} depth 0 of the root
 * @property {Int32Array} site by site: the node at which it ends
 * @property {Int32Array} firstChild by node: index of its first child in `children`
 * @property {Int32Array} children nodes
 * @property {Map} cache
 */

/** @param {import('./shape.js').Shape} shape @returns {Skeleton} made once */
function skeletonOf(shape) {
    return cached(shape, 'skeleton', () => makeSkeleton(shape));
}

function makeSkeleton(shape) {
    const {count, parent, function: fn, end, profile} = shape, {other} = profile.functions;
    const state = usefulStart(shape), used = usedStacks(shape);
    const nodes = new PairMap(count), node = new Int32Array(count);
    const root = nodes.put(-1, -1);
    const place = (stack) => {
        const outer = parent[stack];

        if (state[outer] === START_MAYBE && outer !== 0)
            node[outer] = nodes.put(root, fn[outer]);
        return nodes.put(node[outer], fn[stack]);
    };

    // Callees of start-up code get the root as their parent, the initial value in `node`.
    for (let i = 1; i < count; i++)
        if (used[i] && state[i] === START_NONE)
            node[i] = place(i);
    const cut = isCut(profile), below = new Int32Array(count), {truncated} = profile.functions;
    const placeCut = (stack) => {
        const way = [];
        let at = stack;

        for (; at !== 0 && below[at] === 0 && state[at] !== START_UP; at = parent[at])
            way.push(at);
        let found = below[at] || nodes.put(root, truncated);

        for (; way.length > 0; below[at] = found) {
            at = way.pop();
            found = nodes.put(found, fn[at]);
        }
        return found;
    };
    const site = end.map((stack, i) => {
        if (stack === 0)
            return nodes.put(root, other);
        if (cut(i))
            return placeCut(stack);
        if (state[stack] === START_NONE)
            return node[stack];
        return state[stack] === START_UP && usefulDepth(shape, stack) === 2 ? place(stack)
            : nodes.put(root, fn[stack]);
    });
    return finishSkeleton(nodes, site);
}

/** Return a predicate of site numbers: the outer frames of the stack are missing, because a limit
 * of the recorder has cut them or its walk broke off. Frames that were cut on request are not a
 * loss. */
export function isCut({report, sites}) {
    const asked = report.process?.frames_kept;
    const lost = asked ? SITE_BROKEN : SITE_BROKEN | SITE_TRUNCATED;

    return (i) => (sites.flags[i] & lost) !== 0;
}

/** Return a skeleton of the pairs (parent, function) in NODES; the first pair is the root. */
export function finishSkeleton(nodes, site) {
    const parent = nodes.firsts(), fn = nodes.seconds(), count = parent.length;
    const depth = new Int32Array(count), firstChild = new Int32Array(count + 2);

    for (let i = 1; i < count; i++) {
        depth[i] = depth[parent[i]] + 1;
        firstChild[parent[i] + 2]++;
    }
    for (let i = 2; i < count + 2; i++)
        firstChild[i] += firstChild[i - 1];
    // Counts are shifted by one, so that filling in moves them to the starts.
    const children = new Int32Array(count - 1);

    for (let i = 1; i < count; i++)
        children[firstChild[parent[i] + 1]++] = i;
    return {count, parent, function: fn, depth, site, firstChild, children, cache: new Map()};
}

/* Return, by stack, 1 if a site ends there or below. Tables of the document may contain other
 * stacks. */
function usedStacks({count, parent, end}) {
    const used = new Uint8Array(count);

    for (let i = 0; i < end.length; i++)
        used[end[i]] = 1;
    for (let i = count - 1; i > 0; i--)
        used[parent[i]] |= used[i];
    return used;
}

/**
 * @typedef {object} Options
 * @property {boolean} [fold] charge the allocations of wrappers to their callers
 * @property {boolean} [recursion] fold recursion
 * @property {boolean} [inverted]
 * @property {number} [root] a function: show its callees or, inverted, its callers
 */

/**
 * @param {import('./profile.js').Profile} profile
 * @param {import('./extent.js').Values} values
 * @param {Options} [options]
 * @returns {CallTree}
 */
export function callTree(profile, values, options = {}) {
    const skeleton = skeletonOf(shapeOf(profile, options));
    const sums = sumsOf(skeleton, values);

    if (options.root === undefined && !options.inverted)
        return new WholeTree(profile, skeleton, sums);
    return new GrowingTree(profile, skeleton, sums, options);
}

/* Return the sums at the nodes of SKELETON: of the stacks that end there, and of the stacks through
 * them. */
function sumsOf(skeleton, values) {
    const self = nodeSums(skeleton, values.after), width = new Float64Array(skeleton.count);
    const selfBefore = values.before && nodeSums(skeleton, values.before);

    for (let i = 0; i < width.length; i++)
        width[i] = Math.max(0, self[i], selfBefore ? selfBefore[i] : 0);
    const selfWidth = width.slice(), total = self.slice(), totalBefore = selfBefore?.slice();

    for (const sums of [width, total, totalBefore])
        if (sums)
            addUp(sums, skeleton.parent);
    return {self, total, selfBefore, totalBefore: totalBefore ?? null, selfWidth, width};
}

function nodeSums({count, site}, values) {
    const sums = new Float64Array(count);

    for (let i = 0; i < values.length; i++)
        sums[site[i]] += values[i];
    return sums;
}

/**
 * A tree with values. Read its arrays from the tree each time: a tree that grows replaces them.
 * @property {number} count number of nodes made so far; node 0 is the root
 * @property {Int32Array} parent -1 of the root
 * @property {Int32Array} function -1 of the root, unless the tree begins at a function
 * @property {Int32Array} depth 0 of the root
 * @property {Float64Array} total
 * @property {Float64Array} self
 * @property {Float64Array|null} totalBefore of the first of two profiles
 * @property {Float64Array|null} selfBefore
 * @property {Float64Array} width drawn size, see above
 */
export class CallTree {
    /** Return the children of NODE, unordered. @returns {Int32Array} */
    childrenOf(_node) {
        throw new Error('a tree says what its children are');
    }

    /**
     * Return the children of NODE with a nonzero width of at least LEAST, widest first.
     * @returns {number[]}
     */
    sortedChildren(node, least = 0) {
        const kept = [];

        for (const child of this.childrenOf(node))
            if (this.width[child] >= least && (this.width[child] > 0 || this.total[child] !== 0 ||
                                               this.totalBefore?.[child]))
                kept.push(child);
        const {width, total} = this;

        return kept.sort((x, y) => width[y] - width[x] || total[y] - total[x] || x - y);
    }

    /** Return the functions from below the root to NODE; they identify NODE in all trees of the
     * same kind. */
    pathOf(node) {
        const path = [];

        for (let at = node; at > 0; at = this.parent[at])
            path.push(this.function[at]);
        return path.reverse();
    }

    /** Return the node at the end of PATH, or the last node on PATH that exists. */
    nodeAt(path) {
        let node = 0;

        for (const fn of path) {
            const child = this.childrenOf(node).find((at) => this.function[at] === fn);

            if (child === undefined)
                break;
            node = child;
        }
        return node;
    }

    /** Return true if NODE is below ABOVE, or equal to it. */
    isBelow(node, above) {
        let at = node;

        while (at > above && at > 0)
            at = this.parent[at];
        return at === above;
    }
}

class WholeTree extends CallTree {
    constructor(profile, skeleton, sums) {
        super();
        Object.assign(this, {profile, skeleton, inverted: false, count: skeleton.count,
            parent: skeleton.parent, function: skeleton.function, depth: skeleton.depth}, sums);
    }

    childrenOf(node) {
        const {firstChild, children} = this.skeleton;

        return children.subarray(firstChild[node], firstChild[node + 1]);
    }
}

/* Columns of a growing tree, with their types. */
const NODE_COLUMNS = {parent: Int32Array, function: Int32Array, depth: Int32Array,
    first: Int32Array, last: Int32Array, total: Float64Array, self: Float64Array,
    width: Float64Array, totalBefore: Float64Array, selfBefore: Float64Array};

/* A tree that grows. A node has a list of places in the skeleton. Top-down, places are nodes.
 * Inverted, a place is the position of a stack that is followed outwards, with its values. Siblings
 * share one list of places; each has the places from `first` to `last`. */
class GrowingTree extends CallTree {
    constructor(profile, skeleton, sums, {inverted = false, root}) {
        super();
        Object.assign(this, {profile, skeleton, inverted, sums, count: 0, places: [], made: []});
        for (const [name, Kind] of Object.entries(NODE_COLUMNS))
            this[name] = name.endsWith('Before') && !sums.selfBefore ? null : new Kind(64);
        // Scratch space, all zero between uses: child by function, place by node of the skeleton.
        this.slots = new Int32Array(profile.functions.count);
        this.meeting = new Int32Array(inverted ? skeleton.count : 0);
        const whole = root === undefined;
        const nodes = whole ? endsOf(sums) : outermostNodes(profile, skeleton, root);

        this.add(-1, whole ? -1 : root, this.weighed(nodes, !whole), [0, nodes.length], whole);
    }

    childrenOf(node) {
        return this.made[node] ??= this.inverted ? this.growOutwards(node) : this.growInwards(node);
    }

    /* Return the places with values: of the stacks that end there or, if LEADS, of the stacks
     * through them. */
    weighed(nodes, leads) {
        const {sums} = this, pick = (column) => column && picked(column, nodes);

        if (!this.inverted)
            return {nodes};
        return {nodes, after: pick(leads ? sums.total : sums.self),
            before: pick(leads ? sums.totalBefore : sums.selfBefore),
            width: pick(leads ? sums.width : sums.selfWidth)};
    }

    /* Make a node for some of PLACES. IS_TOP is true if the node is the root of an inverted tree,
     * above the allocating functions. */
    add(parent, fn, places, [first, last], isTop) {
        const node = this.count++;

        if (node === this.parent.length)
            for (const [name, Kind] of Object.entries(NODE_COLUMNS))
                this[name] &&= enlarged(this[name], Kind);
        this.parent[node] = parent;
        this.function[node] = fn;
        this.depth[node] = parent < 0 ? 0 : this.depth[parent] + 1;
        this.places[node] = places;
        this.first[node] = first;
        this.last[node] = last;
        if (this.inverted)
            this.addOutward(node, places, isTop);
        else
            this.addInward(node, places);
        return node;
    }

    addInward(node, {nodes}) {
        const {sums} = this;

        for (const at of nodes) {
            this.total[node] += sums.total[at];
            this.self[node] += sums.self[at];
            this.width[node] += sums.width[at];
            if (sums.selfBefore) {
                this.totalBefore[node] += sums.totalBefore[at];
                this.selfBefore[node] += sums.selfBefore[at];
            }
        }
    }

    /* Sum the values of NODE, a node of an inverted tree, from its places. The self value covers
     * the stacks that begin at these places. */
    addOutward(node, {nodes, after, before, width}, isTop) {
        const {parent} = this.skeleton, last = this.last[node];
        let total = 0, self = 0, wide = 0, totalBefore = 0, selfBefore = 0;

        for (let i = this.first[node]; i < last; i++) {
            const begins = !isTop && parent[nodes[i]] === 0;

            total += after[i];
            wide += width[i];
            self += begins ? after[i] : 0;
            if (before) {
                totalBefore += before[i];
                selfBefore += begins ? before[i] : 0;
            }
        }
        this.total[node] = total;
        this.self[node] = self;
        this.width[node] = wide;
        if (before) {
            this.totalBefore[node] = totalBefore;
            this.selfBefore[node] = selfBefore;
        }
    }

    growInwards(node) {
        const {firstChild, children, function: fn} = this.skeleton, found = [];
        const bundles = new Bundles(this.slots);

        for (const at of this.places[node].nodes)
            for (let k = firstChild[at]; k < firstChild[at + 1]; k++)
                bundles.add(fn[children[k]], children[k]);
        bundles.each((of, nodes) =>
            found.push(this.add(node, of, {nodes}, [0, nodes.length], false)));
        this.places[node] = null;
        return Int32Array.from(found);
    }

    /* Add children to NODE: the functions that call it at its places in the skeleton. The children
     * of the root are the allocating functions. */
    growOutwards(node) {
        const {functions, starts, places} = this.callersOf(node);

        this.places[node] = null;
        return Int32Array.from(functions, (fn, i) =>
            this.add(node, fn, places, [starts[i], starts[i + 1]], false));
    }

    /* Return the places of NODE moved one call outwards (not for the root), sorted by function: the
     * places of functions[i] begin at starts[i]. Places that meet in one caller are merged. */
    callersOf(node) {
        const {parent, function: fn} = this.skeleton, {slots, meeting} = this;
        const {nodes, after, before, width} = this.places[node], isTop = this.function[node] < 0;
        const first = this.first[node], last = this.last[node];
        const functions = [], sizes = [], to = new Int32Array(last - first);
        let count = 0;

        for (let i = first; i < last; i++) {
            const at = isTop ? nodes[i] : parent[nodes[i]];

            if (at <= 0 || meeting[at] !== 0)
                continue;
            meeting[at] = 1;
            to[count++] = at;
            if (slots[fn[at]] === 0) {
                slots[fn[at]] = functions.push(fn[at]);
                sizes.push(0);
            }
            sizes[slots[fn[at]] - 1]++;
        }
        const starts = new Int32Array(functions.length + 1), next = new Int32Array(sizes.length);

        sizes.forEach((size, i) => {
            next[i] = starts[i];
            starts[i + 1] = starts[i] + size;
        });
        const places = {nodes: new Int32Array(count), after: new Float64Array(count),
            before: before && new Float64Array(count), width: new Float64Array(count)};

        for (let i = 0; i < count; i++) {
            const at = to[i];

            meeting[at] = 1 + next[slots[fn[at]] - 1]++;
            places.nodes[meeting[at] - 1] = at;
        }
        for (let i = first; i < last; i++) {
            const at = isTop ? nodes[i] : parent[nodes[i]], place = meeting[at] - 1;

            if (at <= 0)
                continue;
            places.after[place] += after[i];
            places.width[place] += width[i];
            if (before)
                places.before[place] += before[i];
        }
        for (const at of places.nodes)
            meeting[at] = 0;
        for (const of of functions)
            slots[of] = 0;
        return {functions, starts, places};
    }
}

/* Lists by function. SLOTS has a zero for each function, and is all zero again afterwards. */
class Bundles {
    constructor(slots) {
        this.slots = slots;
        this.keys = [];
        this.lists = [];
    }

    add(key, value) {
        const slot = this.slots[key];

        if (slot > 0) {
            this.lists[slot - 1].push(value);
            return;
        }
        this.keys.push(key);
        this.slots[key] = this.lists.push([value]);
    }

    each(take) {
        for (const key of this.keys)
            this.slots[key] = 0;
        this.lists.forEach((list, i) => take(this.keys[i], list));
    }
}

function picked(column, rows) {
    const values = new Float64Array(rows.length);

    for (let i = 0; i < values.length; i++)
        values[i] = column[rows[i]];
    return values;
}

function enlarged(old, Kind) {
    const fresh = new Kind(2 * old.length);

    fresh.set(old);
    return fresh;
}

/* Return the nodes at which stacks end. */
function endsOf({self, selfBefore}) {
    const nodes = [];

    for (let i = 0; i < self.length; i++)
        if (self[i] !== 0 || selfBefore?.[i])
            nodes.push(i);
    return nodes;
}

/** Return the nodes of SKELETON with the function FN that have no such node above them. */
function outermostNodes(profile, skeleton, fn) {
    const first = cached(skeleton, 'outermost', () => outermost(skeleton, preorder(skeleton),
        skeleton.function, profile.functions.count));
    const nodes = [];

    for (let i = 1; i < skeleton.count; i++)
        if (skeleton.function[i] === fn && first[i])
            nodes.push(i);
    return nodes;
}
