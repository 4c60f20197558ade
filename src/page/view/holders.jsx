/* holders.jsx: the holders of memory: the largest groups, in a curve and in a table beside it.
 *
 * By default, a holder is the innermost function of user code on a stack, because vector::push_back
 * and malloc only act for it. Holders do not overlap, so they can be stacked. Each of the eight
 * largest holders has a colour, which is the same in the curve, in the bar and in the table; the
 * sum of all others is grey. */
import {useMemo} from 'preact/hooks';
import {group, keyOfSites, ownLines, ownStacks} from '../model/groups.js';
import {metricName} from '../model/metric.js';
import {shapeOf} from '../model/shape.js';
import {Curve} from './curve.jsx';
import {Grid, Share} from './grid.jsx';
import {Callers, KeyName, keyText} from './keys.jsx';
import {Place} from './name.jsx';
import {elsewhere, formatRoute, useShared} from './route.js';
import {collectionSeconds, drawnSeries, liveSeries, namedMarks, totalLine, twoLines}
    from './curve_data.js';
import {amount, growth, percent, plural} from './units.js';

export const COLOURS = 8;

/* Return {group, rows, slot, largest, lines}. rows: largest first. slot: colour by key, -1 = none.
 * largest: the largest site by key. lines: see ownLines. Wrappers are folded, as on the command's
 * first screen. */
export function useHolders(by) {
    const {profile, values, compares} = useShared();
    return useMemo(() => {
        const sums = group(profile, values, by, {fold: true});
        const {total, totalBefore, count} = sums;
        const weight = total.map((value, i) => Math.abs(compares ? value - totalBefore[i] : value));
        const rows = Array.from(sums.order).sort((a, b) => weight[b] - weight[a]);
        const slot = new Int32Array(count).fill(-1);
        rows.slice(0, COLOURS).forEach((key, place) => {
            slot[key] = place;
        });
        const largest = largestSites(profile, values, by, count);
        return {group: sums, rows, slot, largest, lines: linesOf(profile, values, by, count)};
    }, [profile, values, by]);
}

function largestSites(profile, {after, before}, by, count) {
    const of = keyOfSites(shapeOf(profile, {fold: true}), by);
    const largest = new Int32Array(count).fill(-1), most = new Float64Array(count).fill(-1);
    for (let site = 0; of && site < of.length; site++) {
        const value = Math.abs(before ? after[site] - before[site] : after[site]);
        if (value > most[of[site]]) {
            most[of[site]] = value;
            largest[of[site]] = site;
        }
    }
    return largest;
}

function linesOf(profile, values, by, count) {
    const shape = shapeOf(profile, {fold: true}), of = keyOfSites(shape, by);
    return of && ownLines(shape, values, of, count);
}

/* Return the slot of each site or part; all without a colour are in the last slot. */
function slotsOf(profile, {group: {by, keys}, slot}) {
    const column = keys.ofPart ? 'part' : 'site';
    const of = keys.ofPart || keyOfSites(shapeOf(profile, {fold: true}), by);
    return {column, slots: of.map((key) => (key >= 0 && slot[key] >= 0 ? slot[key] : COLOURS))};
}

/* Return the series from the top of the picture to the bottom: the largest is at the top, the
 * others at the bottom. */
function stackedSeries(profile, holders) {
    const {group: sums, rows} = holders, {column, slots} = slotsOf(profile, holders);
    if (!profile.changes || (column === 'part' && !profile.changes.part))
        return null;
    const live = liveSeries(profile, slots, COLOURS + 1, column);
    const peaks = new Array(COLOURS + 1).fill(0);
    const peakBytes = (column === 'part' ? profile.parts : profile.sites).columns.peak_bytes;
    slots.forEach((slot, i) => {
        peaks[slot] += peakBytes ? peakBytes[i] : 0;
    });
    const {times, values, stops} = drawnSeries(profile, live, peaks);
    const named = values.map((of, place) => (place === COLOURS
        ? {values: of, name: 'others', colour: '--rest', shown: rows.length > COLOURS}
        : {values: of, name: place < rows.length ? keyText(sums, rows[place]) : '',
            colour: `--s${place}`, shown: place < rows.length}));
    return {times, stops, series: named.filter((one) => one.shown).reverse()};
}

