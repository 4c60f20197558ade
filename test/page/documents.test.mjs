/* documents.test.mjs: check the page's model on documents whose numbers are known by construction.
 *
 *     node --test test/page/documents.test.mjs
 *
 * Cases that profiles recorded by a test seldom have: recursion in all forms, no data, values below
 * zero, two programs that have nothing in common, names with any characters. If it fails, the page
 * shows wrong numbers for such a profile, or none. */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {around, callGraph, direct} from '../../src/page/model/calls.js';
import {pointAt, siteValues, totals} from '../../src/page/model/extent.js';
import {layout, neighbour, rectangleAt, rectangleOf} from '../../src/page/model/flame.js';
import {GROUPINGS, group, keyOfSites, labelNames, ownLines} from '../../src/page/model/groups.js';
import {checkPage, readPage} from '../../src/page/model/load.js';
import {METRICS, firstMetric, isKnown, metricName, metricOf} from '../../src/page/model/metric.js';
import {PairMap} from '../../src/page/model/pair_map.js';
import {KINDS, buildProfile} from '../../src/page/model/profile.js';
import {matches, search} from '../../src/page/model/search.js';
import {samePaths} from '../../src/page/model/same_paths.js';
import {series, stackedSeries} from '../../src/page/model/series.js';
import {shapeOf} from '../../src/page/model/shape.js';
import {callTree} from '../../src/page/model/tree.js';
import {largeReport, report} from './made.mjs';

const live = metricOf('live'), WHOLE = {kind: 'whole'};
const EVIL = ['<script>alert(1)</script>', 'a;b "c" \\d', 'line\nbreak\ttab', '\u202egnp.exe',
    'x'.repeat(2000), '__proto__', 'constructor', 'toString', '\ud83d\ude00 \u00e4', '%s%n', ''];

function profileOf(sites, more) {
    return buildProfile(checkPage(report(sites, more)));
}

function compared(before, after) {
    return buildProfile(checkPage({format: 'heaptap-page', version: 1, report: report(after),
        before: report(before), sizes: null, leaks: null, sources: []}));
}

/* Return the rows of a group as {name: [self, total]}. */
function rows(p, by, options, values = siteValues(p, live)) {
    const g = group(p, values, by, options);

    return Object.fromEntries([...g.order].map((key) => [g.keys.name(key), g.selfBefore
        ? [g.selfBefore[key], g.self[key], g.totalBefore[key], g.total[key]]
        : [g.self[key], g.total[key]]]));
}

/* Return a tree as nested [name, total, self, [children]], the widest first. */
function nested(p, tree, node = 0) {
    return [p.functions.name[tree.function[node]] ?? 'all', tree.total[node], tree.self[node],
        tree.sortedChildren(node).map((child) => nested(p, tree, child))];
}

function nameList(p, list) {
    return list.map((n) => [p.functions.name[n.function], n.value]);
}

test('recursion counts a stack once for a function, a call and a cycle', () => {
    const p = profileOf([{stack: ['main', 'F', 'G', 'F', 'G'], live: 10, calls: 1}]);
    const values = siteValues(p, live);

    assert.deepEqual(rows(p, 'function'), {G: [10, 10], main: [0, 10], F: [0, 10]});
    const graph = callGraph(p, values), [cycle] = graph.cycles;

    assert.equal(graph.cycles.length, 1);
    assert.deepEqual([cycle.total, cycle.self, cycle.calls, cycle.recursive], [10, 10, 1, 2]);
    assert.deepEqual(nameList(p, cycle.callers), [['main', 10]]);
    const F = p.functions.name.indexOf('F'), entry = graph.entryOf.get(F);

    assert.deepEqual([entry.total, entry.calls, entry.recursive], [10, 1, 1]);
    assert.deepEqual(nameList(p, entry.callers), [['main', 10], ['G', 10]]);
    assert.deepEqual(nameList(p, around(p, values, F).callees), [['G', 10]]);
});

