/* calls.js: the call graph, its cycles, and the callers and callees of one function.
 *
 * A function, a call and a cycle count once per stack, even with recursion. Therefore all values
 * are computed from whole stacks, and never exceed the allocated amount:
 *
 *     main F G F G malloc(10)       main 10, F 10, G 10; main to F 10, F to G 10, G to F 10
 *                                   F and G are a cycle: 10, entered by main for 10
 *
 * The tree differs from tree.js: code of the loader and the C library before and after main is
 * below the function `outside`, and stacks cut before main or start-up code are below `unknown`
 * (analyse/stack_functions.c). A call is a node with its parent. To count once per stack, only the
 * outermost node of its kind on each path is counted. These nodes do not depend on values and are
 * computed once; then each click takes one pass over the tree.
 *
 * Results equal `heaptap callgraph --json` and `heaptap functions --json`, which fold wrappers;
 * therefore fold is the default here. */
import {PairMap} from './pair_map.js';
import {COUNTS, METRICS} from './metric.js';
import {partValues, siteValues} from './extent.js';
import {SITE_BROKEN, SITE_TRUNCATED, SIZE_CLASSES, baseName} from './profile.js';
import {addUp, cached, outermost, preorder, shapeOf, startDepth, usefulDepth} from './shape.js';
import {finishSkeleton} from './tree.js';

const CALLS = METRICS.find((metric) => metric.key === 'calls');
const BLOCKS = COUNTS.find((metric) => metric.key === 'blocks');

/* --- The tree -------------------------------------------------------------------------------- */

