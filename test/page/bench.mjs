/* bench.mjs: measure the time that the page's model needs for a click.
 *
 *     node test/page/bench.mjs [DOCUMENT.json | STACKS]
 *
 * Without an argument, it measures a generated profile of 500,000 stacks. Each row has the median
 * and the maximum for one kind of click; work that is done only once has a separate column,
 * `first`. There is no verdict, because the times depend on the machine. */
import {readFileSync} from 'node:fs';
import {around, callGraph, direct} from '../../src/page/model/calls.js';
import {siteValues} from '../../src/page/model/extent.js';
import {layout} from '../../src/page/model/flame.js';
import {group, keyOfSites, keysOf} from '../../src/page/model/groups.js';
import {checkPage} from '../../src/page/model/load.js';
import {METRICS} from '../../src/page/model/metric.js';
import {buildProfile} from '../../src/page/model/profile.js';
import {search} from '../../src/page/model/search.js';
import {stackedSeries} from '../../src/page/model/series.js';
import {shapeOf} from '../../src/page/model/shape.js';
import {callTree} from '../../src/page/model/tree.js';
import {largeReport} from './made.mjs';

const CLICKS = 7;
const given = process.argv[2] ?? '500000';
let profile;

/* Return milliseconds of processor time, which vary little on a busy machine. */
function timed(work) {
    const began = process.cpuUsage();

    work();
    const {user, system} = process.cpuUsage(began);

    return (user + system) / 1000;
}

function row(name, work) {
    const first = timed(() => work(0));
    const times = Array.from({length: CLICKS}, (_, i) => timed(() => work(i + 1)))
        .sort((x, y) => x - y);

    console.log(`${name.padEnd(44)} first ${first.toFixed(1).padStart(7)} ms   then ` +
        `${times[CLICKS >> 1].toFixed(1).padStart(6)} ms   slowest ` +
        `${times[CLICKS - 1].toFixed(1).padStart(6)} ms`);
}

const text = /^\d+$/.test(given) ? JSON.stringify(largeReport(Number(given)))
    : readFileSync(given, 'utf8');
let page;

console.log(`JSON.parse of ${(text.length / 1e6).toFixed(1)} MB: ` +
    `${timed(() => { page = checkPage(JSON.parse(text)); }).toFixed(0)} ms`);
console.log(`buildProfile: ${timed(() => { profile = buildProfile(page); }).toFixed(0)} ms, ` +
    `${profile.stacks.count} stacks, ${profile.sites.count} sites, ` +
    `${profile.functions.real} functions, ${profile.changes?.count ?? 0} changes`);

const metric = (i) => METRICS[[0, 2, 4][i % 3]];
const values = (i, filter = null) => siteValues(profile, metric(i), {kind: 'whole'}, filter);

for (const options of [{}, {fold: true}, {fold: true, recursion: true}]) {
    const told = Object.keys(options).join(' and ') || 'as recorded';

    row(`tree and picture, ${told}`, (i) => layout(callTree(profile, values(i), options),
        {width: 1400}));
    row(`inverted tree and picture, ${told}`, (i) => layout(callTree(profile, values(i),
        {...options, inverted: true}), {width: 1400}));
    for (const by of ['site', 'own', 'function', 'line', 'file', 'module'])
        row(`by ${by}, ${told}`, (i) => group(profile, values(i), by, options));
}
const functions = group(profile, values(0), 'function').order;

row('around a function', (i) => around(profile, values(i), functions[i]));
row('tree that begins at a function', (i) => layout(callTree(profile, values(i),
    {fold: true, root: functions[i]}), {width: 1400}));
row('inverted tree of a function', (i) => layout(callTree(profile, values(i),
    {fold: true, inverted: true, root: functions[i]}), {width: 1400}));
row('call graph', (i) => callGraph(profile, values(i)));
row('direct allocation', (i) => direct(profile, values(i)));
row('filter by a text, by function', (i) => group(profile, values(i, {text: `n_${i}`}),
    'function'));
row('search', (i) => search(profile, `n_${i}`));
if (profile.changes) {
    const last = profile.points.length - 1, shape = shapeOf(profile, {fold: true});
    const at = (i) => siteValues(profile, METRICS[0], {kind: 'between', from: Math.min(i, last - 1),
        to: last});

    row('a stretch of time, by function', (i) => group(profile, at(i), 'function', {fold: true}));
    row('a stretch of time, tree and picture', (i) => layout(callTree(profile, at(i),
        {fold: true}), {width: 1400}));
    row('the curve, by holders', () => stackedSeries(profile, keyOfSites(shape, 'own'),
        keysOf(shape, 'own').count, 12));
}
console.log(`memory: ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`);