test('functions of one name in several files are several functions', () => {
    const p = profileOf([{stack: ['main', 'go', '-fill@a/m.c:2'], live: 1},
        {stack: ['main', 'go', '-fill@a/m.c:3'], live: 2},
        {stack: ['main', 'go', '-fill@b/m.c:2'], live: 4},
        {stack: ['main', 'go', '-fill@/x/c.c:2'], live: 8},
        {stack: ['main', 'twice@x.c:1'], live: 16}, {stack: ['main', 'twice@y.c:1'], live: 32}]);
    const values = siteValues(p, live);
    const named = (fn) => `${p.functions.name[fn]} (${p.functions.place[fn]})`;

    for (const by of ['function', 'own']) {
        const sums = group(p, values, by);

        assert.deepEqual([...sums.order].filter((key) => sums.self[key] > 0)
            .map((key) => [named(sums.keys.function[key]), sums.self[key]]),
        [['twice ()', 48], ['fill (c.c)', 8], ['fill (b/m.c)', 4], ['fill (a/m.c)', 3]], by);
    }
    assert.deepEqual(direct(p, values).rows.map((row) => [named(row.function), row.value]),
        [['twice ()', 48], ['fill (c.c)', 8], ['fill (b/m.c)', 4], ['fill (a/m.c)', 3]]);
    const go = callGraph(p, values).entryOf.get(p.functions.name.indexOf('go'));

    assert.deepEqual(go.callees.map((n) => [named(n.function), n.value]),
        [['fill (c.c)', 8], ['fill (b/m.c)', 4], ['fill (a/m.c)', 3]]);
});

test('recursion that is folded leaves the innermost run of a cycle', () => {
    const stack = ['main', 'g', 'f', 'g', 'f', 'f', 'f'];
    const p = profileOf([{stack, live: 7}, {stack: ['main', 'g', 'f'], live: 1}]);
    const options = {recursion: true}, tree = callTree(p, siteValues(p, live), options);

    assert.deepEqual(nested(p, tree), ['all', 8, 0, [['main', 8, 0, [['g', 8, 0,
        [['f', 8, 8, []]]]]]]]);
    assert.deepEqual(rows(p, 'site', options), {f: [8, 8]});
    assert.deepEqual(nested(p, callTree(p, siteValues(p, live)))[3][0][3][0][3][0].slice(0, 3),
        ['f', 8, 1]);
});

test('a cycle longer than 32 functions is not folded, one of 32 is', () => {
    for (const [period, kept] of [[32, 33], [33, 67]]) {
        const cycle = Array.from({length: period}, (_, i) => `f${i}`);
        const p = profileOf([{stack: ['main', ...cycle, ...cycle], live: 1}]);
        const shape = shapeOf(p, {recursion: true});

        assert.equal(shape.depth[shape.end[0]], kept);
    }
});

test('wrappers are charged to their caller, with nameless parts of their module', () => {
    const roles = {malloc: 'wrapper', 'operator new': 'wrapper'};
    const p = profileOf([
        {stack: ['main', 'work', 'operator new in libstdc++.so.6', 'malloc in libc.so.6'], live: 1},
        {stack: ['main', 'malloc in libc.so.6', '?1f00 in libc.so.6'], live: 2},
        {stack: ['main', '?1f00 in libc.so.6'], live: 4},
        {stack: ['malloc in libc.so.6'], live: 8},
        {stack: ['main', 'malloc in libc.so.6', '?30 in hook.so'], live: 16},
    ], {roles});

    assert.deepEqual(rows(p, 'function', {fold: true}), {'hook.so+0x30…': [16, 16],
        malloc: [8, 24], 'libc.so.6+0x1f00…': [4, 4], main: [2, 23], work: [1, 1]});
    assert.deepEqual(rows(p, 'module', {fold: true})['libc.so.6'], [12, 28]);
});

test('start-up code is left out of trees, but not all of a stack', () => {
    const roles = {_start: 'startup', __libc_start_main: 'startup', start_thread: 'startup'};
    const p = profileOf([
        {stack: ['_start', '__libc_start_main in libc.so.6', 'main', 'work'], live: 1},
        {stack: ['_start', '__libc_start_main in libc.so.6'], live: 2},
        {stack: ['?10', '__libc_start_main in libc.so.6', '?20 in libc.so.6', 'main'], live: 4},
        {stack: ['?10', '__libc_start_main in libc.so.6'], live: 8},
        {stack: ['?10', 'work'], live: 16},
        {stack: ['start_thread in libc.so.6'], live: 32},
        {stack: [], live: 64, flags: {other: true}},
    ], {roles});

    assert.deepEqual(nested(p, callTree(p, siteValues(p, live))), ['all', 127, 0, [
        ['[other stacks]', 64, 64, []],
        ['start_thread', 32, 32, []],
        ['prog+0x10…', 24, 0, [['work', 16, 16, []], ['__libc_start_main', 8, 8, []]]],
        ['main', 5, 4, [['work', 1, 1, []]]],
        ['__libc_start_main', 2, 2, []]]]);
    assert.deepEqual(rows(p, 'function')['prog+0x10…'], [0, 28]);
    for (const by of ['function', 'line', 'file', 'module'])
        assert.deepEqual(rows(p, by)['[other stacks]'], [64, 64], by);
});