/* Return the properties of functions and frames that determine the outer end of stacks. */
function beginnings({functions, frames, modules}) {
    const isLoader = modules.path.map((path) => /^(ld-linux|ld\.so)/.test(baseName(path)));
    // main, or a part that the compiler split off main. Without names, the outermost function in
    // the executable counts as main.
    const isMain = functions.name.map((name, fn) => functions.nameless[fn]
        ? modules.program[functions.module[fn]] === 1 : /^main($|[(. ])/.test(name));

    const isNamedMain = isMain.map((main, fn) => main && !functions.nameless[fn]);

    return {isMain, isNamedMain, loader: Uint8Array.from(frames.module, (m) => isLoader[m] ? 1 : 0),
        process: Uint8Array.from(frames.function, (fn, i) => isLoader[frames.module[i]] ||
            functions.name[fn] === '_start' ? 1 : 0),
        stripped: Uint8Array.from(frames.function, (fn, i) => functions.nameless[fn] &&
            modules.program[frames.module[i]] === 1 ? 1 : 0)};
}

/* Return true if STACK's innermost function, whose callers are all start-up code, is where main
 * should be: main has ended by a tail call. Same rule as in analyse/stack_functions.c. */
function replacesMain({parent, function: fn, profile: {functions, modules}}, stack) {
    const isInLibc = (f) => !functions.language[f]
        && baseName(modules.path[functions.module[f]] ?? '').startsWith('libc.so.');
    const callee = fn[stack], caller = parent[stack], starter = caller > 0 ? parent[caller] : 0;

    if (starter <= 0 || (functions.nameless[callee] ? isInLibc(callee) : !functions.language[callee]
        && /^(__GI_)?(exit|__nptl_deallocate_tsd)$/.test(functions.name[callee])))
        return false;
    return functions.nameless[fn[caller]]
        ? isInLibc(fn[caller]) && functions.name[fn[starter]] === '__libc_start_main'
        : functions.name[fn[caller]] === '__libc_start_call_main';
}

/* The outer end of longer stacks that contain a stack: `left` of the outermost frames are omitted,
 * and the next frame is below the function `top`; -1 = below none. */
function trimStacks(shape) {
    const {count, parent, frame, function: fn, depth, profile} = shape;
    const {isMain, loader, process, stripped} = cached(profile, 'beginnings', () =>
        beginnings(profile));
    const start = startDepth(shape);
    const left = new Int32Array(count), top = new Int32Array(count).fill(-1);
    const first = new Int32Array(count); // The outermost frame of each stack.

    for (let i = 1; i < count; i++) {
        const outer = parent[i], of = first[i] = outer === 0 ? frame[i] : first[outer];

        left[i] = start[i];
        if (start[i] === depth[i] || !(process[of] || (start[i] > 0 && stripped[of])))
            continue;
        // Omit all leading frames of the loader.
        const isNext = depth[i] === start[i] + 1 || left[outer] === depth[outer];

        left[i] = !isNext ? left[outer] : loader[frame[i]] ? depth[i] : depth[i] - 1;
        if (left[i] < depth[i])
            top[i] = !isNext ? top[outer] : isMain[fn[i]] || (depth[i] === start[i] + 1
                && replacesMain(shape, i)) ? -1 : profile.functions.outside;
    }
    return {left, top, first};
}

/* Like trimStacks, for a site's stack that ends within the frames that longer stacks omit. */
function trimShort(shape, end) {
    const {parent, frame, function: fn, depth, profile} = shape, path = [];
    const {isMain, loader, process, stripped} = cached(profile, 'beginnings', () =>
        beginnings(profile));
    const useful = usefulDepth(shape, end);
    let kept = useful;

    for (let at = end; at > 0; at = parent[at])
        path.push(at);
    const last = frame[path[path.length - 1]];

    if (!process[last] && !(kept < depth[end] && stripped[last]))
        return {path, kept, top: -1};
    while (kept > 1 && loader[frame[path[kept - 1]]])
        kept--;
    const isRoot = isMain[fn[path[kept - 1]]]
        || (kept === useful && replacesMain(shape, path[kept - 1]));

    return {path, kept, top: isRoot ? -1 : profile.functions.outside};
}

/**
 * Return the tree for counting calls, computed once per shape.
 * @param {import('./shape.js').Shape} shape
 * @returns {import('./tree.js').Skeleton}
 */
function callSkeleton(shape) {
    return cached(shape, 'calls', () => {
        const {function: fn, depth, end, profile} = shape, {flags} = profile.sites;
        const nodes = new PairMap(shape.count), {left, top, first} = trimStacks(shape);
        const {isNamedMain} = beginnings(profile);
        const showsBeginning = (stack) => usefulDepth(shape, stack) < depth[stack]
            || isNamedMain[profile.frames.function[first[stack]]];
        const root = nodes.put(-1, -1);
        const whole = new Places(shape, nodes), cut = new Places(shape, nodes);
        const site = end.map((stack, i) => {
            if (stack === 0)
                return nodes.put(root, profile.functions.other);
            if (flags[i] & (SITE_TRUNCATED | SITE_BROKEN) && !showsBeginning(stack))
                return cut.of(stack, 0, profile.functions.unknown);
            if (left[stack] < depth[stack])
                return whole.of(stack, left[stack], top[stack]);
            const short = trimShort(shape, stack);
            let node = short.top < 0 ? root : nodes.put(root, short.top);

            for (let k = short.kept - 1; k >= 0; k--)
                node = nodes.put(node, fn[short.path[k]]);
            return node;
        });

        return finishSkeleton(nodes, site);
    });
}

/* Nodes for stacks, each made once: a walk outwards ends at the first stack with a node. */
class Places {
    constructor({count, parent, function: fn, depth}, nodes) {
        Object.assign(this, {parent, fn, depth, nodes, known: new Int32Array(count).fill(-1)});
        this.way = [];
    }

    /* Return the node of STACK without the LEFT outermost frames, below the function TOP. */
    of(stack, left, top) {
        const {parent, fn, depth, nodes, known, way} = this;
        let at = stack, length = 0;

        for (; depth[at] > left && known[at] < 0; at = parent[at])
            way[length++] = at;
        let node = depth[at] > left ? known[at] : top < 0 ? 0 : nodes.put(0, top);

        while (length-- > 0)
            node = known[way[length]] = nodes.put(node, fn[way[length]]);
        return node;
    }
}

/* Return the data that are independent of values: calls as numbers, and the nodes that are
 * counted. */
function callsOf(shape) {
    const tree = callSkeleton(shape), functions = shape.profile.functions.count;

    return cached(tree, 'arcs', () => {
        const {count, parent, function: fn} = tree, order = preorder(tree), pairs = new PairMap();
        const arc = new Int32Array(count).fill(-1), called = new Int32Array(count).fill(-1);

        for (let i = 1; i < count; i++) {
            const caller = parent[i] > 0 ? fn[parent[i]] : -1;

            if (caller < 0 || caller === fn[i])
                continue;
            arc[i] = pairs.put(caller, fn[i]);
            called[i] = fn[i];
        }
        return {tree, order, arc, arcs: pairs.count, caller: pairs.firsts(),
            callee: pairs.seconds(), calledKey: called,
            firstOfFunction: outermost(tree, order, fn, functions),
            firstOfArc: outermost(tree, order, arc, pairs.count),
            firstCalled: outermost(tree, order, called, functions)};
    });
}

/* Return the sums of VALUES (by site) over all stacks through each node. */
function leading(tree, values) {
    const sums = new Float64Array(tree.count);

    for (let i = 0; i < values.length; i++)
        sums[tree.site[i]] += values[i];
    addUp(sums, tree.parent);
    return sums;
}

function selves(tree, values, functions) {
    const sums = new Float64Array(functions);

    for (let i = 0; i < values.length; i++)
        sums[tree.function[tree.site[i]]] += values[i];
    return sums;
}

/* --- Around one function --------------------------------------------------------------------- */

/**
 * @typedef {object} Neighbour
 * @property {number} function
 * @property {number} value sum over the stacks with this call; each stack counts once
 * @property {number|null} before value in the first of two profiles
 */

/**
 * Return the callers and callees of FN, largest first.
 * @param {import('./profile.js').Profile} profile
 * @param {import('./extent.js').Values} values
 * @param {number} fn a function
 * @param {{fold?: boolean, recursion?: boolean}} [options] fold defaults to true
 * @returns {{self: number, total: number, selfBefore: number|null, totalBefore: number|null,
 *     callers: Neighbour[], callees: Neighbour[]}}
 */
export function around(profile, values, fn, options = {}) {
    const calls = callsOf(shapeOf(profile, {fold: true, ...options}));
    const after = sidesOf(calls, values.after, fn);
    const before = values.before && sidesOf(calls, values.before, fn);

    return {self: after.self, total: after.total, selfBefore: before && before.self,
        totalBefore: before && before.total, callers: neighbours(after.callers, before?.callers),
        callees: neighbours(after.callees, before?.callees)};
}

function sidesOf({tree, arc, caller, callee, firstOfFunction, firstOfArc}, values, fn) {
    const sums = leading(tree, values), {function: of, site} = tree;
    const callers = new Map(), callees = new Map();
    const add = (map, key, value) => map.set(key, (map.get(key) ?? 0) + value);
    let self = 0, total = 0;

    for (let i = 1; i < tree.count; i++) {
        if (of[i] === fn && firstOfFunction[i])
            total += sums[i];
        if (!firstOfArc[i])
            continue;
        if (of[i] === fn)
            add(callers, caller[arc[i]], sums[i]);
        else if (caller[arc[i]] === fn)
            add(callees, callee[arc[i]], sums[i]);
    }
    for (let i = 0; i < values.length; i++)
        if (of[site[i]] === fn)
            self += values[i];
    return {self, total, callers, callees};
}

function neighbours(after, before) {
    const all = new Set([...after.keys(), ...before?.keys() ?? []]);
    const list = [...all].map((fn) => ({function: fn, value: after.get(fn) ?? 0,
        before: before ? before.get(fn) ?? 0 : null}));

    return list.filter((n) => n.value !== 0 || n.before)
        .sort((x, y) => Math.max(y.value, y.before ?? 0) - Math.max(x.value, x.before ?? 0) ||
            x.function - y.function);
}

/* --- The whole graph ------------------------------------------------------------------------- */

/**
 * @typedef {object} Arc
 * @property {number} function
 * @property {number} value
 * @property {number} calls allocations
 *
 * @typedef {object} Entry a function of the graph
 * @property {number} function
 * @property {number} self
 * @property {number} total
 * @property {number} calls allocations on whose stack another function calls it
 * @property {number} recursive recursive calls of it, each counted once per allocation
 * @property {number} cycle index of `cycles`, or -1
 * @property {Arc[]} callers largest first
 * @property {Arc[]} callees
 *
 * @typedef {object} Cycle a set of functions that call each other in a circle
 * @property {number[]} functions largest first
 * @property {number} self
 * @property {number} total
 * @property {number} calls
 * @property {number} recursive calls between its functions
 * @property {Arc[]} callers functions outside of the cycle that call one in it
 */

/**
 * Return the graph, for the first of two profiles or the only one (`after`). Functions and calls
 * without a value of the metric are omitted, also in the search for cycles.
 * @param {import('./profile.js').Profile} profile
 * @param {import('./extent.js').Values} values
 * @param {{fold?: boolean, recursion?: boolean}} [options] fold defaults to true
 * @returns {{total: number, entries: Entry[], cycles: Cycle[], entryOf: Map<number, Entry>}}
 *     entries by descending total
 */
export function callGraph(profile, values, options = {}) {
    const calls = callsOf(shapeOf(profile, {fold: true, ...options})), {tree} = calls;
    const functions = profile.functions.count;
    const allocations = callCounts(profile, values);
    const sums = leading(tree, values.after), counts = leading(tree, allocations);
    const graph = {
        self: selves(tree, values.after, functions),
        total: new Float64Array(functions), called: new Float64Array(functions),
        recursive: new Float64Array(functions),
        arcValue: new Float64Array(calls.arcs), arcCalls: new Float64Array(calls.arcs),
    };

    for (let i = 1; i < tree.count; i++) {
        const fn = tree.function[i];

        if (calls.firstOfFunction[i])
            graph.total[fn] += sums[i];
        else
            graph.recursive[fn] += counts[i];
        if (calls.firstCalled[i])
            graph.called[fn] += counts[i];
        if (calls.firstOfArc[i]) {
            graph.arcValue[calls.arc[i]] += sums[i];
            graph.arcCalls[calls.arc[i]] += counts[i];
        }
    }
    const entries = entriesOf(calls, graph), entryOf = new Map(entries.map((e) => [e.function, e]));

    return {total: values.after.reduce((x, y) => x + y, 0), entries, entryOf,
        cycles: cyclesOf(calls, graph, sums, counts, entryOf, functions)};
}

/* Return the number of allocations of each site, to show beside VALUES. At the peak, return the
 * number of live blocks instead, because allocations are not known there. */
function callCounts(profile, {metric, extent, filter, after}) {
    return metric === CALLS ? after
        : siteValues(profile, extent.kind === 'peak' ? BLOCKS : CALLS, extent, filter).after;
}

function entriesOf({arcs, caller, callee}, graph) {
    const entries = [], entryOf = new Map();

    const carries = new Uint8Array(graph.total.length);

    for (let i = 0; i < arcs; i++)
        if (graph.arcValue[i] !== 0)
            carries[caller[i]] = carries[callee[i]] = 1;
    graph.total.forEach((total, fn) => {
        if (total === 0 && !carries[fn])
            return;
        const entry = {function: fn, self: graph.self[fn], total, calls: graph.called[fn],
            recursive: graph.recursive[fn], cycle: -1, callers: [], callees: []};

        entries.push(entry);
        entryOf.set(fn, entry);
    });
    for (let i = 0; i < arcs; i++) {
        const value = graph.arcValue[i], allocations = graph.arcCalls[i];

        if (value === 0)
            continue;
        entryOf.get(callee[i])?.callers.push({function: caller[i], value, calls: allocations});
        entryOf.get(caller[i])?.callees.push({function: callee[i], value, calls: allocations});
    }
    for (const entry of entries) {
        entry.callers.sort(larger);
        entry.callees.sort(larger);
    }
    return entries.sort((x, y) => byMagnitude(x.total, y.total) || x.function - y.function);
}

function larger(x, y) {
    return byMagnitude(x.value, y.value) || x.function - y.function;
}

/* Compare two numbers: the larger amount comes first, whether it grew or shrank; of equal amounts
 * the growth. */
function byMagnitude(x, y) {
    return Math.abs(y) - Math.abs(x) || y - x;
}

/* Return the sets of functions that reach each other by calls with a value. */
function cyclesOf(calls, graph, sums, counts, entryOf, functions) {
    const cycleOf = new Int32Array(functions).fill(-1);
    const cycles = components(entryOf).map((members, i) => {
        for (const fn of members)
            cycleOf[fn] = i;
        return {functions: members, self: members.reduce((sum, fn) => sum + graph.self[fn], 0),
            total: 0, calls: 0, recursive: 0, callers: []};
    });

    if (cycles.length === 0)
        return cycles;
    for (const [fn, entry] of entryOf)
        entry.cycle = cycleOf[fn];
    for (let i = 0; i < calls.arcs; i++) {
        const cycle = cycleOf[calls.callee[i]];

        if (cycle >= 0 && graph.arcValue[i] !== 0 && cycleOf[calls.caller[i]] === cycle)
            cycles[cycle].recursive += graph.arcCalls[i];
    }
    countCycles(calls, graph, cycles, cycleOf, sums, counts);
    for (const cycle of cycles) {
        cycle.callers.sort(larger);
        cycle.functions.sort((x, y) =>
            byMagnitude(entryOf.get(x).total, entryOf.get(y).total) || x - y);
    }
    return cycles;
}

/* Compute the values of cycles that need whole stacks: of the stacks with a function of the cycle,
 * and of the calls that enter it. */
function countCycles({tree, order, arc}, graph, cycles, cycleOf, sums, counts) {
    const {count, parent, function: fn} = tree, enters = new PairMap();
    const key = new Int32Array(count).fill(-1), entry = key.slice(), entered = key.slice();

    for (let i = 1; i < count; i++) {
        const cycle = cycleOf[fn[i]], caller = parent[i] > 0 ? fn[parent[i]] : -1;

        key[i] = cycle;
        if (cycle < 0 || caller < 0 || cycleOf[caller] === cycle || !graph.arcValue[arc[i]])
            continue;
        entry[i] = enters.put(caller, cycle);
        entered[i] = cycle;
    }
    const first = outermost(tree, order, key, cycles.length);
    const firstEntry = outermost(tree, order, entry, enters.count);
    const firstEntered = outermost(tree, order, entered, cycles.length);
    const value = new Float64Array(enters.count), allocations = new Float64Array(enters.count);

    for (let i = 1; i < count; i++) {
        if (first[i])
            cycles[key[i]].total += sums[i];
        if (firstEntered[i])
            cycles[entered[i]].calls += counts[i];
        if (firstEntry[i]) {
            value[entry[i]] += sums[i];
            allocations[entry[i]] += counts[i];
        }
    }
    value.forEach((of, i) => {
        if (of !== 0)
            cycles[enters.b[i]].callers.push({function: enters.a[i], value: of,
                calls: allocations[i]});
    });
}

/* Return the strongly connected components of more than one function. Computed without recursion,
 * because stacks of calls are deep. */
function components(entryOf) {
    const index = new Map(), low = new Map(), onStack = new Set(), stack = [], found = [];

    for (const start of entryOf.keys()) {
        const work = index.has(start) ? [] : [[start, 0]];

        while (work.length > 0) {
            const top = work[work.length - 1], [fn, next] = top;
            const callees = entryOf.get(fn).callees;

            if (next === 0 && !index.has(fn)) {
                index.set(fn, index.size);
                low.set(fn, index.get(fn));
                stack.push(fn);
                onStack.add(fn);
            }
            if (next > 0) {
                const child = callees[next - 1].function;

                if (onStack.has(child))
                    low.set(fn, Math.min(low.get(fn), low.get(child)));
            }
            if (next < callees.length) {
                const child = callees[next].function;

                top[1]++;
                if (!index.has(child) && entryOf.has(child))
                    work.push([child, 0]);
                continue;
            }
            work.pop();
            if (low.get(fn) === index.get(fn))
                takeComponent(stack, onStack, fn, found);
        }
    }
    return found;
}

function takeComponent(stack, onStack, fn, found) {
    const members = [];

    for (let member = -1; member !== fn;) {
        member = stack.pop();
        onStack.delete(member);
        members.push(member);
    }
    if (members.length > 1)
        found.push(members);
}

/* --- Direct allocation ----------------------------------------------------------------------- */

/**
 * The memory that each function allocates itself, and the part that is still live: mprof's table.
 * @typedef {object} DirectRow
 * @property {number} function
 * @property {number} value of the metric
 * @property {number} kept live bytes
 * @property {number} calls allocations
 * @property {number[]|null} valueByClass s, m, l, x (profile.js, SIZE_CLASSES); null if unknown
 * @property {number[]|null} keptByClass
 */

/**
 * @param {import('./profile.js').Profile} profile
 * @param {import('./extent.js').Values} values
 * @param {{fold?: boolean, recursion?: boolean}} [options] fold defaults to true
 * @returns {{total: DirectRow, rows: DirectRow[]}} rows with a nonzero value, largest first
 */
export function direct(profile, values, options = {}) {
    const {tree} = callsOf(shapeOf(profile, {fold: true, ...options}));
    const functions = profile.functions.count, {extent, filter} = values;
    const live = siteValues(profile, METRICS[0], extent, filter);
    const allocations = callCounts(profile, values);
    const [value, kept, counts] = [values.after, live.after, allocations]
        .map((column) => selves(tree, column, functions));
    const classes = [values, live].map((of) => classSelves(profile, tree, of, functions));
    const total = {function: -1, value: 0, kept: 0, calls: 0,
        valueByClass: classes[0] && [0, 0, 0, 0], keptByClass: classes[1] && [0, 0, 0, 0]};
    const rows = [];

    for (let fn = 0; fn < functions; fn++) {
        const row = {function: fn, value: value[fn], kept: kept[fn], calls: counts[fn],
            valueByClass: classes[0] && classes[0].map((of) => of[fn]),
            keptByClass: classes[1] && classes[1].map((of) => of[fn])};

        addRow(total, row);
        if (row.value !== 0 || row.kept !== 0)
            rows.push(row);
    }
    rows.sort((x, y) => byMagnitude(x.value, y.value) || byMagnitude(x.kept, y.kept) ||
        x.function - y.function);
    return {total, rows};
}

function addRow(total, row) {
    for (const name of ['value', 'kept', 'calls'])
        total[name] += row[name];
    for (const name of ['valueByClass', 'keptByClass'])
        row[name]?.forEach((value, i) => {
            total[name][i] += value;
        });
}

/* Return VALUES of each class by function; null if the extent has no classes. */
function classSelves({parts, changes}, tree, values, functions) {
    const ofWhole = values.extent.kind === 'whole' || values.extent.kind === 'peak';

    if (!parts.known || (!ofWhole && !changes?.part))
        return null;
    const {after} = partValues(values), {site, sizeClass} = parts;
    const sums = SIZE_CLASSES.map(() => new Float64Array(functions));

    for (let i = 0; i < after.length; i++)
        sums[sizeClass[i]][tree.function[tree.site[site[i]]]] += after[i];
    return sums;
}
