/* curve_data.js: compute the curve of live bytes from the moments at which values are known.
 *
 * The total is known at more moments (the timeline) than the stacks (the history). The peak is a
 * further moment for which the report has all stacks. The curve uses all these moments, so its
 * height is right at each counted total. */
import {series} from '../model/series.js';

/**
 * @param {Int32Array} slotOf by site, or by part
 * @param {'site'|'part'} column kind of slotOf
 * @returns {Float64Array[]} by slot: live bytes at each of the profile's points
 */
export function liveSeries({points, changes}, slotOf, slots, column = 'site') {
    return series({points, changes: {...changes, site: changes[column]}}, slotOf, slots);
}

/**
 * Return the total at each moment of REPORT's timeline, which has more moments than the history,
 * and at the start, the peak and the end.
 * @returns {{times: number[], values: number[], peak: number}} times in seconds, ascending, each
 *     once; peak is the index of the peak, -1 if unknown
 */
export function totalLine(report) {
    const end = report.process.elapsed_ns / 1e9, known = new Map([[0, 0]]);
    for (const one of report.timeline || [])
        known.set(one.elapsed_ns / 1e9, one.live_bytes);
    known.set(Math.max(end, ...known.keys()), report.totals.live_bytes);
    const peak = peakSecond(report, [...known.keys()].sort((a, b) => a - b));
    if (peak !== null)
        known.set(peak, report.totals.peak_bytes);
    const times = [...known.keys()].sort((a, b) => a - b);
    return {times, values: times.map((time) => known.get(time)), peak: times.indexOf(peak)};
}

/* Return the time of the peak. The recorder's clock has ticks, and other points in the tick of the
 * peak are not the peak. In that case the peak is drawn a little later, before the next point. */
function peakSecond({totals}, times) {
    if (!(totals.peak_elapsed_ns > 0))
        return null;
    const second = totals.peak_elapsed_ns / 1e9, place = times.indexOf(second);
    if (place < 0)
        return second;
    const next = times[place + 1] ?? second + 0.002, last = times[times.length - 1];
    return place + 1 === times.length ? (times[place - 1] + second) / 2
        : Math.min((second + next) / 2, second + last / 100);
}

/**
 * Return the data of the curve, by slot, at every time of the total. SERIES has the values at the
 * profile's points, and PEAKS the values at the peak. Between two of these moments, values are
 * interpolated and scaled to the counted total.
 * @returns {{times: number[], values: Float64Array[], stops: {place: number,
 *     point: number|null}[]}} stops are the moments with known parts; point null = the peak
 */
export function drawnSeries(profile, series, peaks) {
    const line = totalLine(profile.report), known = new Map();
    profile.points.forEach(({elapsed_ns: ns}, point) => known.set(ns / 1e9, {point,
        parts: series.map((values) => values[point])}));
    if (line.peak >= 0)
        known.set(line.times[line.peak], {point: null, parts: peaks});
    const totals = new Map(line.times.map((time, i) => [time, line.values[i]]));
    const times = [...new Set([...line.times, ...known.keys()])].sort((a, b) => a - b);
    const values = series.map(() => new Float64Array(times.length)), stops = [];
    const moments = [...known.keys()].sort((a, b) => a - b);
    let next = 0;
    times.forEach((time, place) => {
        while (moments[next] < time && next < moments.length - 1)
            next++;
        const here = known.get(time);
        if (here)
            stops.push({place, point: here.point});
        const parts = here ? here.parts : between(time, moments[Math.max(0, next - 1)],
            moments[next], known, totals.get(time));
        parts.forEach((value, slot) => {
            values[slot][place] = value;
        });
    });
    return {times, values, stops};
}

/* Return the values at TIME between two moments, scaled so that they sum to TOTAL. */
function between(time, before, after, known, total) {
    const share = after > before ? Math.min(1, Math.max(0, (time - before) / (after - before))) : 0;
    const from = known.get(before).parts, to = known.get(after).parts;
    const parts = from.map((value, slot) => value + share * (to[slot] - value));
    const sum = parts.reduce((all, value) => all + value, 0);
    if (sum <= 0 || total === undefined)
        return total === undefined ? parts
            : parts.map((_, slot) => (slot === parts.length - 1 ? total : 0));
    return parts.map((value) => value * total / sum);
}

/**
 * Return the totals of two profiles, each from its own start, as lines for Curve.
 * @returns {{times: number[], stops: object[], series: object[]}}
 */
export function twoLines(before, after) {
    const lines = [before, after].map(totalLine);
    const times = [...new Set(lines.flatMap((line) => line.times))].sort((a, b) => a - b);
    const series = lines.map((line, i) => ({name: i ? 'after' : 'before', isLine: true,
        colour: i ? '--s0' : '--muted', values: Float64Array.from(times, valueAt(line))}));
    return {times, series, stops: times.map((_, place) => ({place, point: null}))};
}

/* Return the value of LINE at ascending times: interpolated between known moments, and NaN after
 * the end. */
function valueAt({times, values}) {
    let next = 0;
    return (time) => {
        while (next < times.length && times[next] < time)
            next++;
        if (next === times.length)
            return NaN;
        if (times[next] === time || next === 0)
            return values[next];
        const share = (time - times[next - 1]) / (times[next] - times[next - 1]);
        return values[next - 1] + share * (values[next] - values[next - 1]);
    };
}

function isCollection(point) {
    return point.collections > 0 && (point.name || '').match(/^collection \d+$/) !== null;
}

/** Return the times, in seconds, of the garbage collections in POINTS, for Curve. */
export function collectionSeconds(points) {
    return points.filter((point, i) => i > 0 && point.kind !== 'end'
        && point.collections > points[i - 1].collections).map((point) => point.elapsed_ns / 1e9);
}

/** Return the named moments, except collections, for Curve. They are distributed over rows so that
 * neighbours do not overlap. */
export function namedMarks(points, limit = 30) {
    const named = points.filter((point) => point.name && point.kind !== 'start'
        && point.kind !== 'end' && !isCollection(point)).slice(0, limit);
    return named.map((point, i) => ({second: point.elapsed_ns / 1e9,
        name: point.name.length > 24 ? `${point.name.slice(0, 23)}…` : point.name, row: i % 3}));
}
