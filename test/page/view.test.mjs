/* view.test.mjs: check, without a browser, how the page's views present numbers and names.
 *
 *     node --test test/page/view.test.mjs
 *
 * If it fails, the page rounds otherwise than the command, sorts wrongly, draws a curve of the
 * wrong height, or shows a misleading name. */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {indexIn} from '../../src/page/view/address.js';
import {functionLabel, label, nodeName} from '../../src/page/flame/flame_words.js';
import {isStandard} from '../../src/page/model/name_parts.js';
import {collectionSeconds, drawnSeries, namedMarks, totalLine, twoLines}
    from '../../src/page/view/curve_data.js';
import {endOf, freesAtEnds} from '../../src/page/view/ends.js';
import {LOSSES, WRONG, lossesIn} from '../../src/page/view/losses.js';
import {areDifferentPrograms, briefName, fittingName, ownName, shortName, visible}
    from '../../src/page/view/name_text.js';
import {inOrder} from '../../src/page/view/order.js';
import {stretches} from '../../src/page/view/stretches.js';
import {axisTime, bytes, count, duration, fixed, growth, inclusiveTitle, percent, plural}
    from '../../src/page/view/units.js';

test('numbers are rounded as the command rounds them', () => {
    const said = {0: '0 B', 1023: '1023 B', 1024: '1.0 KiB', 1048524: '1023.9 KiB',
        1048525: '1.0 MiB', 5368709120: '5.0 GiB'};
    for (const [value, text] of Object.entries(said))
        assert.equal(bytes(Number(value)), text);
    assert.equal(bytes(-2048), '\u22122.0 KiB');
    assert.equal(count(1234567), '1,234,567');
    assert.equal(count(-1000), '\u22121,000');
    assert.equal(bytes(null), '–');
    assert.equal(growth(0, 'bytes'), '±0 B');
    assert.equal(growth(1, 'calls'), '+1');
    assert.equal(percent(1, 0), '–');
    assert.equal(plural(1, 'process'), '1 process');
    assert.equal(plural(2, 'process'), '2 processes');
    assert.equal(duration(84e6), '84 ms');
    assert.equal(duration(12.1e9), '12.10 s');
    assert.equal(duration(125e9), '2 min 5 s');
    assert.equal(duration(7260e9), '2 h 1 min');
});

test('a process that a signal ended is marked', () => {
    assert.equal(endOf({end: null}), '');
    assert.equal(endOf({end: {how: 'exited', status: 1}}), '');
    assert.equal(endOf({end: {how: 'killed', signal: 11, name: 'SIGSEGV'}}), ', killed by SIGSEGV');
    assert.equal(endOf({end: {how: 'out-of-memory', signal: 9, name: 'SIGKILL'}}),
        ', killed: out of memory');
    // Only a sum of histories frees the blocks of processes that have ended.
    assert.equal(freesAtEnds({merged: {processes: 2}, history: {points: []}}), true);
    assert.equal(freesAtEnds({merged: {processes: 2}, history: {}}), false);
    assert.equal(freesAtEnds({merged: {processes: 1}, history: {points: []}}), false);
    assert.equal(freesAtEnds({history: {points: []}}), false);
});

test('a single loss has the singular', () => {
    const one = (table, name, number) => lossesIn(table, {[name]: number})
        .map(({number: n, text}) => `${n} ${text}`);

    assert.deepEqual(one(WRONG, 'ledger_events', 1), ['1 block whose free could not be followed']);
    assert.deepEqual(one(WRONG, 'events', 1), ['1 event was lost']);
    assert.deepEqual(one(WRONG, 'events', 2), ['2 events were lost']);
    assert.deepEqual(one(LOSSES, 'inherited_frees', 1), ['1 free of a block from before the fork']);
    assert.deepEqual(one(LOSSES, 'inherited_frees', 0), []);
    for (const [name, single, several] of [...LOSSES, ...WRONG])
        assert.ok(single.startsWith('…') || several !== undefined, name);
});

