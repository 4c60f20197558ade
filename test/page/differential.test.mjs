/* differential.test.mjs: compare all numbers of the page with the command's.
 *
 *     HEAPTAP=build/heaptap PROFILES='a.heaptap b.heaptap' PAIRS='old.heaptap new.heaptap' \
 *         node --test test/page/differential.test.mjs
 *
 * The model is built from `heaptap html --json`, and all its sums are compared with all rows of the
 * corresponding view. The page and the command share only the counters of sites, so if this fails,
 * the page or the command shows wrong bytes. */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {around, callGraph, direct} from '../../src/page/model/calls.js';
import {siteValues, totals} from '../../src/page/model/extent.js';
import {group, ownStacks} from '../../src/page/model/groups.js';
import {checkPage} from '../../src/page/model/load.js';
import {COUNTS, METRICS, isKnown, metricOf} from '../../src/page/model/metric.js';
import {VERDICT_NAMES, buildProfile} from '../../src/page/model/profile.js';
import {shapeOf} from '../../src/page/model/shape.js';
import {callTree} from '../../src/page/model/tree.js';
import {Sums, frameText, rowsOf, stackText, view} from './commands.mjs';

const profiles = (process.env.PROFILES ?? '').split(' ').filter(Boolean);
const pair = (process.env.PAIRS ?? '').split(' ').filter(Boolean);
const WHOLE = {kind: 'whole'};
// JSON folds these only on request.
const FOLDS = [[{}, []], [{fold: true}, ['--fold', '^no such function$']],
    [{fold: true, recursion: true}, ['--fold', '^no such function$', '--fold-recursion']]];
const short = (row, prefix = '') => row[`${prefix}died_within_16`] ?? row[`${prefix}temporary`];

function valueOf(row, metric, prefix = '') {
    return metric.key === 'short' ? short(row, prefix) : row[`${prefix}${metric.column}`];
}

/* Return FILE if functions called NAME in P's document have files of their own, else "". */
function ownFile(p, name, file) {
    const {functions} = p.report.tables, own = new Set(functions.name.filter((_, i) =>
        functions.file[i] !== null));

    return own.has(name) ? ` of ${file}` : '';
}

/* Return function FN of P by its name, its module or language, and its file if others may have the
 * name. */
function nameOf(p, fn) {
    const {functions, modules, files} = p, name = functions.name[fn];

    return `${name} in ${modules.path[functions.module[fn]] || functions.language[fn]}` +
        ownFile(p, name, files[functions.file[fn]] ?? null);
}

/* Return the function of ROW in the same form. */
function rowName(p, row) {
    return `${row.function} in ${row.module}${ownFile(p, row.function, row.file)}`;
}

/* Return the key of a row of the command, in the model's terms. */
const ROWS = {
    function: (row, p) => row.function === 'other' ? '[other stacks] in null' : rowName(p, row),
    line: (row) => row.file !== null ? `${row.file}:${row.line}`
        : row.function === 'other' ? '[other stacks]' : row.function,
    file: (row) => row.file ?? '?',
    module: (row) => row.module ?? '?',
    heap: (row) => row.heap,
    label: (row) => row.labels,
    type: (row) => `${row.type} ${row.verdict} ` +
        `${row.verdict === 'same size' ? row.size_min : ''}`,
};

const KEYS = {
    function: (p, keys, key) => nameOf(p, key),
    line: (p, keys, key) => keys.file[key] < 0 ? p.functions.name[keys.function[key]]
        : `${p.files[keys.file[key]]}:${keys.line[key]}`,
    file: (p, keys, key) => p.files[keys.file[key]] ?? '?',
    module: (p, keys, key) => p.modules.path[keys.module[key]] || '?',
    heap: (p, keys, key) => keys.name(key),
    labels: (p, keys, key) => p.labels[key].text,
    type: (p, keys, key) => `${p.types[keys.type[key]] ?? null} ` +
        `${VERDICT_NAMES[keys.verdict[key]]} ${keys.size[key] || ''}`,
};

function groupRows(p, values, by, options) {
    const g = group(p, values, by, options), sums = new Sums();

    for (let key = 0; key < g.count; key++)
        sums.add(KEYS[by](p, g.keys, key), g.self[key], g.total[key]);
    return sums.list();
}

