/* function_page.jsx: one function: the memory that it and its callees hold, its callers and
 * callees, its lines and stacks, and its memory over time.
 *
 * Callers and callees are mprof's call graph; each name links to its page. A stack counts once for
 * a call, even with recursion, so callers do not always sum to the total. */
import {useMemo} from 'preact/hooks';
import {around} from '../model/calls.js';
import {siteMask, siteValues, totals} from '../model/extent.js';
import {group} from '../model/groups.js';
import {isKnown, metricName, METRICS} from '../model/metric.js';
import {shapeOf} from '../model/shape.js';
import {indexIn} from './address.js';
import {Curve} from './curve.jsx';
import {drawnSeries, liveSeries} from './curve_data.js';
import {Grid, Share} from './grid.jsx';
import {Growth} from './holders.jsx';
import {KeyName, keyText} from './keys.jsx';
import {FunctionName, functionKind, Place, Text} from './name.jsx';
import {elsewhere, formatRoute, useShared} from './route.js';
import {NARROW_TITLES} from './table_view.jsx';
import {Truncated} from './truncated.jsx';
import {amount, hasBounds, inclusiveTitle, percent} from './units.js';

const KIND_TEXTS = {own: 'own code', library: 'library',
    runtime: 'standard library, libc or interpreter', unknown: 'unknown module'};
const ROLE_TEXTS = ['', 'passes allocations on', 'outside of main'];

function Facts({fn}) {
    const {profile} = useShared(), {functions, modules, files} = profile;
    const module = functions.module[fn], file = functions.file[fn];
    return (
        <p class="about">
            <span>{KIND_TEXTS[functionKind(profile, fn)] ?? functions.language[fn]}</span>
            {ROLE_TEXTS[functions.role[fn]] && <span>{ROLE_TEXTS[functions.role[fn]]}</span>}
            {file >= 0 && <span><Text text={files[file]} /></span>}
            {module >= 0 && <span><Text text={modules.path[module]} /></span>}
        </p>);
}

/* Return two masks by site: of the sites with the function on the stack, and of those with the
 * function innermost. */
function sitesOf(profile, fn) {
    const {end, function: of} = shapeOf(profile, {fold: true});
    return {mask: siteMask(profile, {function: fn}), inner: end.map((stack) =>
        (stack > 0 && of[stack] === fn ? 1 : 0))};
}

function sumWhere(values, mask) {
    let sum = 0;
    for (let i = 0; i < values.length; i++)
        if (mask[i])
            sum += values[i];
    return sum;
}

/* Show all metrics, with and without callees. */
function Numbers({fn}) {
    const {profile, extent, sums, compares} = useShared();
    const rows = useMemo(() => {
        const {mask, inner} = sitesOf(profile, fn);
        return METRICS.filter((metric) => isKnown(profile, metric, extent)).map((metric) => {
            const values = siteValues(profile, metric, extent);
            return {metric, whole: sums[metric.key], self: sumWhere(values.after, inner),
                total: sumWhere(values.after, mask),
                before: values.before && sumWhere(values.before, mask)};
        });
    }, [profile, extent, fn]);
    const columns = [
        {key: 'metric', title: 'of what is', heads: true,
            cell: (row) => metricName(row.metric, extent)},
        {key: 'self', title: 'self', numeric: true, width: 8,
            cell: (row) => amount(row.self, row.metric.unit)},
        {key: 'total', title: inclusiveTitle(profile, 'total'), numeric: true, width: 8,
            cell: (row) => amount(row.total, row.metric.unit)},
        compares ? {key: 'growth', title: inclusiveTitle(profile, 'growth', '?'), numeric: true,
            width: 9,
            cell: (row) => <Growth value={row.total - row.before} unit={row.metric.unit} />}
            : {key: 'share', title: inclusiveTitle(profile, 'total of all'), width: 12,
                narrowWidth: 5.5,
                cell: (row) => <Share part={row.total} whole={row.whole} />}];
    return <Grid dense label="All numbers of the function" columns={columns} rows={rows} />;
}

function Neighbours({title, list, whole, empty}) {
    const {profile, metric, compares} = useShared();
    const columns = [
        {key: 'name', title: 'function', heads: true, cell: (row) =>
            <FunctionName id={row.function} />},
        {key: 'value', title: inclusiveTitle(profile, 'of it'), numeric: true, width: 7,
            value: (row) => row.value, cell: (row) => amount(row.value, metric.unit)},
        compares ? {key: 'growth', title: 'growth', numeric: true, width: 7.5,
            value: (row) => row.value - row.before,
            cell: (row) => <Growth value={row.value - row.before} unit={metric.unit} />}
            : {key: 'share', title: inclusiveTitle(profile, 'part'), width: 10, narrow: false,
                cell: (row) => <Share part={row.value} whole={whole} />}];
    return (
        <section class="panel">
            <h3>{title}</h3>
            <Grid dense label={title} columns={columns} rows={list} empty={empty}
                initial={{key: 'value', descending: true}} />
        </section>);
}

