/* series.js: values over time, such as the curve of live bytes, for any grouping of sites.
 *
 * The history has each site's growth between two points, so a curve is a running sum of changes;
 * one pass computes it for all groups. A group is given as a number for each site; sites with -1
 * are omitted. To show everything, a caller numbers the largest groups and puts all other sites
 * into one more group. */

/* By kind of series: the column that is added, and the column that is subtracted. */
const COLUMNS_OF = {live: ['allocated_bytes', 'freed_bytes'], allocated: ['allocated_bytes', null],
    calls: ['allocations', null], blocks: ['allocations', 'frees']};

/**
 * @param {import('./profile.js').Profile} profile one with a history
 * @param {Int32Array} groupOfSite by site: 0 to count - 1, or -1
 * @param {number} count
 * @param {'live'|'allocated'|'calls'|'blocks'} [what] live bytes or blocks at each point, or bytes
 *     or calls allocated up to it
 * @returns {Float64Array[]|null} by group, a value for each of profile.points; null without history
 */
export function series(profile, groupOfSite, count, what = 'live') {
    const {changes, points} = profile, [added, taken] = COLUMNS_OF[what];

    if (!changes)
        return null;
    const rows = Array.from({length: count}, () => new Float64Array(points.length));
    const plus = changes[added], minus = taken && changes[taken];

    for (let i = 0; i < changes.count; i++) {
        const group = groupOfSite[changes.site[i]];

        if (group >= 0)
            rows[group][changes.point[i]] += minus ? plus[i] - minus[i] : plus[i];
    }
    for (const row of rows)
        for (let i = 1; i < row.length; i++)
            row[i] += row[i - 1];
    return rows;
}

/**
 * Return the series of the largest groups, and of all others as one group, for a stacked picture.
 * @param {import('./profile.js').Profile} profile
 * @param {Int32Array} keyOfSite see groups.js, keyOfSites
 * @param {number} keys number of keys
 * @param {number} most number of groups shown separately
 * @param {'live'|'allocated'|'calls'|'blocks'} [what]
 * @returns {{keys: number[], rows: Float64Array[], rest: Float64Array, total: Float64Array}|null}
 *     largest first, by the largest value at any point; null without history
 */
export function stackedSeries(profile, keyOfSite, keys, most, what = 'live') {
    const first = rank(profile, keyOfSite, keys, what);

    if (!first)
        return null;
    const chosen = first.slice(0, most), slot = new Int32Array(keys).fill(chosen.length);

    chosen.forEach((key, i) => {
        slot[key] = i;
    });
    const of = keyOfSite.map((key) => key >= 0 ? slot[key] : chosen.length);
    const rows = series(profile, of, chosen.length + 1, what);
    const rest = rows.pop(), total = rest.slice();

    for (const row of rows)
        row.forEach((value, i) => {
            total[i] += value;
        });
    return {keys: chosen, rows, rest, total};
}

/* Return the keys by their largest value at any point, largest first. One pass over the points
 * serves all keys. */
function rank(profile, keyOfSite, keys, what) {
    const {changes} = profile, [added, taken] = COLUMNS_OF[what];

    if (!changes)
        return null;
    const plus = changes[added], minus = taken && changes[taken];
    const now = new Float64Array(keys), most = new Float64Array(keys);
    let touched = [];
    const settle = () => {
        for (const key of touched)
            if (now[key] > most[key])
                most[key] = now[key];
        touched = [];
    };

    for (let i = 0; i < changes.count; i++) {
        const key = keyOfSite[changes.site[i]];

        if (i > 0 && changes.point[i] !== changes.point[i - 1])
            settle();
        if (key < 0)
            continue;
        now[key] += minus ? plus[i] - minus[i] : plus[i];
        touched.push(key);
    }
    settle();
    return Array.from(most.keys()).filter((key) => most[key] > 0)
        .sort((x, y) => most[y] - most[x] || x - y);
}
