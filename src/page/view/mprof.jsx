/* mprof.jsx: mprof's tables of direct allocation and of the call graph.
 *
 * Direct allocation is the memory that functions allocate themselves, and the part that is still
 * live. The call graph has a row for each function that includes all callees, linked to the page
 * with callers and callees. The functions of a cycle form one group. Both tables fold wrappers,
 * like `heaptap functions` and `heaptap callgraph`. */
import {useMemo} from 'preact/hooks';
import {callGraph, direct} from '../model/calls.js';
import {metricName} from '../model/metric.js';
import {Grid, Share} from './grid.jsx';
import {FunctionName, NameKey, visible} from './name.jsx';
import {useShared} from './route.js';
import {Truncated} from './truncated.jsx';
import {amount, bytes, count, inclusiveTitle, plural} from './units.js';

const CLASSES = ['up to 32 bytes', 'up to 256', 'up to 2,048', 'larger'];

/* Show the share of each size class, in a bar whose length is VALUE's part of WHOLE. */
function Classes({parts, whole}) {
    if (!parts)
        return null;
    return (
        <span class="histogram" title={parts.map((part, i) =>
            `${CLASSES[i]}: ${bytes(part)}`).join('\n')}>
            {parts.map((part, i) => <i key={i} class={`class${i}`}
                style={{width: `${whole > 0 ? 100 * Math.max(0, part) / whole : 0}%`}} />)}
        </span>);
}

function ClassKey() {
    return (
        <p class="kinds">{CLASSES.map((name, i) => <span key={name}><i class={`class${i}`} />
            {name}</span>)}</p>);
}

function matching(profile, rows, text) {
    const wanted = (text || '').toLowerCase();
    return rows.filter((row) => profile.functions.name[row.function].toLowerCase()
        .includes(wanted));
}

export function Direct() {
    const {profile, values, metric, extent, state} = useShared();
    const table = useMemo(() => direct(profile, values), [profile, values]);
    const rows = useMemo(() => matching(profile, table.rows, state.q), [table, state.q]);
    const {total} = table, classes = total.valueByClass !== null && metric.unit === 'bytes';
    const columns = [
        {key: 'function', title: 'function', heads: true,
            value: (row) => profile.functions.name[row.function],
            cell: (row) => <FunctionName id={row.function} />},
        {key: 'value', title: metricName(metric, extent), numeric: true, width: 9,
            value: (row) => row.value, cell: (row) => amount(row.value, metric.unit)},
        classes ? {key: 'classes', title: 'by size', width: 13, narrow: false,
            cell: (row) => <Classes parts={row.valueByClass} whole={total.value} />}
            : {key: 'share', title: 'of all', width: 13, narrow: false,
                cell: (row) => <Share part={row.value} whole={total.value} />},
        {key: 'kept', title: 'live', numeric: true, width: 8, value: (row) => row.kept,
            cell: (row) => bytes(row.kept)},
        {key: 'keptclasses', title: 'live by size', width: 13, wide: true,
            cell: (row) => <Classes parts={row.keptByClass} whole={total.kept} />},
        {key: 'calls', title: 'calls', numeric: true, width: 8, wide: true,
            value: (row) => row.calls, cell: (row) => count(row.calls)}];
    return (
        <>
            <h2 class="unseen">Direct allocation</h2>
            <p class="note">What functions ask for themselves. A long first bar and no second one is
                churn; with a long second one,
                the memory stays live.</p>
            {classes && <ClassKey />}
            <Grid label="Direct allocation" columns={columns} rows={rows}
                initial={{key: 'value', descending: true}}
                empty="No function has any of it." />
            <NameKey />
        </>);
}

function Cycles({graph}) {
    const {profile, metric} = useShared();
    if (graph.cycles.length === 0)
        return null;
    const columns = [
        {key: 'functions', title: 'functions', heads: true, cell: (row) =>
            <span title={row.functions.map((fn) => visible(profile.functions.name[fn])).join(', ')
                .slice(0, 4000)}>
                {row.functions.slice(0, 12).map((fn, i) => <span key={fn}>{i > 0 ? ', ' : ''}
                    <FunctionName id={fn} part={0.5} /></span>)}</span>},
        {key: 'many', title: 'how many', numeric: true, width: 7, narrow: false,
            value: (row) => row.functions.length, cell: (row) => count(row.functions.length)},
        {key: 'total', title: inclusiveTitle(profile, 'total'), numeric: true, width: 8,
            value: (row) => row.total, cell: (row) => amount(row.total, metric.unit)},
        {key: 'recursive', title: 'calls within', numeric: true, width: 9, narrow: false,
            value: (row) => row.recursive, cell: (row) => count(row.recursive)}];
    return (
        <section class="panel">
            <h3>{plural(graph.cycles.length, 'cycle')}: functions that call each other in a circle
            </h3>
            <Grid label="Cycles" columns={columns} rows={graph.cycles} dense />
        </section>);
}

export function Calls() {
    const {profile, values, metric, state} = useShared();
    const graph = useMemo(() => callGraph(profile, values), [profile, values]);
    const rows = useMemo(() => matching(profile, graph.entries, state.q), [graph, state.q]);
    const columns = [
        {key: 'function', title: 'function', heads: true,
            value: (row) => profile.functions.name[row.function],
            cell: (row) => <FunctionName id={row.function} />},
        {key: 'total', title: inclusiveTitle(profile, 'total'), numeric: true, width: 8,
            value: (row) => row.total, cell: (row) => amount(row.total, metric.unit)},
        {key: 'share', title: inclusiveTitle(profile, 'of all'), width: 13, narrow: false,
            cell: (row) => <Share part={row.total} whole={graph.total} />},
        {key: 'self', title: 'self', numeric: true, width: 8, value: (row) => row.self,
            cell: (row) => amount(row.self, metric.unit)},
        {key: 'callers', title: 'callers', numeric: true, width: 6, wide: true,
            value: (row) => row.callers.length, cell: (row) => count(row.callers.length)},
        {key: 'callees', title: 'calls', numeric: true, width: 6, wide: true,
            value: (row) => row.callees.length, cell: (row) => count(row.callees.length)},
        {key: 'called', title: 'called', numeric: true, width: 8, wide: true,
            tip: 'allocations with another function’s call of it on the stack',
            value: (row) => row.calls, cell: (row) => count(row.calls)}];
    return (
        <>
            <h2 class="unseen">Call graph</h2>
            <p class="note">A function leads to its callers and to what it calls.</p>
            <Grid label="Call graph" columns={columns} rows={rows}
                initial={{key: 'total', descending: true}} empty="No function has any of it." />
            <Truncated />
            <NameKey />
            <Cycles graph={graph} />
        </>);
}