test('a holder shows the line that has most, and counts the others', () => {
    const sites = [{stack: ['main@a.c:1', 'f@a.c:10'], live: 10},
        {stack: ['main@a.c:2', 'f@a.c:20'], live: 6}, {stack: ['main@a.c:3', 'f@a.c:20'], live: 6},
        {stack: ['main@a.c:1', 'f@a.c:30'], live: 0}, {stack: ['main@a.c:9'], live: 3}];
    const places = (p) => {
        const shape = shapeOf(p, {fold: true}), values = siteValues(p, live);
        const groups = group(p, values, 'own', {fold: true});
        const lines = ownLines(shape, values, keyOfSites(shape, 'own'), groups.count);

        return Object.fromEntries([...groups.order].map((key) => [groups.keys.name(key),
            [p.frames.line[lines.frame[key]], lines.more[key]]]));
    };

    // Line 20 has 12 bytes of two stacks; line 30 has none.
    assert.deepEqual(places(profileOf(sites)), {f: [20, 1], main: [9, 0]});
    // Line 10 changed most; line 20 did not change.
    assert.deepEqual(places(compared(sites, [{...sites[0], live: 1}, ...sites.slice(1)])).f,
        [10, 0]);
});

test('what the loader does before main stands below a function of its own', () => {
    const p = profileOf([
        {stack: ['_dl_start_user in ld-linux-x86-64.so.2', 'call_init in ld-linux-x86-64.so.2',
            'pool'], live: 1},
        {stack: ['_start', '__libc_start_main in libc.so.6', 'exit in libc.so.6', 'flush'],
            live: 2},
        {stack: ['_start', '__libc_start_main in libc.so.6', 'main.cold', 'work'], live: 4},
        {stack: ['_dl_start_user in ld-linux-x86-64.so.2'], live: 8},
        {stack: ['worker', 'deep'], live: 16, flags: {truncated: true}},
        {stack: ['?10', '__libc_start_main in libc.so.6', 'atexit in libc.so.6'], live: 32},
    ], {roles: {_start: 'startup', __libc_start_main: 'startup', _dl_start_user: 'startup'}});
    const graph = callGraph(p, siteValues(p, live));
    const entry = (name) => graph.entryOf.get(p.functions.name.indexOf(name));

    assert.deepEqual(nameList(p, entry('(outside main)').callees),
        [['atexit', 32], ['_dl_start_user', 8], ['exit', 2], ['pool', 1]]);
    assert.deepEqual(nameList(p, entry('(unknown callers)').callees), [['worker', 16]]);
    assert.deepEqual(entry('main.cold').callers, []);
    assert.deepEqual(entry('worker').calls, 1);
});

test('a function that main ends with is a root', () => {
    const call = '__libc_start_call_main in libc.so.6', start = '__libc_start_main in libc.so.6';
    const p = profileOf([
        {stack: ['_start', start, call, 'app', 'work'], live: 1},
        {stack: ['_start', start, call, '__GI_exit in libc.so.6', 'flush'], live: 2},
        {stack: ['_start', start, 'call_init in libc.so.6', 'init'], live: 4},
        {stack: ['_start', start, '?10 in libc.so.6', 'stripped'], live: 8},
        {stack: ['_start', start, '?10 in libc.so.6', 'exit in libc.so.6'], live: 16},
        {stack: ['_start', start, call, 'puts in libc.so.6'], live: 32},
    ], {roles: {_start: 'startup', __libc_start_main: 'startup',
        __libc_start_call_main: 'startup'}});
    const graph = callGraph(p, siteValues(p, live));
    const entry = (name) => graph.entryOf.get(p.functions.name.indexOf(name));

    assert.deepEqual(nameList(p, entry('(outside main)').callees),
        [['exit', 16], ['call_init', 4], ['__GI_exit', 2]]);
    for (const root of ['app', 'stripped', 'puts'])
        assert.deepEqual(entry(root).callers, [], root);
});