test('a column of lower bounds is marked', () => {
    const report = (bound) => ({losses: {inclusive_is_lower_bound: bound}});
    assert.equal(inclusiveTitle({report: report(false)}, 'total'), 'total');
    assert.equal(inclusiveTitle({report: report(true)}, 'total'), 'total ≥');
    const profile = {report: report(false), before: report(true)};
    assert.equal(inclusiveTitle(profile, 'total growth', '?'), 'total growth ?');
    const sampled = {process: {callers_period: 64}, losses: {}};
    assert.equal(inclusiveTitle({report: sampled}, 'total'), 'total ~');
    assert.equal(inclusiveTitle({report: report(false), before: sampled}, 'total before'),
        'total before ~');
    sampled.losses.inclusive_is_lower_bound = true;
    assert.equal(inclusiveTitle({report: sampled}, 'total'), 'total ~ ≥');
});

test('builds of a program in two directories are the same program', () => {
    assert.equal(areDifferentPrograms('/a/build/app', '/b/build/app'), false);
    assert.equal(areDifferentPrograms('/a/app', '/a/app2'), true);
    assert.equal(areDifferentPrograms(null, '/a/app'), false);
    assert.equal(areDifferentPrograms(undefined, undefined), false);
});

test('marks of an axis differ from each other', () => {
    for (const step of [0.0005, 0.005, 0.02, 0.25, 0.5, 1, 5, 30, 60, 300, 3600]) {
        const marks = Array.from({length: 12}, (_, i) => axisTime(i * step, step));
        assert.equal(new Set(marks).size, marks.length, marks.join(' '));
    }
});

test('a number between two others is rounded as the command rounds it', () => {
    assert.equal(bytes(29952), '29.2 KiB');
    assert.equal(bytes(30464), '29.8 KiB');
    assert.equal(percent(1, 16), '6.2 %');
    assert.equal(percent(3, 16), '18.8 %');
    assert.equal(fixed(-29.25, 1), '-29.2');
    assert.equal(fixed(0.5, 0), '0');
    assert.equal(fixed(1.5, 0), '2');
    assert.equal(fixed(1.125, 2), '1.12');
    assert.equal(fixed(29.35, 1), (29.35).toFixed(1));
});

test('half a million rows are sorted by number, equals in their order', () => {
    const rows = Array.from({length: 500000}, (_, i) => i);
    const value = (row) => (row * 7919 % 10007) - 5000 + (row % 3) / 4;
    for (const descending of [false, true]) {
        const sorted = inOrder(rows, value, descending), turn = descending ? -1 : 1;
        assert.equal(new Set(sorted).size, rows.length);
        for (let i = 1; i < sorted.length; i++) {
            const [a, b] = [value(sorted[i - 1]) * turn, value(sorted[i]) * turn];
            assert(a < b || (a === b && sorted[i - 1] < sorted[i]), `${i}`);
        }
    }
});

test('few rows are sorted by text, and what is endless comes last', () => {
    assert.deepEqual(inOrder([0, 1, 2], (i) => ['b', 'a', 'b'][i], false), [1, 0, 2]);
    assert.deepEqual(inOrder([0, 1, 2], (i) => [Infinity, -1, 3][i], false), [1, 2, 0]);
});

const REPORT = {process: {elapsed_ns: 10e9}, timeline: [{elapsed_ns: 2e9, live_bytes: 100},
    {elapsed_ns: 4e9, live_bytes: 300}, {elapsed_ns: 8e9, live_bytes: 50}],
totals: {live_bytes: 20, peak_bytes: 900, peak_elapsed_ns: 4e9}};

test('the total has the start, the peak and the end, each once', () => {
    const {times, values, peak} = totalLine(REPORT);
    assert.deepEqual(times.map((time) => Math.round(time)), [0, 2, 4, 4, 8, 10]);
    assert.deepEqual(values, [0, 100, 300, 900, 50, 20]);
    assert.equal(values[peak], 900);
});

test('the parts of the curve add up to what was counted, wherever it was', () => {
    const profile = {report: REPORT, points: [{elapsed_ns: 0}, {elapsed_ns: 8e9},
        {elapsed_ns: 10e9}]};
    const series = [Float64Array.of(0, 30, 20), Float64Array.of(0, 20, 0)];
    const {times, values, stops} = drawnSeries(profile, series, [500, 400]);
    const line = totalLine(REPORT);
    times.forEach((time, i) => assert.equal(Math.round(values[0][i] + values[1][i]),
        line.values[line.times.indexOf(time)], `${time}`));
    assert.deepEqual(stops.map(({point}) => point), [0, null, 1, 2]);
    assert.equal(values[0][stops[1].place], 500);
});

