/* sizes.jsx: the sizes of blocks, with candidates for their types: mprof's bins.
 *
 * The histogram has all sizes, by powers of two, from the report. The table has mprof's bins, one
 * for each size up to 1024 bytes. Both cover the whole process, because sizes are not known for a
 * moment. The histogram is also a table, which screen readers use instead of the bars. */
import {useMemo} from 'preact/hooks';
import {useShared} from './route.js';
import {Grid, Share} from './grid.jsx';
import {visible} from './name.jsx';
import {bytes, count, percent} from './units.js';

/* Return the smallest power of two, from 16 on, that is at least SIZE. */
function classOf(size) {
    let limit = 16;
    while (limit < size)
        limit *= 2;
    return limit;
}

function histogram(sizes) {
    const classes = new Map();
    for (const one of sizes) {
        const limit = classOf(one.size_max);
        const sum = classes.get(limit) || {limit, allocations: 0, allocated: 0, kept: 0};
        sum.allocations += one.allocations;
        sum.allocated += one.allocated_bytes;
        sum.kept += one.allocated_bytes - one.freed_bytes;
        classes.set(limit, sum);
    }
    return [...classes.values()].sort((a, b) => a.limit - b.limit);
}

function limitText(limit) {
    return `up to ${bytes(limit).replace('.0 ', ' ')}`;
}

/* Show a bar relative to the longest, with live bytes in front of freed ones. */
function HistogramBar({row, most}) {
    const part = (value) => `${most > 0 ? 100 * Math.max(0, value) / most : 0}%`;
    return (
        <span class="histogram">
            <i class="kept" style={{width: part(row.kept)}} />
            <i class="freed" style={{width: part(row.allocated - row.kept)}} />
        </span>);
}

function Histogram({sizes}) {
    const rows = useMemo(() => histogram(sizes), [sizes]);
    const most = Math.max(...rows.map((row) => row.allocated));
    const whole = rows.reduce((sum, row) => sum + row.allocated, 0);
    const columns = [
        {key: 'size', title: 'size', heads: true, numeric: true, width: 8.5,
            cell: (row) => limitText(row.limit)},
        {key: 'bar', title: 'bytes allocated', cell: (row) => <HistogramBar {...{row, most}} />},
        {key: 'allocated', title: 'allocated', numeric: true, width: 8,
            cell: (row) => bytes(row.allocated)},
        {key: 'part', title: '%', numeric: true, width: 6, narrow: false,
            cell: (row) => percent(row.allocated, whole)},
        {key: 'kept', title: 'kept', numeric: true, width: 8, cell: (row) => bytes(row.kept)},
        {key: 'calls', title: 'calls', numeric: true, width: 8, narrow: false,
            cell: (row) => count(row.allocations)}];
    return (
        <div class="panel">
            <h3>Bytes by size of block <span class="kinds"><span><i class="kept" />kept</span>
                <span><i class="freed" />freed</span></span></h3>
            <Grid label="Bytes by size of block" columns={columns} rows={rows} />
        </div>);
}

const MARKS = {certain: '✓', likely: '~'};
const TYPES_SHOWN = 12; // Number of types in a row; the tip has more.

/* Return the known types of the blocks of a size, then other types of that size. */
function typesOf(bin) {
    const known = bin.known.map((one) => `${MARKS[one.verdict] || ''}${one.type}`);
    const others = bin.types.filter((type) => !bin.known.some((one) => one.type === type));
    return [...known, ...others];
}

function typesText(bin) {
    return visible(typesOf(bin).join(', '));
}

function typesRow(bin) {
    const types = typesOf(bin), rest = types.length - TYPES_SHOWN;
    return visible(types.slice(0, TYPES_SHOWN).join(', ')) + (rest > 0 ? ` and ${rest} more` : '');
}

const COLUMNS = [
    {key: 'size', title: 'size', heads: true, numeric: true, width: 7,
        value: (bin) => bin.size ?? Infinity,
        cell: (bin) => (bin.size === null ? '> 1,024' : count(bin.size))},
    {key: 'allocs', title: 'allocs', numeric: true, width: 8, value: (bin) => bin.allocs,
        cell: (bin) => count(bin.allocs)},
    {key: 'bytes', title: 'bytes', numeric: true, width: 8, value: (bin) => bin.bytes,
        cell: (bin) => bytes(bin.bytes)},
    {key: 'share', title: '% of bytes', width: 14, narrow: false},
    {key: 'frees', title: 'frees', numeric: true, width: 8, narrow: false,
        value: (bin) => bin.frees, cell: (bin) => count(bin.frees)},
    {key: 'kept', title: 'kept', numeric: true, width: 8, value: (bin) => bin.kept_bytes,
        cell: (bin) => bytes(bin.kept_bytes)},
    {key: 'types', title: 'types', tip: '✓ certain, ~ likely; others have the size',
        cell: (bin) => <span class="mono" title={typesText(bin).slice(0, 2000)}>
            {typesRow(bin)}</span>}];

export function Sizes() {
    const {page, state, extent, compares} = useShared();
    const bins = page.sizes ? page.sizes.bins : [];
    const whole = bins.reduce((sum, bin) => sum + bin.bytes, 0);
    const columns = COLUMNS.map((column) => (column.key === 'share'
        ? {...column, cell: (bin) => <Share part={bin.bytes} whole={whole} />} : column));
    const rows = useMemo(() => bins.filter((bin) => (bin.allocs || bin.size !== null)
        && (!state.q || typesText(bin).toLowerCase().includes(state.q.toLowerCase())
            || String(bin.size) === state.q)), [bins, state.q]);
    const sizes = page.report.sizes || [];
    return (
        <>
            <h2 class="unseen">Sizes</h2>
            {extent.kind !== 'whole' && <p class="note">Sizes are known of the whole run only.</p>}
            {(page.filter || compares) && <p class="note">Sizes are those of the whole process
                {compares && ', the second of the two'}.</p>}
            {sizes.length > 0 && <Histogram sizes={sizes} />}
            <section class="panel">
                <h3>Bins</h3>
                <Grid label="Bins: blocks by size" columns={columns} rows={rows}
                    initial={{key: 'bytes', descending: true}}
                    empty={page.sizes ? 'No block has such a size or type.'
                        : 'Sizes are not known of this profile.'} />
            </section>
        </>);
}