test('stacks that a limit has cut begin at one node, those cut on request do not', () => {
    const sites = [
        {stack: ['main', 'f'], live: 1},
        {stack: ['main', 'f'], live: 2, flags: {truncated: true}},
        {stack: ['g', 'f'], live: 4, flags: {truncated: true}},
    ];
    const p = profileOf(sites), few = profileOf(sites, {process: {frames_kept: 2}});

    assert.deepEqual(nested(p, callTree(p, siteValues(p, live))), ['all', 7, 0, [
        ['[truncated stacks]', 6, 0, [
            ['g', 4, 0, [['f', 4, 4, []]]],
            ['main', 2, 0, [['f', 2, 2, []]]]]],
        ['main', 1, 0, [['f', 1, 1, []]]]]]);
    assert.deepEqual(nested(few, callTree(few, siteValues(few, live))), ['all', 7, 0, [
        ['g', 4, 0, [['f', 4, 4, []]]],
        ['main', 3, 0, [['f', 3, 3, []]]]]]);
    assert.deepEqual(nested(p, callTree(p, siteValues(p, live), {inverted: true})), ['all', 7, 0, [
        ['f', 7, 0, [
            ['g', 4, 0, [['[truncated stacks]', 4, 4, []]]],
            ['main', 3, 1, [['[truncated stacks]', 2, 2, []]]]]]]]);
});

test('a stack that was cut in start-up code or at main reads as the whole one', () => {
    const p = profileOf([
        {stack: ['_start', '__libc_start_main', 'main', 'f'], live: 1, calls: 1},
        {stack: ['__libc_start_main', 'main', 'f'], live: 2, calls: 1, flags: {truncated: true}},
        {stack: ['main', 'f'], live: 4, calls: 1, flags: {truncated: true}},
        {stack: ['g', 'f'], live: 8, calls: 1, flags: {truncated: true}},
    ], {roles: {_start: 'startup', __libc_start_main: 'startup'}});
    const graph = callGraph(p, siteValues(p, live));
    const entry = (name) => graph.entryOf.get(p.functions.name.indexOf(name));

    assert.deepEqual(nameList(p, entry('main').callees), [['f', 7]]);
    assert.deepEqual(nameList(p, entry('(unknown callers)').callees), [['g', 8]]);
});

test('what has no name is called by its beginning, by the call or by its address', () => {
    const made = report([{stack: ['?1f00 in /lib/libz.so.1', '? in /lib/libz.so.1',
        '? in libexact.so', '? in nowhere'], live: 1}]), {frames} = made.tables;

    frames.exact = [false, false, true, false];
    frames.module[3] = null;
    assert.deepEqual(frames.offset, ['0x10', '0x20', '0x30', '0x40']);
    assert.deepEqual(buildProfile(checkPage(made)).functions.name.slice(0, 4),
        ['libz.so.1+0x1f00…', 'libz.so.1+0x1f', 'libexact.so+0x30', '0x3fff']);
});

test('in a sum of processes the document says which modules are programs', () => {
    const stack = ['?10', '__libc_start_main in libc.so.6', 'exit in libc.so.6'];
    const made = report([{stack, live: 1}], {roles: {__libc_start_main: 'startup'}});
    const outside = (program) => {
        made.tables.modules[0].program = program;
        const p = buildProfile(checkPage(made)), graph = callGraph(p, siteValues(p, live));

        return graph.entryOf.has(p.functions.outside);
    };

    assert.deepEqual([outside(true), outside(false)], [true, false]);
});

test('a call that carries nothing enters no cycle', () => {
    const p = profileOf([{stack: ['main', 'F', 'G', 'F'], live: 10},
        {stack: ['side', 'F'], live: 0, allocated: 5, calls: 7}]);
    const [cycle] = callGraph(p, siteValues(p, live)).cycles;

    assert.deepEqual([cycle.total, cycle.calls, nameList(p, cycle.callers)],
        [10, 1, [['main', 10]]]);
});

test('an empty profile is empty everywhere', () => {
    const p = profileOf([]), values = siteValues(p, live), tree = callTree(p, values);

    for (const by of GROUPINGS.filter((by) => by !== 'type' && by !== 'class'))
        assert.equal(group(p, values, by).order.length, 0, by);
    for (const one of [tree, callTree(p, values, {inverted: true})])
        assert.equal(layout(one, {width: 1000}).count, 1);
    assert.deepEqual(callGraph(p, values).entries, []);
    assert.deepEqual(direct(p, values).rows, []);
    assert.equal(series(p, p.sites.stack, 1), null);
    assert.equal(stackedSeries(p, p.sites.stack, 1, 3), null);
    assert.equal(pointAt(p, 5), -1);
    assert.deepEqual(search(p, 'main'), {functions: [], files: [], modules: [], types: []});
});