function commandRows(p, rows, by, metric) {
    const sums = new Sums(), nested = rows.length > 0 && 'self_live_bytes' in rows[0];

    for (const row of rows)
        sums.add(ROWS[by](row, p), valueOf(row, metric, nested ? 'self_' : ''),
            valueOf(row, metric));
    return sums.list();
}

/* Compare all groupings of P, the page's model, with the output of COMMAND, a view with its
 * options. */
function compareGroups(p, extent, options, command) {
    const byNames = {function: 'function', line: 'line', file: 'file', module: 'module',
        heap: 'heap', label: 'labels'};

    for (const [by, ours] of Object.entries(byNames)) {
        const {rows} = view('report', '--by', by, ...command);

        for (const metric of [...METRICS, ...COUNTS].filter((m) => isKnown(p, m, extent)))
            assert.deepEqual(groupRows(p, siteValues(p, metric, extent), ours, options),
                commandRows(p, rows, by, metric), `by ${by}, ${metric.key}`);
    }
}

/* Return the frames with all their distinguishing fields, and the other parts of a site. */
function siteRows(p, values, options) {
    const g = group(p, values, 'site', options), sums = new Sums();

    for (let key = 0; key < g.count; key++) {
        const {stacks, frames} = shapeTables(p, options), texts = [];

        for (let at = g.keys.stack[key]; at > 0; at = stacks.parent[at])
            texts.push(modelFrame(p, frames, stacks.frame[at]));
        sums.add([...texts, p.heaps[g.keys.heap[key]], p.labels[g.keys.labels[key]].text,
            p.sites.flags[g.keys.site[key]]].join('\n'), g.self[key]);
    }
    return sums.list();
}

function shapeTables(p, options) {
    return {stacks: shapeOf(p, options), frames: p.frames};
}

function modelFrame(p, frames, i) {
    const fn = frames.function[i], nameless = p.functions.nameless[fn] && frames.file[i] < 0;

    return `${p.functions.nameless[fn] ? '?' : p.functions.name[fn]} ` +
        `${p.files[frames.file[i]] ?? '?'}:${frames.line[i] || null} ` +
        `${p.modules.path[frames.module[i]]} ${Boolean(frames.inlined[i])} ` +
        `${nameless ? frames.address[i] : ''}`;
}

function commandSites({sites, tables}, metric) {
    const sums = new Sums();

    for (const row of rowsOf(sites)) {
        const text = stackText(tables, row.stack), set = tables.labels[row.labels];
        const flags = row.other + 2 * row.truncated + 4 * row.guessed + 8 * row.broken;

        sums.add([...text ? [text] : [], tables.heaps[row.heap], set === null ? 'other labels'
            : Object.entries(set).map(([k, v]) => `${k}=${v}`).join(', '), flags].join('\n'),
        valueOf(row, metric));
    }
    return sums.list();
}

/* Return {path: values}: the path to each node of a tree, as text, with its values. */
function treeRows(p, tree) {
    const sums = new Sums(), work = [[0, '']];

    while (work.length > 0) {
        const [node, path] = work.pop();

        if (node > 0)
            sums.add(path, tree.total[node], tree.self[node]);
        for (const child of tree.childrenOf(node))
            work.push([child, `${path}\n${nameOf(p, tree.function[child])}`]);
    }
    return sums.list();
}

function commandTree(p, {tree, tables}, metric, name) {
    const sums = new Sums(), paths = [];

    rowsOf(tree).forEach((row, i) => {
        const text = row.frame === null ? nameOf(p, p.functions.other) : name(tables, row.frame);

        paths[i] = `${row.parent === null ? '' : paths[row.parent]}\n${text}`;
        sums.add(paths[i], valueOf(row, metric), valueOf(row, metric, 'self_'));
    });
    return sums.list();
}

/* Return a frame's function; a nameless function is identified by its place, which is the same for
 * all frames inside. */