test('a line of two profiles ends where its profile does', () => {
    const short = {...REPORT, process: {elapsed_ns: 3e9}, timeline: [],
        totals: {live_bytes: 7, peak_bytes: 9, peak_elapsed_ns: 1e9}};
    const {times, series} = twoLines(short, REPORT);
    const before = series[0].values;
    assert.equal(before[times.indexOf(3)], 7);
    assert(Number.isNaN(before[times.indexOf(8)]));
    assert.equal(series[1].values[times.indexOf(8)], 50);
});

test('names are shortened in their templates only', () => {
    const map = 'std::map<std::string, std::vector<std::pair<int, long> > >';
    const long = `${map}::emplace_hint_unique<int, int>(std::pair<int, int> const&, int&&) const`;
    assert.equal(shortName(long),
        'std::map<…>::emplace_hint_unique<…>(std::pair<…> const&, int&&) const');
    assert.equal(briefName(long), 'std::map<…>::emplace_hint_unique<…>');
    assert.equal(briefName('Foo::operator()(int) const'), 'Foo::operator()');
    assert.equal(briefName('(anonymous namespace)::Foo::bar(int)'),
        '(anonymous namespace)::Foo::bar');
    assert.equal(briefName('f(int)::{lambda(int)#1}::operator()(int) const'),
        'f(int)::{lambda(int)#1}::operator()');
    assert.equal(briefName('std::ostream& operator<< <char>(std::ostream&, char)'),
        'std::ostream& operator<< <…>');
    assert.equal(briefName('<T as Trait<U>>::f'), '<…>::f');
    for (const name of ['a<b', '>x<', 'main', '', '(', ')', 'operator', '<'.repeat(2000),
        '<module> (import json)', '<module>',
        'Order.__init__.<locals>.<listcomp>', 'main.<locals>.<lambda>'])
        assert.equal(briefName(name), name);
});

test('signs that cannot be seen are shown', () => {
    assert.equal(visible('a\nb\u202ec\u0000\u200b'), 'a␊b\\u202ec␀\\u200b');
    assert.equal(visible('naïve 名前 🙂 <b>&amp;'), 'naïve 名前 🙂 <b>&amp;');
});

test('what an address says is a number in its limits or nothing', () => {
    assert.equal(indexIn('3', 4), 3);
    for (const text of ['4', '-1', '1e1', ' 1', '', undefined, '99999999999', 'x'])
        assert.equal(indexIn(text, 4), null);
});

test('of a long source file what is known and what was opened is shown', () => {
    const known = new Map([[30000, {}], [49999, {}]]);
    const text = (...given) => stretches(...given).map(({from, to, isGap}) =>
        `${isGap ? '-' : '+'}${from}..${to}`).join(' ');
    assert.equal(text(2000, known, null, []), '+0..2000');
    assert.equal(text(0, undefined, null, []), '');
    assert.equal(text(50000, undefined, null, []), '+0..12 -12..50000');
    assert.equal(text(50000, known, null, []),
        '+0..12 -12..29987 +29987..30012 -30012..49986 +49986..50000');
    assert.equal(text(50000, known, 20, [12]),
        '+0..512 -512..29987 +29987..30012 -30012..49986 +49986..50000');
});

// If this fails, collections hide the names that the program gave, or are not recognised.
test('collections are ticks and not names', () => {
    const point = (second, name, kind, collections) =>
        ({elapsed_ns: second * 1e9, name, kind, collections});
    const points = [point(0, null, 'start', 0), point(1, 'collection 1', 'program', 1),
        point(2, 'collection of stamps', 'program', 1), point(3, null, 'timed', 3),
        point(4, null, 'end', 4)];
    assert.deepEqual(collectionSeconds(points), [1, 3]);
    assert.deepEqual(namedMarks([points[0], point(1, 'collection of stamps', 'program', 0),
        points[1]]).map((mark) => mark.name), ['collection of stamps']);
});

