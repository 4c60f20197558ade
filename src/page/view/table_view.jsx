/* table_view.jsx: all functions, stacks, lines, files, modules, types, heaps, labels or threads.
 *
 * The table has the same form for each grouping: the chosen metric in the chosen time, with a
 * companion (blocks beside bytes). Functions, lines, files and modules have self and total values.
 * Other groups do not overlap, so both values are equal. A selected stack is shown beside the
 * table.
 *
 * `only` in the address restricts the table to the stacks of a heap, a type and so on. A search
 * examines the shown text; for stacks, the text of each frame. */
import {useMemo} from 'preact/hooks';
import {siteMask, siteValues} from '../model/extent.js';
import {group, labelNames} from '../model/groups.js';
import {isKnown, metricName, metricOf} from '../model/metric.js';
import {indexIn} from './address.js';
import {Grid, Share} from './grid.jsx';
import {Growth} from './holders.jsx';
import {KeyName, keyText} from './keys.jsx';
import {NameKey, Text, visible} from './name.jsx';
import {formatRoute, useShared} from './route.js';
import {rowOfSite, StackPanel} from './stack.jsx';
import {Truncated} from './truncated.jsx';
import {amount, bytes, count, inclusiveTitle} from './units.js';

const TABLES = [['function', 'Functions'], ['site', 'Stacks'], ['line', 'Lines'], ['file', 'Files'],
    ['module', 'Modules'], ['type', 'Types'], ['heap', 'Heaps'], ['labels', 'Labels'],
    ['thread', 'Threads']];

/* The metric shown beside each metric. */
const BESIDE = {live: 'blocks', peak: 'peakblocks', allocated: 'calls', calls: 'allocated',
    short: 'calls'};

const BESIDE_TITLES = {blocks: 'blocks', peakblocks: 'blocks', calls: 'calls',
    allocated: 'allocated'};

/* Names of metrics for narrow columns. */
export const NARROW_TITLES = {live: 'live', peak: 'peak', allocated: 'alloc.',
    short: 'short', calls: 'calls'};

const TITLES = {function: 'function', site: 'stack', line: 'line', file: 'file', module: 'module',
    type: 'type', heap: 'heap', labels: 'labels'};

/* Return the tables with data in this profile. */
function tablesOf(profile) {
    const heaps = profile.heaps.length > 1 || profile.heaps.some((heap) => heap !== 'malloc');
    const labels = profile.labels.some(({text}) => text !== '');
    const types = profile.parts.known && profile.parts.verdict.some((verdict) => verdict >= 0);
    const known = {heap: heaps, labels, type: types,
        thread: (profile.report.threads || []).length > 0};
    const each = labelNames(profile).map((name) => [`label:${name}`, visible(name)]);
    return [...TABLES.filter(([by]) => known[by] !== false), ...each];
}

const ONLY = {heap: 'heaps', labels: 'labels', type: 'types', file: 'files'};

/* Return the filter of an address such as "heap:1". */
function filterOf(profile, only) {
    const [what, text] = (only || '').split(':');
    const limit = what === 'function' ? profile.functions.count : what === 'module'
        ? profile.modules.count : Object.hasOwn(ONLY, what) ? profile[ONLY[what]].length : 0;
    const number = indexIn(text, limit);
    if (number === null)
        return null;
    const names = {function: () => profile.functions.name[number],
        module: () => profile.modules.path[number], heap: () => profile.heaps[number],
        labels: () => profile.labels[number].text || 'without labels',
        type: () => profile.types[number], file: () => profile.files[number]};
    return {filter: {[what]: number}, text: `${what} ${names[what]()}`};
}

/* Return the rows of GROUP that contain TEXT. */
function searched(profile, sums, text) {
    if (!text)
        return sums.order;
    if (sums.by === 'site') {
        const mask = siteMask(profile, {text});
        return sums.order.filter((key) => !mask || mask[sums.keys.site[key]]);
    }
    const wanted = text.toLowerCase();
    return sums.order.filter((key) => sums.keys.name(key).toLowerCase().includes(wanted));
}