/* Return the series of the total. Without a history nothing can be selected, and the total is the
 * only series. */
function totalSeries(profile) {
    const {times, values} = totalLine(profile.report);
    return {times, stops: times.map((_, place) => ({place, point: null})),
        series: [{values: Float64Array.from(values), name: 'live', colour: '--s0'}]};
}

/* Return EXTENT as stops, for Curve. */
function chosenOf(extent, stops) {
    const at = (point) => stops.findIndex((stop) => stop.point === point);
    switch (extent.kind) {
    case 'at': return {from: at(extent.point), to: at(extent.point)};
    case 'between': return {from: at(extent.from), to: at(extent.to)};
    case 'peak': return {from: at(null), to: at(null)};
    default: return null;
    }
}

/* Return the point of STOP. No period can begin or end at the peak: then the point of the next stop
 * in the direction STEP. */
function pointNear(stops, stop, step) {
    return (stops[stop].point === null ? stops[stop + step] : stops[stop])?.point ?? null;
}

/* Show the curve of HOLDERS; for a profile without a history, the curve of the total. */
export function HolderCurve({holders, height}) {
    const {profile, extent, state, go, theme} = useShared();
    const stacked = useMemo(() => stackedSeries(profile, holders), [profile, holders]);
    const drawn = useMemo(() => (profile.before ? twoLines(profile.before, profile.report)
        : stacked || totalSeries(profile)), [profile, stacked]);
    const marks = useMemo(() => namedMarks(profile.points), [profile]);
    const collections = useMemo(() => collectionSeconds(profile.points), [profile]);
    const {stops} = drawn;
    const chosen = useMemo(() => stacked && chosenOf(extent, stops), [extent, stops]);
    const time = (changes) => go({...state, at: undefined, from: undefined, to: undefined,
        ...changes});
    const stretch = (first, last) => {
        const from = pointNear(stops, first, -1), to = pointNear(stops, last, 1);
        if (from !== null && to !== null && from < to)
            time({from, to});
    };
    if (drawn.times.length < 2)
        return null;
    return (
        <Curve label={stacked ? 'Live bytes over time. Arrows move the mark, Enter chooses its '
            + 'moment, with Shift a stretch of time' : 'Live bytes over time'}
        {...drawn} marks={marks} collections={collections} chosen={chosen} height={height}
        dark={theme.dark}
        onMoment={stacked ? (stop) => time({at: stops[stop].point ?? 'peak'}) : undefined}
        onStretch={stacked ? stretch : undefined} onWhole={() => time({})} />);
}

/* Show all holders in one bar, for metrics without a curve. */
export function HolderBar({holders}) {
    const {group: groups, rows, slot} = holders;
    const whole = rows.reduce((sum, key) => sum + Math.max(0, groups.total[key]), 0);
    const rest = rows.filter((key) => slot[key] < 0)
        .reduce((sum, key) => sum + Math.max(0, groups.total[key]), 0);
    const width = (value) => ({width: `${whole > 0 ? 100 * Math.max(0, value) / whole : 0}%`});
    return (
        <div class="onebar" aria-hidden="true">
            {rows.slice(0, COLOURS).map((key) => (
                <span key={key} class={`s${slot[key]}`} style={width(groups.total[key])} />))}
            <span class="rest" style={width(rest)} />
        </div>);
}

function Swatch({slot}) {
    return <i class={`swatch ${slot < 0 ? 'rest' : `s${slot}`}`} aria-hidden="true" />;
}