test('functions of one name have their files in the flame graph, where there is room', () => {
    const functions = {name: ['fill', 'ns::put(int)'], place: ['m1.c', 'a/m.cc']};
    const profile = {functions}, labels = (fn, ...letters) =>
        letters.map((room) => functionLabel(profile, fn, room));

    assert.deepEqual(labels(0, 20, 11, 10, 3), ['fill (m1.c)', 'fill (m1.c)', 'fill', 'fi…']);
    assert.deepEqual(labels(1, 30, 17, 12),
        ['ns::put(int) (a/m.cc)', 'put(int) (a/m.cc)', 'ns::put(int)']);
    assert.equal(nodeName(profile, {function: [0]}, 0), 'fill (m1.c)');
});

test('a label loses namespaces first, then arguments, then the end of the name', () => {
    const name = 'void acme::store::index<int>::insert_all<acme::F>(int, acme::F)';
    for (const [letters, text] of [[63, name],
        [58, 'acme::store::index<int>::insert_all<acme::F>(int, acme::F)'],
        [57, 'store::index<int>::insert_all<acme::F>(int, acme::F)'],
        [50, 'index<int>::insert_all<acme::F>(int, acme::F)'],
        [33, 'insert_all<acme::F>(int, acme::F)'], [32, 'store::index<…>::insert_all<…>'],
        [29, 'index<…>::insert_all<…>'], [22, 'insert_all<…>'], [12, 'insert_all'],
        [9, 'insert_a…'], [3, 'in…'], [2, '']])
        assert.equal(label(name, letters), text, `${letters} letters`);
    assert.equal(label('symbol_table::finalize_compilation_unit()', 9), 'finalize…');
    assert.equal(label('libstdc++.so.6+0xa5780…', 11), '+0xa5780…');
    assert.equal(label('98.7 MiB at the peak', 13), '98.7 MiB at …');
});

test('the own name of a function is found behind namespaces, return types and arguments', () => {
    for (const [name, own] of [['main', 'main'], ['a::b<c::d>::e(f::g)', 'e'],
        ['std::pair<int, a::b> ns::make<int>(int)', 'make'], ['unsigned long f<int>()', 'f'],
        ['std::ostream& std::operator<< <char>(std::ostream&, char)', 'operator<<'],
        ['A::operator std::string() const', 'operator std::string'], ['A::~A()', '~A'],
        ['std::function<int (int)>::operator()(int) const', 'operator()'],
        ['A::operator->() const', 'operator->'], ['operator new(unsigned long)', 'operator new'],
        ['a::f(int)::{lambda(a::b const&)#2}::operator()(a::b const&) const', 'f::{lambda#2}'],
        ['a::b::operator()(int)::{lambda()#1}::operator()() const', 'operator()::{lambda#1}'],
        ['(anonymous namespace)::help(int)', 'help'], ['{anonymous}::help', 'help'],
        ['<alloc::vec::Vec<T> as core::clone::Clone>::clone', 'clone'],
        ['alloc::raw_vec::finish_grow::h0123456789abcdef', 'finish_grow'],
        ['foo::bar::{{closure}}', 'bar::{{closure}}'],
        ['foo [clone .part.0]', 'foo [clone .part.0]'],
        ['f.<locals>.<lambda>', 'f.<locals>.<lambda>'],
        ['[truncated stacks]', '[truncated stacks]'],
        ['a::b<', 'a::b<']]) {
        assert.equal(ownName(name), own);
        assert.ok(own.startsWith(fittingName(name, 3).slice(0, 2)), name);
    }
});

test('a function belongs to a standard library by its namespace or its source file', () => {
    for (const [name, file] of [['std::vector<int>::push_back(int&&)', ''],
        ['int* std::__uninitialized_copy<false>::copy<int*>(int*, int*)', ''],
        ['__gnu_cxx::new_allocator<int>::allocate(unsigned long)', ''],
        ['<alloc::vec::Vec<T> as core::clone::Clone>::clone', ''],
        ['operator new(unsigned long)', '/usr/include/c++/12/new'],
        ['finish_grow', '/rustc/1/library/alloc/src/raw_vec.rs']])
        assert.ok(isStandard(name, file), name);
    for (const [name, file] of [['main', 'main.c'], ['my::std::f()', ''], ['stdx::f()', ''],
        ['std::vector<int> shop::prices<int>(int)', '/shop/include/c.h'],
        ['shop::f(std::string const&)', 'shop.cc'], ['core::start()', 'core.cc']])
        assert.ok(!isStandard(name, file), name);
});