function useGroup(by, fold, filter) {
    const {profile, metric, extent} = useShared();
    return useMemo(() => {
        const values = siteValues(profile, metric, extent, filter);
        const other = metricOf(BESIDE[metric.key]);
        const beside = isKnown(profile, other, extent)
            ? group(profile, siteValues(profile, other, extent, filter), by, {fold}) : null;
        return {sums: group(profile, values, by, {fold}), beside, other};
    }, [profile, metric, extent, by, fold, filter && JSON.stringify(filter)]);
}

/* Return the columns of values. For two profiles they are growth, before and after; for one, the
 * values and their share. */
function valueColumns({sums, beside, other}, {profile, metric, extent, whole, compares}) {
    const {self, total, selfBefore, totalBefore, nested} = sums, {unit} = metric;
    const grows = extent.kind === 'between' && metric.key === 'live';
    const name = metricName(metric, extent);
    const number = (key, title, value, cell, more) => ({key, title, numeric: true, width: 7.5,
        value, cell, ...more});
    const plain = (value) => (key) => (grows ? <Growth value={value(key)} unit={unit} />
        : amount(value(key), unit));
    if (compares) {
        const change = (key) => self[key] - selfBefore[key];
        const inclusive = (key) => total[key] - totalBefore[key];
        const changed = (key, title, value) => number(key, title,
            (row) => Math.abs(value(row)), (row) => <Growth value={value(row)} unit={unit} />);
        return [changed('self', nested ? 'self growth' : 'growth', change),
            ...(nested ? [changed('total',
                inclusiveTitle(profile, 'total growth', '?'), inclusive)] : []),
            number('before', nested ? inclusiveTitle(profile, 'total before') : 'before',
                (row) => totalBefore[row],
                (row) => amount(totalBefore[row], unit), {narrow: false}),
            number('after', nested ? inclusiveTitle(profile, 'total after') : 'after',
                (row) => total[row],
                (row) => amount(total[row], unit), {narrow: false})];
    }
    const columns = [number('self', nested ? `self ${name}` : name, (row) => self[row],
        plain((row) => self[row]), {tip: nested ? 'of blocks that it asked for itself' : undefined,
            width: 8, narrowTitle: nested ? 'self' : NARROW_TITLES[metric.key]})];
    if (nested)
        columns.push(number('total', inclusiveTitle(profile, 'total'), (row) => total[row],
            plain((row) => total[row]), {tip: 'with all that it called, each stack once'}));
    columns.push({key: 'share', width: 11, narrow: false,
        title: nested ? inclusiveTitle(profile, 'total of all') : 'of all',
        cell: (row) => <Share part={total[row]} whole={whole} />});
    if (beside)
        columns.push(number('beside', BESIDE_TITLES[other.key], (row) => beside.self[row],
            (row) => amount(beside.self[row], other.unit), {narrow: false,
                tip: `${nested ? 'self ' : ''}${metricName(other, extent)}`}));
    return columns;
}

function GroupTable({by, fold, only}) {
    const shared = useShared(), {profile, state, go, replace, compares, sums: sumsOfAll, metric}
        = shared;
    const made = useGroup(by, fold, only && only.filter), {sums} = made;
    const rows = useMemo(() => searched(profile, sums, state.q), [profile, sums, state.q]);
    const open = by === 'site' ? indexIn(state.stack, profile.sites.count) : null;
    const chosen = useMemo(() => (open === null ? -1 : rowOfSite(profile, open, fold).key),
        [profile, open, fold]);
    const columns = useMemo(() => [
        {key: 'name', title: TITLES[by] || by.replace('label:', ''), heads: true,
            value: (key) => keyText(sums, key), cell: (key) => <KeyName group={sums} i={key} />},
        ...valueColumns(made, {...shared, whole: sumsOfAll[metric.key]})],
    [made, compares]);
    const sort = {key: state.sort || 'self', descending: state.dir !== 'up'};
    const table = (
        <Grid label={`By ${TITLES[by] || by}`} columns={columns} rows={rows} sort={sort}
            keyOf={(key) => key}
            onSort={({key, descending}) => replace({...state, dir: descending ? undefined : 'up',
                sort: key === 'self' ? undefined : key})}
            rowClass={(key) => (key === chosen ? 'chosen' : '')}
            onRow={by === 'site' ? (key) => go({...state, stack: sums.keys.site[key]}) : undefined}
            empty={state.q ? 'No row has this in it.' : 'Nothing here has any of it.'} />);
    if (open === null)
        return table;
    return (
        <div class="beside">
            {table}
            <StackPanel site={open} fold={fold} onClose={() => go({...state, stack: undefined})} />
        </div>);
}