test('what shrank has a value below zero and no width', () => {
    const p = profileOf([{stack: ['main', 'grow'], live: 30}, {stack: ['main', 'cache'], live: 5}],
        {history: {points: [{elapsed_ns: 0, name: null, kind: 'start'},
            {elapsed_ns: 10, name: 'half', kind: 'asked'},
            {elapsed_ns: 20, name: null, kind: 'end'}],
        changes: {point: [1, 1, 2, 2], site: [0, 1, 0, 1], allocations: [1, 9, 1, 0],
            allocated_bytes: [10, 45, 20, 0], frees: [0, 0, 0, 8], freed_bytes: [0, 0, 0, 40]}}});
    const extent = {kind: 'between', from: 1, to: 2}, values = siteValues(p, live, extent);

    assert.deepEqual([...values.after], [20, -40]);
    assert.deepEqual([...siteValues(p, live, {kind: 'at', point: 1}).after], [10, 45]);
    assert.deepEqual(siteValues(p, live, {kind: 'at', point: 2}).after,
        siteValues(p, live).after);
    assert.deepEqual(rows(p, 'function', {}, values),
        {grow: [20, 20], main: [0, -20], cache: [-40, -40]});
    const tree = callTree(p, values), main = tree.sortedChildren(0)[0];

    assert.deepEqual([tree.total[main], tree.width[main]], [-20, 20]);
    const picture = layout(tree, {width: 100});

    assert.deepEqual([...picture.w], [100, 100, 100]);
    assert.deepEqual(nested(p, tree)[3][0][3].map((n) => n[0]), ['grow', 'cache']);
    assert.equal(metricName(live, extent), 'growth');
    assert.equal(isKnown(p, metricOf('peak'), extent), false);
    assert.throws(() => siteValues(p, metricOf('peak'), extent));
    assert.equal(pointAt(p, 19), 1);
    assert.deepEqual(series(p, p.sites.stack.map(() => 0), 1)[0], new Float64Array([0, 55, 35]));
    const stacked = stackedSeries(p, keyOfSites(shapeOf(p), 'site'), 2, 1);

    assert.deepEqual([stacked.keys, [...stacked.rows[0]], [...stacked.rest], [...stacked.total]],
        [[1], [0, 45, 5], [0, 10, 30], [0, 55, 35]]);
});

test('builds in two directories are compared file by file', () => {
    const at = (root, live) => [
        {stack: [`main@${root}/main.c:1 in ${root}/app`, `f@${root}/x/util.c:5 in ${root}/app`],
            live},
        {stack: [`main@${root}/main.c:1 in ${root}/app`, `f@${root}/y/util.c:5 in ${root}/app`],
            live: 7}];
    const p = compared(at('/a', 10), at('/b/src', 30));

    assert.deepEqual(p.files, ['/b/src/main.c', '/b/src/x/util.c', '/b/src/y/util.c']);
    assert.deepEqual(rows(p, 'file')['/b/src/x/util.c'], [10, 30, 10, 30]);
    assert.deepEqual(rows(p, 'file')['/b/src/y/util.c'], [7, 7, 7, 7]);
    assert.equal(p.sites.count, 2);
    // Two frames that fit equally well match none.
    assert.equal(samePaths(['/a/one.c'], ['/b/one.c', '/c/one.c']).size, 0);
    assert.equal(samePaths(['/a/list.c'], ['/a/mylist.c']).size, 0);
});

test('two programs that have nothing in common have both their parts', () => {
    const p = compared([{stack: ['main in /a', 'f in /a'], live: 3}],
        [{stack: ['start in /b', 'g in /b'], live: 5}]);
    const values = siteValues(p, live), tree = callTree(p, values);

    assert.deepEqual(totals(values), {after: 5, before: 3});
    assert.deepEqual(rows(p, 'function'), {g: [0, 5, 0, 5], f: [3, 0, 3, 0],
        start: [0, 0, 0, 5], main: [0, 0, 3, 0]});
    assert.equal(tree.width[0], 8);
    assert.deepEqual([...layout(tree, {width: 80}).w], [80, 50, 30, 50, 30]);
    assert.deepEqual(p.points, []);
});

test('of two profiles a stack whose lines have shifted is one row, by line it is two', () => {
    const p = compared([{stack: ['main@m.c:1', 'f@f.c:40'], live: 3}],
        [{stack: ['main@m.c:2', 'f@f.c:42'], live: 5}]);

    assert.deepEqual(rows(p, 'site'), {f: [3, 5, 3, 5]});
    assert.deepEqual(rows(p, 'function'), {f: [3, 5, 3, 5], main: [0, 0, 3, 5]});
    assert.deepEqual(rows(p, 'line'), {'f.c:42': [0, 5, 0, 5], 'f.c:40': [3, 0, 3, 0],
        'm.c:2': [0, 0, 0, 5], 'm.c:1': [0, 0, 3, 0]});
    assert.deepEqual(rows(p, 'file'), {'f.c': [3, 5, 3, 5], 'm.c': [0, 0, 3, 5]});
    assert.equal(callTree(p, siteValues(p, live)).width[0], 5);
});

