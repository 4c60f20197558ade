/* time.jsx: the curve of live bytes, and the blocks live at a moment or allocated in a period.
 *
 * The time chosen here is used in all views. It can be chosen on the curve, in two lists, and in
 * the table of moments, which has all data of the curve. */
import {useMemo} from 'preact/hooks';
import {Grid} from './grid.jsx';
import {HolderCurve, HolderTable, useHolders} from './holders.jsx';
import {Text, visible} from './name.jsx';
import {elsewhere, formatRoute, useShared} from './route.js';
import {liveSeries} from './curve_data.js';
import {bytes, duration, growth} from './units.js';

const STACKED = [['own', 'function'], ['site', 'stack'], ['type', 'type'], ['heap', 'heap'],
    ['labels', 'labels']];

const LISTED = 25; // Number of holders in the list; the table has all.

const KINDS = {start: 'start', end: 'end', timed: 'by time', asked: 'asked for',
    program: 'by the program', phase: 'phase', growth: 'at growth', signal: 'signal',
    period: 'by period'};

function pointText(point, i) {
    const name = point.name ? ` ${visible(point.name).slice(0, 40)}` : '';
    const kind = i === 0 ? ' start' : point.kind === 'end' ? ' end' : '';
    return `${duration(point.elapsed_ns)}${name || kind}`;
}

function Choose({label, value, onChange, points, none, first = 0, last = points.length}) {
    return (
        <label><span>{label}</span>
            <select aria-label={label} value={value ?? ''}
                onChange={(event) => onChange(event.target.value === '' ? undefined
                    : Number(event.target.value))}>
                {none && <option value="">{none}</option>}
                {points.map((point, i) => (i >= first && i < last
                    ? <option key={i} value={i}>{pointText(point, i)}</option> : null))}
            </select>
        </label>);
}

/* A period is chosen from its beginning: until an end is chosen, it ends with the run. */
function Chooser() {
    const {profile: {points, sites}, extent, state, go} = useShared();
    const between = extent.kind === 'between';
    const set = (changes) => go({...state, at: undefined, from: undefined, to: undefined,
        ...changes});
    const last = points.length - 1;
    return (
        <div class="controls">
            <Choose label="at" none="–" points={points}
                value={extent.kind === 'at' ? extent.point : undefined}
                onChange={(at) => set({at})} />
            <Choose label="from" none="–" points={points} last={between ? extent.to : last}
                value={between ? extent.from : undefined}
                onChange={(from) => set(from === undefined ? {}
                    : {from, to: between ? extent.to : last})} />
            <Choose label="to" none="–" points={points} first={between ? extent.from + 1 : 1}
                value={between ? extent.to : undefined}
                onChange={(to) => set(to === undefined ? {}
                    : {from: between ? extent.from : 0, to})} />
            {sites.columns.peak_bytes && <button type="button" class="button"
                aria-pressed={extent.kind === 'peak'}
                onClick={() => set({at: extent.kind === 'peak' ? undefined : 'peak'})}>
                the peak</button>}
            {extent.kind !== 'whole' && <button type="button" class="button"
                onClick={() => set({})}>whole run</button>}
        </div>);
}

function Moments() {
    const {profile, state, extent} = useShared();
    const rows = useMemo(() => {
        const all = profile.changes ? liveSeries(profile, new Int32Array(profile.sites.count), 1)[0]
            : [];
        return profile.points.map((point, i) => ({...point, i, live: all[i],
            gained: i > 0 ? all[i] - all[i - 1] : null}));
    }, [profile]);
    const columns = [
        {key: 'time', title: 'moment', heads: true, numeric: true, width: 8,
            value: (row) => row.elapsed_ns, cell: (row) => (
                <a href={formatRoute(elsewhere(state, 'time', {at: row.i, from: undefined,
                    to: undefined, by: state.by}))}>{duration(row.elapsed_ns)}</a>)},
        {key: 'name', title: 'name', value: (row) => row.name || '',
            cell: (row) => row.name && <Text text={row.name} />},
        {key: 'kind', title: 'taken', width: 9, narrow: false, value: (row) => row.kind,
            cell: (row) => KINDS[row.kind] || row.kind},
        {key: 'live', title: 'live', numeric: true, width: 8, value: (row) => row.live,
            cell: (row) => bytes(row.live)},
        {key: 'gained', title: 'since the one before', numeric: true, width: 12,
            value: (row) => row.gained, cell: (row) => growth(row.gained, 'bytes')}];
    return (
        <section class="panel">
            <h3>Moments of which all stacks are known</h3>
            <Grid label="Moments" columns={columns} rows={rows}
                rowClass={(row) => (extent.kind === 'at' && extent.point === row.i
                    || extent.kind === 'between' && row.i > extent.from && row.i <= extent.to
                    ? 'chosen' : '')} />
        </section>);
}

export function Time() {
    const {profile, state, replace, compares} = useShared();
    const by = STACKED.some(([key]) => key === state.by) ? state.by : 'own';
    const holders = useHolders(by);
    const known = profile.changes !== null;
    return (
        <>
            <h2 class="unseen">Time</h2>
            <section class="panel">
                <div class="controls">
                    {known && <label><span>live bytes, stacked by</span>
                        <select value={by} onChange={(event) =>
                            replace({...state, by: event.target.value})}>
                            {STACKED.map(([key, name]) =>
                                <option key={key} value={key}>{name}</option>)}
                        </select></label>}
                </div>
                <HolderCurve holders={holders} height={340} />
                {known ? <>
                    <p class="note hint">Drag over a stretch of time to see what it brought, click
                        for what was live at a moment: all views follow.</p>
                    <Chooser />
                </> : <p class="note">{compares ? 'Two profiles are compared as wholes; the page '
                    + 'of one of them shows its moments.' : 'Of this profile only the sum is known '
                    + 'over time, so stacks cannot be shown at a moment.'}</p>}
            </section>
            <section class="panel"><HolderTable holders={holders} limit={LISTED} /></section>
            {known && <Moments />}
        </>);
}