/* Show the rows of a grouping of the stacks that contain the function. */
function Part({fn, by, title, most = 100}) {
    const {profile, metric, extent, state} = useShared();
    const {sums, whole} = useMemo(() => {
        const values = siteValues(profile, metric, extent, {function: fn});
        return {sums: group(profile, values, by, {fold: true}), whole: totals(values).after};
    }, [profile, metric, extent, fn, by]);
    const {keys} = sums;
    const rows = useMemo(() => Array.from(by === 'line'
        ? sums.order.filter((key) => keys.function[key] === fn) : sums.order)
        .sort((a, b) => Math.abs(sums.total[b]) - Math.abs(sums.total[a])).slice(0, most),
    [sums, by]);
    if (rows.length === 0 || (by === 'line' && rows.every((key) => keys.file[key] < 0)))
        return null;
    const columns = [
        {key: 'name', title: by === 'line' ? 'line' : 'stack', heads: true,
            value: (key) => keyText(sums, key), cell: (key) => (by === 'line'
                ? <Place file={keys.file[key]} line={keys.line[key]} />
                : <KeyName group={sums} i={key} />)},
        {key: 'value', title: metricName(metric, extent), numeric: true, width: 9,
            narrowTitle: NARROW_TITLES[metric.key],
            value: (key) => sums.total[key], cell: (key) => amount(sums.total[key], metric.unit)},
        {key: 'share', title: 'part', width: 12, narrow: false,
            cell: (key) => <Share part={sums.total[key]} whole={whole} />}];
    return (
        <section class="panel">
            <h3>{title} {by === 'site' && sums.order.length > most && <a href={formatRoute(
                elsewhere(state, 'table', {by: 'site', only: `function:${fn}`}))}>all</a>}</h3>
            <Grid dense label={title} columns={columns} rows={rows}
                initial={{key: 'value', descending: true}} />
        </section>);
}

/* Show the memory of the function and its callees over time, compared with the total. */
function OverTime({fn}) {
    const {profile, theme, extent} = useShared();
    const drawn = useMemo(() => {
        if (!profile.changes)
            return null;
        const {mask} = sitesOf(profile, fn), slots = Int32Array.from(mask, (in_) => 1 - in_);
        const peaks = [0, 0], peak = profile.sites.columns.peak_bytes;
        slots.forEach((slot, site) => {
            peaks[slot] += peak ? peak[site] : 0;
        });
        const {times, values, stops} = drawnSeries(profile, liveSeries(profile, slots, 2), peaks);
        return {times, stops, series: [{name: 'with this function', values: values[0],
            colour: '--s0'}, {name: 'without', values: values[1], colour: '--sunken'}]};
    }, [profile, fn]);
    return drawn && drawn.times.length > 1 && (
        <section class="panel">
            <h3>Live over time, with this function on the stack</h3>
            <Curve label="Live bytes of the function over time" {...drawn} height={150}
                dark={theme.dark} chosen={null} key={extent.kind} />
        </section>);
}

function Links({fn}) {
    const {state} = useShared();
    return (
        <nav class="controls" aria-label="More of this function">
            <a class="button" href={formatRoute(elsewhere(state, 'flame', {fn}))}>
                Flame graph of what it calls</a>
            <a class="button" href={formatRoute(elsewhere(state, 'flame', {fn, invert: 1}))}>
                … of who calls it</a>
            <a class="button" href={formatRoute(elsewhere(state, 'table',
                {by: 'site', only: `function:${fn}`}))}>Its stacks</a>
        </nav>);
}

export function FunctionPage() {
    const {profile, state, values, metric, sums} = useShared();
    const fn = indexIn(state.fn, profile.functions.count);
    const near = useMemo(() => fn !== null && around(profile, values, fn),
        [profile, values, fn]);
    if (fn === null)
        return <p class="empty">This profile has no such function.</p>;
    const {callers, callees, total} = near;
    const startup = total === 0 && 'What the C library does outside of main is left out here.';
    return (
        <>
            <h2 class={`headline fn ${functionKind(profile, fn)}`} tabIndex={0}>
                <Text text={profile.functions.name[fn]} /></h2>
            <Facts fn={fn} />
            <p class="note">{total !== 0 && !profile.before && <>
                {hasBounds(profile) && 'At least '}{amount(total, metric.unit)},{' '}
                {percent(total, sums[metric.key])} of all, has it on the stack.</>}</p>
            <Links fn={fn} />
            <section class="panel"><Numbers fn={fn} /></section>
            <Truncated />
            <div class="pair">
                <Neighbours title="Called by" list={callers} whole={total}
                    empty={startup || 'Nobody: a stack begins here.'} />
                <Neighbours title="Calls" list={callees} whole={total}
                    empty={startup || 'Nothing that allocates: it asks for all of it itself.'} />
            </div>
            <OverTime fn={fn} />
            <Part fn={fn} by="line" title="Lines" />
            <Part fn={fn} by="site" title="Stacks" />
        </>);
}
