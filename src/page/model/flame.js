/* flame.js: the visible rectangles of a flame graph, and their positions.
 *
 *     level 0   all ──────────────────────────────────┐  the path from the root to the focus is
 *           1   main ─────────────────────────────────┤  as wide as the picture
 *           2   parse ────────────────────────────────┤  ◄ focus
 *           3   read_all ─────────────┬ intern ───┬───┘  children, the widest first, in proportion
 *           4   grow ─────┬ …                            to the focus
 *
 * A node narrower than half a pixel is not drawn, and no node below it is wider. Therefore the cost
 * of the walk depends on the size of the picture and not on the size of the tree, which grows on
 * demand (tree.js). Nodes that are not drawn leave a gap beside their siblings. */

/** Minimum width of a drawn node, in pixels. */
export const LEAST_WIDTH = 0.5;

/**
 * @typedef {object} Layout arrays have an entry per rectangle, by level, from left to right
 * @property {number} count
 * @property {Int32Array} node of the tree
 * @property {Int32Array} level 0 = the root's
 * @property {Float64Array} x pixels
 * @property {Float64Array} w pixels
 * @property {Int32Array} first by level: index of the first rectangle; levels + 1 entries
 * @property {number} levels
 * @property {number} focus
 * @property {number} width of the picture
 * @property {boolean} isCut true if some nodes were too narrow to be drawn
 */

/**
 * @param {import('./tree.js').CallTree} tree
 * @param {{focus?: number, width: number, from?: number, to?: number, least?: number}} options
 *     focus: a node, by default 0; width: in pixels; from, to: the visible part of the focus, from
 *     0 to 1. A rectangle that begins left of that part has a negative x.
 * @returns {Layout}
 */
export function layout(tree, {focus = 0, width, from = 0, to = 1, least = LEAST_WIDTH}) {
    const scale = tree.width[focus] > 0 ? width / tree.width[focus] / (to - from) : 0;
    const node = [], x = [], w = [], first = [0], begin = -from * tree.width[focus] * scale;
    let isCut = false, row = waysTo(tree, focus);

    // The path to the focus, one node per level.
    for (const at of row) {
        node.push(at);
        x.push(0);
        w.push(width);
        first.push(node.length);
    }
    for (row = [{at: focus, x: begin}]; row.length > 0 && scale > 0;) {
        const next = [];

        for (const {at, x: left} of row) {
            let right = left;

            isCut ||= hasNarrow(tree, at, least / scale);
            for (const child of tree.sortedChildren(at, least / scale)) {
                const begins = right, wide = tree.width[child] * scale;

                right += wide;
                if (right <= 0 || begins >= width)
                    continue;
                node.push(child);
                x.push(begins);
                w.push(wide);
                next.push({at: child, x: begins});
            }
        }
        if (next.length > 0)
            first.push(node.length);
        row = next;
    }
    return finish({node, x, w, first, focus, width, isCut});
}

function hasNarrow(tree, node, least) {
    const {width} = tree;

    return tree.childrenOf(node).some((child) => width[child] > 0 && width[child] < least);
}

function waysTo(tree, focus) {
    const way = [];

    for (let at = focus; at >= 0; at = tree.parent[at])
        way.push(at);
    return way.reverse();
}

function finish({node, x, w, first, focus, width, isCut}) {
    const level = new Int32Array(node.length), levels = first.length - 1;

    for (let i = 0; i < levels; i++)
        level.fill(i, first[i], first[i + 1]);
    return {count: node.length, node: Int32Array.from(node), level, x: Float64Array.from(x),
        w: Float64Array.from(w), first: Int32Array.from(first), levels, focus, width, isCut};
}

/** Return the rectangle of LAYOUT at a position; -1 if there is none. */
export function rectangleAt({first, levels, x, w}, level, at) {
    if (level < 0 || level >= levels)
        return -1;
    let low = first[level], high = first[level + 1] - 1;

    while (low <= high) {
        const middle = (low + high) >> 1;

        if (at < x[middle])
            high = middle - 1;
        else if (at >= x[middle] + w[middle])
            low = middle + 1;
        else
            return middle;
    }
    return -1;
}

/** Return the rectangle of NODE in LAYOUT; -1 if it is not drawn. */
export function rectangleOf(layoutOf, tree, node) {
    const {first, levels, node: nodes} = layoutOf, level = tree.depth[node];

    if (level >= levels)
        return -1;
    for (let i = first[level]; i < first[level + 1]; i++)
        if (nodes[i] === node)
            return i;
    return -1;
}

/**
 * Return the rectangle that an arrow key selects from rectangle I: 'up' the parent, 'down' the
 * widest child, 'left' and 'right' the next one on the same level.
 * @returns {number} I if there is none
 */
export function neighbour(layoutOf, tree, i, where) {
    const {node, first, level, levels} = layoutOf, of = level[i];
    const row = (at) => at >= 0 && at < levels;

    if (where === 'up' && of > 0)
        return rectangleOf(layoutOf, tree, tree.parent[node[i]]);
    if (where === 'down' && row(of + 1)) {
        for (let k = first[of + 1]; k < first[of + 2]; k++)
            if (tree.parent[node[k]] === node[i])
                return k;
        return i;
    }
    if (where === 'left')
        return Math.max(first[of], i - 1);
    if (where === 'right')
        return Math.min(first[of + 1] - 1, i + 1);
    return i;
}