test('stacks that differ in how they were recorded are rows of their own, but not compared', () => {
    const sites = [{stack: ['main', 'f'], live: 1},
        {stack: ['main', 'f'], live: 2, flags: {guessed: true}}];

    assert.equal(group(profileOf(sites), siteValues(profileOf(sites), live), 'site').order.length,
        2);
    assert.deepEqual(rows(compared(sites, sites.slice(1)), 'site'), {f: [3, 2, 3, 2]});
});

test('of two profiles a function that is inlined in one is another stack, but one function', () => {
    const p = compared([{stack: ['main', 'f'], live: 3}], [{stack: ['main', '^f'], live: 5}]);
    const g = group(p, siteValues(p, live), 'site');

    assert.deepEqual([...g.order].map((key) => [g.selfBefore[key], g.self[key]]), [[0, 5], [3, 0]]);
    assert.deepEqual(rows(p, 'function').f, [3, 5, 3, 5]);
});

test('of two profiles each one short of how long blocks lived compares temporary ones', () => {
    const [before, after] = [report([{stack: ['f'], live: 1}]), report([{stack: ['f'], live: 1}])];

    after.sites.died_within_16 = [9];
    after.sites.temporary = before.sites.temporary = [2];
    before.sites.died_within_16 = [null];
    const p = buildProfile({report: after, before});

    assert.deepEqual(totals(siteValues(p, metricOf('short'))), {after: 2, before: 2});
    assert.equal(totals(siteValues(buildProfile({report: after}), metricOf('short'))).after, 9);
});

test('names may hold anything', () => {
    const sites = EVIL.map((name, i) => ({stack: ['main', `f${i}`], live: 1 << i,
        heap: name || 'none', labels: {[name]: name, constructor: name}}));
    const made = report(sites);

    made.tables.functions.name = made.tables.functions.name.map((name) =>
        /^f\d/.test(name) ? EVIL[name.slice(1)] : name);
    const p = buildProfile(checkPage(JSON.parse(JSON.stringify(made))));
    const values = siteValues(p, live), g = group(p, values, 'function');

    assert.equal(g.order.length, EVIL.length + 1);
    for (const i of EVIL.keys())
        assert.equal(g.self[p.functions.name.indexOf(EVIL[i])], 1 << i, EVIL[i]);
    assert.equal(group(p, values, 'heap').order.length, EVIL.length);
    assert.equal(group(p, values, 'labels').order.length, EVIL.length);
    assert.deepEqual(labelNames(p), [...new Set([...EVIL, 'constructor'])].sort());
    for (const [i, name] of EVIL.entries())
        if (name !== '__proto__') {
            assert.equal(totals(siteValues(p, live, WHOLE,
                {label: {key: name, value: name}})).after & (1 << i), 1 << i, name);
            assert.ok(name === '' || search(p, name.trim()).functions
                .some((fn) => p.functions.name[fn] === name), name);
        }
    assert.equal(totals(siteValues(p, live, WHOLE, {label: {key: 'hasOwnProperty', value: null}}))
        .after, totals(values).after);
    assert.equal(totals(siteValues(p, live, WHOLE, {pattern: '('})).after, 1);
});

test('a filter keeps stacks by all that it names', () => {
    const p = profileOf([
        {stack: ['main', 'parse@src/p.c:3', 'malloc in libc.so.6'], live: 1},
        {stack: ['main', 'draw', 'malloc in libc.so.6'], live: 2, heap: 'arena'},
        {stack: ['main', 'Draw'], live: 4, labels: {kind: 'x'}},
    ]);
    const kept = (filter) => totals(siteValues(p, live, WHOLE, filter)).after;
    const draw = p.functions.name.indexOf('draw');

    assert.equal(kept({}), 7);
    assert.equal(kept({text: 'DRAW'}), 6);
    assert.equal(kept({text: 'p.c'}), 1);
    assert.equal(kept({pattern: '^[Dd]raw$'}), 6);
    assert.equal(kept({pattern: '^draw$'}), 2);
    assert.equal(kept({function: draw, text: 'libc'}), 2);
    assert.equal(kept({heap: p.heaps.indexOf('arena')}), 2);
    assert.equal(kept({label: {key: 'kind', value: null}}), 3);
    assert.equal(kept({text: 'nothing has this'}), 0);
    assert.deepEqual(group(p, siteValues(p, live, WHOLE, {function: draw}), 'label:kind').order
        .length, 1);
});

