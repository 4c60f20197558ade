/* sizes.jsx: the sizes of blocks by the chosen metric, with candidates for their types: mprof's
 * bins.
 *
 * Of the whole process each size has its calls, and its allocated and live bytes. Other metrics,
 * other times, a part of the profile and a comparison are known by mprof's four size classes: these
 * are the sums of the parts of the sites (model/profile.js). So the histogram follows every choice,
 * with fewer rows where less is known. It is also a table, which screen readers use instead of the
 * bars. */
import {useMemo} from 'preact/hooks';
import {partValues} from '../model/extent.js';
import {metricName} from '../model/metric.js';
import {SIZE_CLASSES} from '../model/profile.js';
import {useShared} from './route.js';
import {Grid, Share} from './grid.jsx';
import {Growth} from './holders.jsx';
import {visible} from './name.jsx';
import {amount, bytes, count, percent} from './units.js';

const CLASS_TEXTS = ['0 to 32', '33 to 256', '257 to 2,048', 'above 2,048'];

/* The metrics that are known of each size. */
const EXACT = {
    live: {title: 'live', unit: 'bytes', size: (one) => one.allocated_bytes - one.freed_bytes,
        bin: (one) => one.kept_bytes},
    allocated: {title: 'allocated', unit: 'bytes', size: (one) => one.allocated_bytes,
        live: (one) => one.allocated_bytes - one.freed_bytes, bin: (one) => one.bytes},
    calls: {title: 'allocations', unit: 'calls', size: (one) => one.allocations,
        live: (one) => one.allocations - one.frees, bin: (one) => one.allocs},
};

/* Return the smallest power of two, from 16 on, that is at least SIZE. */
function classOf(size) {
    let limit = 16;
    while (limit < size)
        limit *= 2;
    return limit;
}

/* Return rows by powers of two: {size, value, live}; live is 0 if the metric has no such part. */
function exactRows(sizes, {size, live = () => 0}) {
    const classes = new Map();
    for (const one of sizes) {
        const limit = classOf(one.size_max);
        const row = classes.get(limit)
            || {limit, size: `up to ${bytes(limit).replace('.0 ', ' ')}`, value: 0, live: 0};
        row.value += size(one);
        row.live += live(one);
        classes.set(limit, row);
    }
    return [...classes.values()].sort((a, b) => a.limit - b.limit);
}

/* Return rows by size class: {size, value, live, before}; [] if the classes are not known. */
function classRows({parts, changes}, values) {
    const {kind} = values.extent;
    if (!parts.known || ((kind === 'at' || kind === 'between') && !changes?.part))
        return [];
    const {after, before} = partValues(values);
    const rows = SIZE_CLASSES.map((_, i) => ({size: CLASS_TEXTS[i], value: 0, live: 0, before: 0}));
    parts.sizeClass.forEach((place, part) => {
        if (place >= 0) {
            rows[place].value += after[part];
            rows[place].before += before ? before[part] : 0;
        }
    });
    return rows;
}

/* Show a bar relative to the longest, with live blocks in front of freed ones. */
function HistogramBar({row, most, hasLive}) {
    const part = (value) => `${most > 0 ? 100 * Math.max(0, value) / most : 0}%`;
    return (
        <span class="histogram">
            {hasLive && <i class="live-part" style={{width: part(row.live)}} />}
            <i class={hasLive ? 'freed' : 'live-part'}
                style={{width: part(row.value - row.live)}} />
        </span>);
}

