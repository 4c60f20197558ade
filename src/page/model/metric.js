/* metric.js: the metrics, and the extents in which each is known.
 *
 * They equal the command's metrics: `option` is the name for --metric. A moment or a period has
 * only the four counters of the history, without the peak and lifetimes. The peak has only live
 * amounts.
 *
 * In a period, "live" is a growth and may be negative; `metricName` names it so. */

/**
 * @typedef {object} Metric
 * @property {string} key for links and for code
 * @property {string} option its name for `heaptap report --metric`; null = none
 * @property {string} name for people, as in "98 MiB live"
 * @property {'bytes'|'calls'|'blocks'} unit
 * @property {string} column of sites
 * @property {string[]} extents kinds of extent (extent.js) for which it is known
 */

/** @type {Metric[]} */
export const METRICS = [
    {key: 'live', option: 'inuse', name: 'live', unit: 'bytes', column: 'live_bytes',
        extents: ['whole', 'at', 'between', 'peak']},
    {key: 'peak', option: 'peak', name: 'at the peak', unit: 'bytes', column: 'peak_bytes',
        extents: ['whole']},
    {key: 'allocated', option: 'alloc', name: 'allocated', unit: 'bytes',
        column: 'allocated_bytes', extents: ['whole', 'at', 'between']},
    {key: 'short', option: 'temporary', name: 'short-lived', unit: 'blocks', column: 'short_lived',
        extents: ['whole']},
    {key: 'calls', option: 'count', name: 'allocations', unit: 'calls', column: 'allocations',
        extents: ['whole', 'at', 'between']},
];

/** Columns that tables show beside a metric; users cannot choose them as the metric. @type
 * {Metric[]} */
export const COUNTS = [
    {key: 'blocks', option: null, name: 'live blocks', unit: 'blocks', column: 'live_blocks',
        extents: ['whole', 'at', 'between', 'peak']},
    {key: 'peakblocks', option: null, name: 'blocks at the peak', unit: 'blocks',
        column: 'peak_blocks', extents: ['whole']},
    {key: 'freed', option: null, name: 'freed', unit: 'bytes', column: 'freed_bytes',
        extents: ['whole', 'at', 'between']},
    {key: 'frees', option: null, name: 'frees', unit: 'calls', column: 'frees',
        extents: ['whole', 'at', 'between']},
];

/** @returns {Metric|undefined} the metric of KEY, in both lists */
export function metricOf(key) {
    return METRICS.find((m) => m.key === key) ?? COUNTS.find((m) => m.key === key);
}

/**
 * Return true if PROFILE's short-lived blocks are only the temporary ones, freed before the next
 * allocation. A sample has no other lifetimes, and so a comparison with a sample has none
 * either.
 */
export function diesAtOnce({sites: {columns, beforeColumns}}) {
    return [columns, beforeColumns].some((of) => of && of.short_lived_is_temporary);
}

/** Return true if METRIC is known in EXTENT of PROFILE. */
export function isKnown(profile, metric, extent) {
    const columns = [profile.sites.columns, profile.sites.beforeColumns].filter(Boolean);

    return metric.extents.includes(extent.kind) &&
        (extent.kind !== 'whole' || columns.every((c) => c[metric.column] !== null));
}

/** @returns {Metric[]} the METRICS known in EXTENT */
export function knownMetrics(profile, extent) {
    return METRICS.filter((m) => isKnown(profile, m, extent));
}

/** Return METRIC's name in EXTENT: "live" between two moments is a growth. */
export function metricName(metric, extent) {
    if (extent.kind === 'between' && metric.key === 'live')
        return 'growth';
    if (extent.kind === 'between' && metric.key === 'blocks')
        return 'growth in blocks';
    return metric.name;
}

/**
 * Return the metric to show first: the peak, unless nearly all of it is still in use; for a moment
 * or a period, the memory in use. Same rule as in the command.
 */
export function firstMetric(profile, extent) {
    const totals = profile.report.totals;
    const nearlyAll = totals.peak_bytes === null || totals.live_bytes >= 0.9 * totals.peak_bytes;

    return METRICS[extent.kind === 'whole' && !nearlyAll ? 1 : 0];
}