function functionNamer(p) {
    const byPlace = new Map(p.report.tables.frames.address.map((address, i) =>
        [`${address} ${modulePath(p.report.tables, i)}`, p.of.frame[i]]));

    return (tables, frame) => {
        const fn = tables.frames.function[frame];

        if (fn !== null)
            return `${tables.functions.name[fn]} in ` +
                `${modulePath(tables, frame) ?? tables.frames.language?.[frame] ?? null}` +
                ownFile(p, tables.functions.name[fn],
                    tables.files[tables.functions.file[fn]] ?? null);
        const known = byPlace.get(`${tables.frames.address[frame]} ${modulePath(tables, frame)}`);

        return nameOf(p, p.frames.function[known]);
    };
}

function modulePath(tables, frame) {
    return tables.modules[tables.frames.module[frame]]?.path ?? null;
}

function compareTrees(p, profile, extent, options, command) {
    const namer = functionNamer(p);

    for (const [option, inverted] of [['--tree', false], ['--invert', true]]) {
        const document = view('report', option, ...command, profile);

        for (const metric of METRICS.filter((m) => isKnown(p, m, extent))) {
            const tree = callTree(p, siteValues(p, metric, extent), {...options, inverted});

            assert.deepEqual(treeRows(p, tree), commandTree(p, document, metric, namer),
                `${option}, ${metric.key}`);
        }
    }
}

function compareGraph(p, profile, metric, extent = WHOLE, command = []) {
    const values = siteValues(p, metric, extent), graph = callGraph(p, values);
    const option = ['--metric', metric.option, ...command];
    const document = view('callgraph', ...option, profile);
    const name = (fn) => nameOf(p, fn), arcs = (list, of) => list.map((arc) =>
        [of(arc), arc.bytes ?? arc.value, arc.calls]).sort();
    const ours = graph.entries.map((e) => [name(e.function), e.self, e.total, e.calls, e.recursive,
        e.cycle >= 0, arcs(e.callers, (a) => p.functions.name[a.function]),
        arcs(e.callees, (a) => p.functions.name[a.function])]).sort();
    const theirs = document.callgraph.map((e) => [rowName(p, e), e.self_bytes,
        e.inclusive_bytes, e.calls, e.recursive_calls, e.cycle !== null,
        arcs(e.ancestors, (a) => a.function), arcs(e.descendants, (a) => a.function)]).sort();

    assert.deepEqual(ours, theirs, `callgraph, ${metric.key}`);
    assert.equal(graph.total, document.total_bytes);
    assert.deepEqual(graph.cycles.map((c) => [c.functions.map((f) => p.functions.name[f]).sort(),
        c.self, c.total, c.calls, c.recursive,
        arcs(c.callers, (a) => p.functions.name[a.function])]).sort(),
    document.cycles.map((c) => [c.functions.map((n) => n.replace(/ \(\S*\)$/, '')).sort(),
        c.self_bytes, c.inclusive_bytes, c.calls, c.recursive_calls,
        arcs(c.ancestors, (a) => a.function)]).sort(), 'cycles');
    for (const entry of graph.entries.slice(0, 30)) {
        const near = around(p, values, entry.function);

        assert.deepEqual([near.self, near.total], [entry.self, entry.total]);
        assert.deepEqual(near.callers.filter((n) => n.value > 0).map((n) => [n.function, n.value]),
            entry.callers.map((n) => [n.function, n.value]), name(entry.function));
        assert.deepEqual(near.callees.filter((n) => n.value > 0).map((n) => [n.function, n.value]),
            entry.callees.map((n) => [n.function, n.value]), name(entry.function));
    }
}

function compareDirect(p, profile, metric, extent = WHOLE, command = []) {
    const {total, rows} = direct(p, siteValues(p, metric, extent));
    const document = view('functions', '--metric', metric.option, ...command, profile);
    const classes = (of) => [of.s, of.m, of.l, of.x];

    assert.deepEqual(rows.map((r) => [nameOf(p, r.function), r.value, r.kept, r.calls,
        r.valueByClass, r.keptByClass]).sort(),
    document.direct.map((r) => [rowName(p, r), r.bytes, r.kept_bytes, r.calls,
        classes(r.bytes_by_class), classes(r.kept_by_class)]).sort(), `direct, ${metric.key}`);
    assert.deepEqual([total.value, total.kept, total.calls, total.valueByClass],
        [document.total.bytes, document.total.kept_bytes, document.total.calls,
            classes(document.total.bytes_by_class)]);
}