test('an inverted tree leads from those who allocate to their callers', () => {
    const p = profileOf([{stack: ['main', 'a', 'x'], live: 3}, {stack: ['main', 'b', 'x'], live: 2},
        {stack: ['main', 'x', 'x'], live: 1}, {stack: ['alone'], live: 1}]);
    const values = siteValues(p, live), tree = callTree(p, values, {inverted: true});

    assert.deepEqual(nested(p, tree), ['all', 7, 0, [['x', 6, 0, [['a', 3, 0, [['main', 3, 3, []]]],
        ['b', 2, 0, [['main', 2, 2, []]]], ['x', 1, 0, [['main', 1, 1, []]]]]],
    ['alone', 1, 1, []]]]);
    const x = p.functions.name.indexOf('x');

    assert.deepEqual(nested(p, callTree(p, values, {inverted: true, root: x})), ['x', 6, 0,
        [['main', 1, 1, []], ['a', 3, 0, [['main', 3, 3, []]]],
            ['b', 2, 0, [['main', 2, 2, []]]]].sort((l, r) => r[1] - l[1])]);
    assert.deepEqual(nested(p, callTree(p, values, {root: x})), ['x', 6, 5, [['x', 1, 1, []]]]);
    assert.equal(tree.nodeAt(tree.pathOf(tree.nodeAt([x]))), tree.nodeAt([x]));
});

test('a picture has each node inside of its parent, the widest first', () => {
    const p = buildProfile(checkPage(largeReport(3000)));
    const {total, order} = group(p, siteValues(p, live), 'function');
    const root = order.slice().sort((x, y) => total[y] - total[x])[9];

    for (const options of [{}, {inverted: true}, {fold: true, recursion: true}, {root},
        {root, inverted: true}]) {
        const tree = callTree(p, siteValues(p, live), options), l = layout(tree, {width: 700});
        const place = new Map([...l.node].map((node, i) => [node, i]));

        assert.ok(l.count > 20, JSON.stringify(options));
        for (let i = 1; i < l.count; i++) {
            const outer = place.get(tree.parent[l.node[i]]), row = l.first[l.level[i]];

            assert.ok(l.w[i] >= 0.5 && l.level[outer] === l.level[i] - 1);
            assert.ok(l.x[i] >= l.x[outer] - 1e-6);
            assert.ok(l.x[i] + l.w[i] <= l.x[outer] + l.w[outer] + 1e-6);
            assert.ok(i === row || l.x[i] >= l.x[i - 1] + l.w[i - 1] - 1e-6);
            assert.equal(rectangleAt(l, l.level[i], l.x[i] + l.w[i] / 2), i);
            assert.equal(rectangleOf(l, tree, l.node[i]), i);
            assert.equal(neighbour(l, tree, i, 'up'), outer);
        }
        const focus = l.node[l.count >> 1], zoomed = layout(tree, {width: 700, focus});

        assert.equal(zoomed.node[tree.depth[focus]], focus);
        assert.equal(zoomed.w[tree.depth[focus]], 700);
        assert.ok([...zoomed.node].every((node) => tree.isBelow(node, focus) ||
            tree.isBelow(focus, node)));
    }
});

test('of a part of a picture what lies in it is drawn, at its scale', () => {
    const p = profileOf([{stack: ['main', 'a', 'x'], live: 3},
        {stack: ['main', 'b', 'y'], live: 1}]);
    const tree = callTree(p, siteValues(p, live));
    const l = layout(tree, {width: 100, from: 0.5, to: 1});
    const names = [...l.node].map((node) => p.functions.name[tree.function[node]] ?? 'all');

    assert.deepEqual(names, ['all', 'main', 'a', 'b', 'x', 'y']);
    assert.deepEqual([...l.x], [0, -100, -100, 50, -100, 50]);
    assert.deepEqual([...l.w], [100, 200, 150, 50, 150, 50]);
    const right = layout(tree, {width: 100, from: 0.75, to: 1});

    assert.deepEqual([right.count, right.x[2], right.w[2]], [4, 0, 100]);
});

test('arrow keys lead to what lies there', () => {
    const p = profileOf([{stack: ['main', 'a', 'x'], live: 3}, {stack: ['main', 'b'], live: 2}]);
    const tree = callTree(p, siteValues(p, live)), l = layout(tree, {width: 50});
    const names = [...l.node].map((node) => p.functions.name[tree.function[node]] ?? 'all');
    const go = (from, where) => names[neighbour(l, tree, names.indexOf(from), where)];

    assert.deepEqual(names, ['all', 'main', 'a', 'b', 'x']);
    assert.deepEqual([go('main', 'down'), go('a', 'right'), go('b', 'right'), go('b', 'left'),
        go('a', 'left'), go('b', 'down'), go('x', 'up'), go('all', 'up')],
    ['a', 'b', 'b', 'a', 'a', 'b', 'a', 'all']);
    assert.equal(rectangleAt(l, 2, 50), -1);
    assert.equal(rectangleAt(l, 9, 1), -1);
});