/* Show the line with most of holder I's memory, and the number of other lines with the rest. */
export function HolderPlace({holders: {lines}, i}) {
    const {profile} = useShared();
    const frame = lines ? lines.frame[i] : -1;
    if (frame < 0)
        return null;
    return (
        <>
            <Place file={profile.frames.file[frame]} line={profile.frames.line[frame]} />
            {lines.more[i] > 0 && <span class="place" title={plural(lines.more[i], 'more line')}>
                {' '}and {plural(lines.more[i], 'more line')}</span>}
        </>);
}

/* Show a function with its caller, and the line with most of its memory, in itself or in a
 * callee. */
function HolderName({holders, i}) {
    const {group: groups, largest} = holders;
    const {profile} = useShared();
    const site = largest[i];
    if (groups.by !== 'own' || site < 0)
        return <KeyName group={groups} i={i} />;
    const stack = ownStacks(shapeOf(profile, {fold: true}))[site];
    return (
        <>
            <KeyName group={groups} i={i} brief part={0.88} />{' '}
            <HolderPlace holders={holders} i={i} />
            {stack > 0 && <Callers stack={stack} />}
        </>);
}

const TITLES = {own: 'held by', site: 'stack', type: 'type', heap: 'heap', labels: 'labels',
    function: 'function'};

export function HolderTable({holders, limit = 200}) {
    const {metric, extent, sums, state, compares} = useShared();
    const {group: groups, rows, slot} = holders, {by} = groups;
    const whole = sums[metric.key];
    const growing = compares || extent.kind === 'between' && metric.key === 'live';
    const shown = useMemo(() => rows.slice(0, limit), [rows, limit]);
    const change = (key) => groups.total[key] - groups.totalBefore[key];
    const mostChange = compares && rows.length > 0 ? Math.abs(change(rows[0])) : 0;
    const columns = useMemo(() => [
        {key: 'name', title: TITLES[by] || by, heads: true, cell: (key) =>
            <>{!compares && <Swatch slot={slot[key]} />}
                <HolderName holders={holders} i={key} /></>},
        {key: 'value', title: compares ? 'growth' : metricName(metric, extent), numeric: true,
            width: 8, cell: (key) => (growing
                ? <Growth value={groups.total[key] - (compares ? groups.totalBefore[key] : 0)}
                    unit={metric.unit} /> : amount(groups.total[key], metric.unit))},
        ...(compares ? [
            {key: 'change', title: 'change', width: 12, narrow: false,
                cell: (key) => <Change value={change(key)} most={mostChange} />},
            {key: 'before', title: 'before', numeric: true, width: 8, narrow: false,
                cell: (key) => amount(groups.totalBefore[key], metric.unit)},
            {key: 'after', title: 'after', numeric: true, width: 8, narrow: false,
                cell: (key) => amount(groups.total[key], metric.unit)}]
            : [{key: 'share', title: 'of all', width: 15, narrowWidth: 5,
                cell: (key) => <Share part={groups.total[key]} whole={whole}
                    colour={slot[key] < 0 ? 'var(--rest)' : `var(--s${slot[key]})`} />}])],
    [holders, metric, extent, whole]);
    const left = rows.length - shown.length;
    return (
        <>
            <Grid label="The largest holders" columns={columns} rows={shown}
                empty="Nothing here has any of it." />
            {left > 0 && <p class="note">
                <a href={formatRoute(elsewhere(state, 'table', {by}))}>
                    {plural(left, 'more row')}</a>{' '}
                {!growing && `with ${percent(rows.slice(limit).reduce((sum, key) =>
                    sum + groups.total[key], 0), whole)} of all`}</p>}
        </>);
}

/* Show a bar for growth to the right, or for decline to the left. */
function Change({value, most}) {
    const width = {width: `${most > 0 ? 50 * Math.abs(value) / most : 0}%`};
    return (
        <span class="change" aria-hidden="true">
            <i class={value < 0 ? 'shrinks' : 'grows'} style={width} />
        </span>);
}

export function Growth({value, unit}) {
    return <span class={value > 0 ? 'up' : value < 0 ? 'down' : ''}>{growth(value, unit)}</span>;
}