/* Return moments of P for --at, which selects the last moment that is not later. */
function time(ns) {
    return `${((ns + 1) / 1e9).toFixed(9)}s`;
}

function someExtents(p) {
    const last = p.points.length - 1, middle = last >> 1;
    const at = (point) => [{kind: 'at', point}, ['--at', time(p.points[point].elapsed_ns)]];
    const between = (from, to) => [{kind: 'between', from, to},
        ['--between', `${time(p.points[from].elapsed_ns)}..${time(p.points[to].elapsed_ns)}`]];
    const all = [at(middle), at(1), between(0, middle), between(middle, last),
        between(Math.max(0, middle - 1), middle)];

    // Two points may have the same time; the command uses the last one.
    const isFound = (point) => point === last ||
        p.points[point + 1].elapsed_ns > p.points[point].elapsed_ns + 1;

    return all.filter(([e]) => e.kind === 'at' ? e.point > 0 && e.point < last && isFound(e.point)
        : e.from < e.to && isFound(e.from) && isFound(e.to));
}

for (const profile of profiles) {
    const p = buildProfile(checkPage(view('html', profile)));

    test(`${profile}: tables by what frames and sites say`, () => {
        for (const [options, command] of FOLDS) {
            compareGroups(p, WHOLE, options, [...command, profile]);
            for (const metric of METRICS)
                assert.deepEqual(siteRows(p, siteValues(p, metric), options),
                    commandSites(view('report', ...command, profile), metric), 'by site');
        }
    });
    test(`${profile}: trees`, () => {
        for (const [options, command] of FOLDS)
            compareTrees(p, profile, WHOLE, options, command);
    });
    test(`${profile}: the call graph, and what functions allocate directly`, () => {
        for (const metric of METRICS) {
            compareGraph(p, profile, metric);
            compareDirect(p, profile, metric);
        }
    });
    test(`${profile}: whose code it is`, () => {
        const shape = shapeOf(p, {fold: true}), own = ownStacks(shape), {sites, tables} = p.report;

        sites.own.forEach((frame, i) => assert.equal(modelFrame(p, p.frames,
            shape.frame[own[i]] ?? -1), frame === null ? modelFrame(p, p.frames, -1)
            : modelFrame(p, p.frames, p.of.frame[frame]), frameText(tables, frame ?? 0)));
    });
    test(`${profile}: types`, {skip: !p.parts.known || p.types.length === 0}, () => {
        const {rows} = view('report', '--by', 'type', profile);

        for (const metric of METRICS)
            assert.deepEqual(groupRows(p, siteValues(p, metric), 'type'),
                commandRows(p, rows, 'type', metric), `by type, ${metric.key}`);
    });
    test(`${profile}: a part of it, by a pattern`, () => {
        const names = p.functions.name.slice(0, p.functions.real).filter((n) => /^\w+$/.test(n));

        for (const pattern of [names[names.length >> 1], 'main', 'libc', 'no such function']) {
            const values = siteValues(p, METRICS[2], WHOLE, {pattern});
            const document = view('report', '--filter', pattern, '--by', 'function', profile);

            assert.deepEqual(groupRows(p, values, 'function'),
                commandRows(p, document.rows, 'function', METRICS[2]), pattern);
            assert.equal(totals(values).after, document.totals.allocated_bytes);
        }
    });
    // Most of the programs end before the first snapshot; one program runs long enough for some.
    if (p.points.length >= 3 || profile === 'new.heaptap') test(`${profile}: moments`, () => {
        assert(p.points.length >= 3);
        for (const [extent, command] of someExtents(p)) {
            const sites = view('report', ...command, profile);

            for (const metric of [...METRICS, ...COUNTS].filter((m) => isKnown(p, m, extent)))
                assert.deepEqual(siteRows(p, siteValues(p, metric, extent), {}),
                    commandSites(sites, metric), `${command} ${metric.key}`);
            compareGroups(p, extent, {}, [...command, profile]);
            compareTrees(p, profile, extent, {}, command);
            if (extent.kind !== 'at')
                continue;
            compareGraph(p, profile, metricOf('live'), extent, command);
            compareDirect(p, profile, metricOf('allocated'), extent, command);
        }
    });
    test(`${profile}: the peak as a moment`, () => {
        const extent = {kind: 'peak'}, live = metricOf('live');

        assert.deepEqual(siteRows(p, siteValues(p, live, extent), {}),
            commandSites(view('report', '--at', 'peak', profile), live));
        compareGraph(p, profile, live, extent, ['--at', 'peak']);
    });
}