test('a search finds the name itself first, then beginnings, words and parts', () => {
    const p = profileOf(['new_parse', 'reparse', 'parse_all', 'parse', 'other'].map((name, i) =>
        ({stack: [`${name}@src/parse.c:${i + 1}`], live: 1})));

    assert.deepEqual(search(p, 'PARSE').functions.map((fn) => p.functions.name[fn]),
        ['parse', 'parse_all', 'new_parse', 'reparse']);
    assert.deepEqual(search(p, 'parse', {most: 2, weight: [9, 9, 5, 1, 0]}).functions
        .map((fn) => p.functions.name[fn]), ['parse', 'parse_all']);
    assert.deepEqual(search(p, 'all parse').functions.map((fn) => p.functions.name[fn]),
        ['parse_all']);
    assert.deepEqual(search(p, 'parse').files, [0]);
    assert.deepEqual(search(p, ' '), {functions: [], files: [], modules: [], types: []});
    assert.equal(matches(p, ''), null);
    assert.equal(matches(p, 'parse').reduce((x, y) => x + y), 4);
});

test('what is shown first is the peak, unless nearly all of it is in use', () => {
    assert.equal(firstMetric(profileOf([{stack: ['f'], live: 9, peak: 10}]), WHOLE).key, 'live');
    assert.equal(firstMetric(profileOf([{stack: ['f'], live: 8, peak: 10}]), WHOLE).key, 'peak');
    assert.deepEqual(METRICS.map((m) => m.option),
        ['inuse', 'peak', 'alloc', 'temporary', 'count']);
});

test('the data of a page is read, and refused with a sentence if it is no such data', async () => {
    const document = checkPage(report([{stack: ['f'], live: 1}]));
    const packed = gzipSync(JSON.stringify(document)).toString('base64');
    const lines = packed.replace(/.{76}/g, '$&\n');

    assert.deepEqual(await readPage(`\n${lines}\n`), JSON.parse(JSON.stringify(document)));
    assert.deepEqual(await readPage({textContent: packed}), JSON.parse(JSON.stringify(document)));
    for (const damaged of ['', packed.slice(0, packed.length >> 1), `!${packed}`, 'AAAA'])
        await assert.rejects(readPage(damaged), /damaged/);
    for (const other of [null, 1, {}, {format: 'heaptap-diff', version: 2}])
        assert.throws(() => checkPage(other), /no profile/);
    assert.throws(() => checkPage({...document, version: 9}), /version 9/);
    assert.throws(() => checkPage({...document, before: {version: 1}}), /version 1/);
});

test('a pair gets one number for ever, however many there are', () => {
    const map = new PairMap(4), known = [];

    for (let i = 0; i < 20000; i++)
        known.push(map.put(i % 157 - 1, i));
    assert.deepEqual(known, Array.from({length: 20000}, (_, i) => i));
    for (let i = 0; i < 20000; i++)
        assert.equal(map.put(i % 157 - 1, i), i);
    assert.equal(map.get(5, 6), 6);
    assert.equal(map.get(5, 5), -1);
    assert.equal(map.count, 20000);
});

test('a page of a part has no timeline, which is that of the whole process', () => {
    const whole = checkPage(report([{stack: ['main'], live_bytes: 10}]));
    const timeline = [{elapsed_ns: 5, live_bytes: 1000}];
    const made = {...whole, report: {...whole.report, timeline}};

    assert.deepEqual(checkPage({...made, filter: null}).report.timeline, timeline);
    assert.deepEqual(checkPage({...made, filter: {stacks: 'main'}}).report.timeline, []);
    assert.deepEqual(checkPage({...made, before: made.report, filter: {heap: 'a'}}).before.timeline,
        []);
});

test('functions of a script are a kind of code of their own, by language', () => {
    const document = report([{stack: ['main', 'run', 'fill@f.lua:3'], live: 10}]);
    const {frames} = document.tables;

    frames.language = frames.line.map((line) => line === 3 ? 'Lua' : null);
    const {functions} = buildProfile(checkPage(document));
    const of = functions.name.indexOf('fill'), main = functions.name.indexOf('main');

    assert.equal(KINDS[functions.kind[of]], 'script');
    assert.equal(functions.language[of], 'Lua');
    assert.equal(KINDS[functions.kind[main]], 'own');
    assert.equal(functions.language[main], null);
});