function Histogram({rows, hasLive}) {
    const {metric, extent, compares} = useShared(), {unit} = metric;
    const most = Math.max(...rows.map((row) => Math.max(row.value, 0)));
    const whole = rows.reduce((sum, row) => sum + row.value, 0);
    const name = metricName(metric, extent);
    const grows = extent.kind === 'between' && metric.key === 'live';
    const columns = [
        {key: 'size', title: 'size', heads: true, numeric: true, width: 8.5, narrowWidth: 7,
            cell: (row) => row.size},
        {key: 'bar', title: <span class="unseen">bar</span>,
            cell: (row) => <HistogramBar {...{row, most, hasLive}} />},
        ...(compares ? [{key: 'before', title: 'before', numeric: true, width: 8, narrow: false,
            cell: (row) => amount(row.before, unit)}] : []),
        {key: 'value', title: compares ? 'after' : name, numeric: true, width: 8,
            cell: (row) => (grows ? <Growth value={row.value} unit={unit} />
                : amount(row.value, unit))},
        compares ? {key: 'growth', title: 'growth', numeric: true, width: 8.5,
            cell: (row) => <Growth value={row.value - row.before} unit={unit} />}
            : {key: 'part', title: '%', numeric: true, width: 5,
                cell: (row) => percent(row.value, grows ? 0 : whole)}];
    return (
        <div class="panel">
            <h3>By size of block: {name}
                {hasLive && <span class="kinds"><span><i class="live-part" />still live</span>
                    <span><i class="freed" />freed</span></span>}</h3>
            <Grid label={`Sizes: ${name}`} columns={columns} rows={rows} />
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

/* Return the columns of the bins: the metric KEY first, with its share. */
function binColumns(key, bins) {
    const number = (title, unit, value, more) => ({key: title, title, numeric: true, width: 7,
        value, cell: (bin) => amount(value(bin), unit), ...more});
    const exact = (name, more) =>
        number(EXACT[name].title, EXACT[name].unit, EXACT[name].bin, more);
    const {bin: value, title} = EXACT[key], whole = bins.reduce((sum, bin) => sum + value(bin), 0);
    const others = Object.keys(EXACT).filter((name) => name !== key)
        .map((name) => exact(name, {narrow: false}));
    return [
        {key: 'size', title: 'size', heads: true, numeric: true, width: 6.5, narrowWidth: 5,
            value: (bin) => bin.size ?? Infinity,
            cell: (bin) => (bin.size === null ? '> 1,024' : count(bin.size))},
        exact(key),
        {key: 'share', title: `% of ${title}`, width: 10, narrow: false,
            cell: (bin) => <Share part={value(bin)} whole={whole} />},
        ...others, number('frees', 'calls', (bin) => bin.frees, {wide: true}),
        {key: 'types', title: 'types', tip: '✓ certain, ~ likely; others have the size',
            cell: (bin) => <span class="mono" title={typesText(bin).slice(0, 2000)}>
                {typesRow(bin)}</span>}];
}

/* Show the sizes up to 1024 bytes, each in a row. They cover the whole process, by a metric that
 * is known of each size. */
function Bins({bins, isExact}) {
    const {metric, state} = useShared(), key = isExact ? metric.key : 'allocated';
    const columns = useMemo(() => binColumns(key, bins), [key, bins]);
    const rows = useMemo(() => bins.filter((bin) => (bin.allocs || bin.size !== null)
        && (!state.q || typesText(bin).toLowerCase().includes(state.q.toLowerCase())
            || String(bin.size) === state.q)), [bins, state.q]);
    return (
        <section class="panel">
            <h3>Bins: {EXACT[key].title}</h3>
            {!isExact && <p class="note">Of single sizes only live and allocated bytes and
                allocations are known, of the whole process.</p>}
            <Grid key={key} label="Bins: blocks by size" columns={columns} rows={rows}
                initial={{key: EXACT[key].title, descending: true}}
                empty="No block has such a size or type." />
        </section>);
}

export function Sizes() {
    const {page, profile, values, metric, extent, compares} = useShared();
    const known = Object.hasOwn(EXACT, metric.key) && extent.kind === 'whole';
    const isExact = known && !page.filter && !compares;
    const sizes = page.report.sizes || [];
    const rows = useMemo(() => (isExact && sizes.length > 0 ? exactRows(sizes, EXACT[metric.key])
        : classRows(profile, values)), [isExact, sizes, profile, values]);
    return (
        <>
            <h2 class="unseen">Sizes</h2>
            {rows.length > 0 ? <Histogram rows={rows}
                hasLive={isExact && EXACT[metric.key].live !== undefined} />
                : <p class="note">Of this metric, sizes are known of the whole run only.</p>}
            {(page.filter || compares) && <p class="note">The bins are those of the whole process
                {compares && ', the second of the two'}.</p>}
            {page.sizes ? <Bins bins={page.sizes.bins} isExact={known} />
                : <p class="empty">Single sizes are not known of this profile.</p>}
        </>);
}