/* --- Two profiles ---------------------------------------------------------------------------- */

const OPTION_OF = {live: 'inuse', peak: 'peak', allocated: 'alloc', short: 'died_within_16',
    calls: 'count'};

/* Fields by which diff distinguishes frames. */
function comparedFrame(tables, frame) {
    const f = tables.frames;

    return `${tables.functions.name[f.function[frame]]} ${tables.files[f.file[frame]] ?? ''} ` +
        `${f.inlined[frame]}`;
}

function labelText(set) {
    return set === null ? 'other labels'
        : Object.entries(set).map(([k, v]) => `${k}=${v}`).join(', ');
}

test(`two profiles: ${pair}`, {skip: pair.length === 0}, () => {
    const p = buildProfile(checkPage(view('html', ...pair)));
    const bySite = view('diff', ...pair), byFunction = view('diff', '--by', 'function', ...pair);
    const options = {fold: true};

    for (const metric of METRICS) {
        const key = OPTION_OF[metric.key], values = siteValues(p, metric);
        const sites = group(p, values, 'site', options), functions = group(p, values, 'function',
            options);
        const sums = [new Sums(), new Sums(), new Sums(), new Sums()], shape = shapeOf(p, options);

        for (const i of sites.order) {
            const texts = [];

            for (let at = sites.keys.stack[i]; at > 0; at = shape.parent[at])
                texts.push(comparedModel(p, shape.frame[at]));
            sums[0].add([texts.join('\n'), p.heaps[sites.keys.heap[i]],
                p.labels[sites.keys.labels[i]].text].join('\n'),
            sites.self[i] - sites.selfBefore[i]);
        }
        for (const row of bySite.rows)
            sums[1].add([stackText(bySite.tables, row.stack, comparedFrame), row.heap,
                labelText(row.labels)].join('\n'), row.growth[key] ?? row.growth.temporary);
        for (const i of functions.order)
            sums[2].add(`${p.functions.name[i]} ${p.files[p.functions.file[i]] ?? ''}`,
                functions.self[i] - functions.selfBefore[i],
                functions.total[i] - functions.totalBefore[i]);
        for (const row of byFunction.rows)
            sums[3].add(`${row.function} ${row.file ?? ''}`,
                row.growth[key] ?? row.growth.temporary,
                row.inclusive_growth[key] ?? row.inclusive_growth.temporary);
        assert.deepEqual(sums[0].list(), sums[1].list(), `by site, ${key}`);
        assert.deepEqual(sums[2].list(), sums[3].list(), `by function, ${key}`);
        assert.equal(totals(values).after - totals(values).before,
            bySite.growth[key] ?? bySite.growth.temporary);
        compareSides(p, callTree(p, values, options), values);
    }
});

function comparedModel(p, frame) {
    const fn = p.frames.function[frame];

    return `${p.functions.name[fn]} ${p.files[p.frames.file[frame]] ?? ''} ` +
        `${Boolean(p.frames.inlined[frame])}`;
}

/* A picture of a difference contains both sides, and no node is narrower than its children. */
function compareSides(p, tree, values) {
    assert.equal(tree.total[0], totals(values).after);
    assert.equal(tree.totalBefore[0], totals(values).before);
    for (let node = 0; node < tree.count; node++) {
        const below = [...tree.childrenOf(node)].reduce((sum, at) => sum + tree.width[at], 0);

        assert.ok(tree.width[node] >= Math.max(below, tree.total[node], tree.totalBefore[node]));
    }
}