function ThreadName({row}) {
    const more = [row.tid || '', row.uses > 1 ? `${count(row.uses)} of this name` : '']
        .filter(Boolean).join(', ');
    return <span title={`${visible(row.name)} ${more}`}><Text text={row.name} />{' '}
        <span class="muted">{more}</span></span>;
}

function ThreadTable() {
    const {profile: {report}, state, extent, replace} = useShared();
    // An unnamed thread has a null name.
    const rows = useMemo(() => report.threads.map((row) => ({...row, name: row.name ?? ''}))
        .filter((row) => !state.q
        || row.name.toLowerCase().includes(state.q.toLowerCase())), [report, state.q]);
    const number = (key, title, unit, more) => ({key, title, numeric: true, width: 8.5,
        value: (row) => row[key], cell: (row) => (unit === 'bytes' ? bytes : count)(row[key]),
        ...more});
    return (
        <>
            {extent.kind !== 'whole'
                && <p class="note">Threads are known of the whole run only.</p>}
            <Grid label="By thread" rows={rows}
                sort={{key: state.sort || 'peak_bytes', descending: state.dir !== 'up'}}
                onSort={({key, descending}) => replace({...state, sort: key,
                    dir: descending ? undefined : 'up'})}
                columns={[
                    {key: 'name', title: 'thread', heads: true, value: (row) => row.name,
                        cell: (row) => <ThreadName row={row} />},
                    number('peak_bytes', 'at the peak', 'bytes'),
                    number('live_bytes', 'live', 'bytes'),
                    number('allocated_bytes', 'allocated', 'bytes', {narrow: false}),
                    number('allocations', 'allocations', 'calls', {narrow: false}),
                    number('frees_for_others', 'freed for others', 'calls', {narrow: false,
                        width: 10, tip: 'blocks of other threads that it freed, at least'})]} />
            <p class="note">Counted for the thread that allocated, whoever freed.</p>
        </>);
}

export const FOLD_TIP =
    'Charge what operator new, xmalloc and all of std:: ask for to their callers';

export function TableView() {
    const {profile, state, replace} = useShared();
    const tables = useMemo(() => tablesOf(profile), [profile]);
    const by = tables.some(([name]) => name === state.by) ? state.by : 'function';
    const fold = state.fold !== '0';
    const only = useMemo(() => filterOf(profile, state.only), [profile, state.only]);
    const nested = ['function', 'line', 'file', 'module', 'site'].includes(by);
    return (
        <>
            <h2 class="unseen">Table</h2>
            <div class="controls">
                <nav class="group" aria-label="Rows">
                    {tables.map(([name, title]) => (
                        <a key={name} aria-current={name === by ? 'true' : undefined}
                            href={formatRoute({...state, by: name, sort: undefined, dir: undefined,
                                stack: undefined})}><Text text={title} /></a>))}
                </nav>
                {nested && <label title={FOLD_TIP}>
                    <input type="checkbox" checked={fold} onChange={() =>
                        replace({...state, fold: fold ? '0' : undefined})} />
                    <span>fold wrappers</span></label>}
                {only && <span>only <b><Text text={only.text} /></b>{' '}
                    <a class="button" href={formatRoute({...state, only: undefined})}>all</a>
                </span>}
            </div>
            {by === 'thread' ? <ThreadTable /> : <GroupTable by={by} fold={fold} only={only} />}
            {['function', 'line', 'file', 'module'].includes(by) && <Truncated />}
            {['function', 'line', 'site'].includes(by) && <NameKey />}
        </>);
}
