/* app.jsx: show the view that the page's address selects, with its numbers.
 *
 *     address ─► metric, extent ─► values by site ─► the view's groups, tree, curve
 *
 * Each value is computed where it is needed, and cached until its inputs change, so a click costs
 * one pass over the sites. Parameters that do not exist in this profile are ignored: a link with a
 * moment of another profile shows the whole run. */
import {useEffect, useMemo} from 'preact/hooks';
import {siteValues, totals, WHOLE} from '../model/extent.js';
import {firstMetric, isKnown, METRICS} from '../model/metric.js';
import {buildProfile} from '../model/profile.js';
import {indexIn} from './address.js';
import {Direct, Calls} from './mprof.jsx';
import {FlameView} from './flame_view.jsx';
import {FunctionPage} from './function_page.jsx';
import {Guard} from './guard.jsx';
import {Leaks} from './leaks.jsx';
import {useTheme} from './media.js';
import {Overview} from './overview.jsx';
import {Recording} from './recording.jsx';
import {Shared, useRoute} from './route.js';
import {Shell} from './shell.jsx';
import {Sizes} from './sizes.jsx';
import {Source} from './source.jsx';
import {TableView} from './table_view.jsx';
import {Time} from './time.jsx';
import {warm} from './warm.js';

const SHOWS = {overview: Overview, table: TableView, flame: FlameView, time: Time,
    function: FunctionPage, sizes: Sizes, leaks: Leaks, direct: Direct, calls: Calls,
    source: Source, recording: Recording};

function extentOf(profile, {at, from, to}) {
    const limit = profile.points.length;
    const point = indexIn(at, limit), first = indexIn(from, limit), last = indexIn(to, limit);
    if (at === 'peak' && profile.sites.columns.peak_bytes)
        return {kind: 'peak'};
    if (point !== null)
        return {kind: 'at', point};
    if (first !== null && last !== null && first < last)
        return {kind: 'between', from: first, to: last};
    return WHOLE;
}

function metricIn(profile, extent, key) {
    const asked = METRICS.find((metric) => metric.key === key)
        || (extent.kind === 'whole'
            && METRICS.find((metric) => metric.option === profile.report.metric));
    return asked && isKnown(profile, asked, extent) ? asked : firstMetric(profile, extent);
}

/* Return the total of each known metric. For two profiles, `before` has the first profile's
 * totals. */
function sumsOf(profile, extent) {
    const sums = {before: {}};
    for (const metric of METRICS) {
        const known = isKnown(profile, metric, extent);
        const both = known ? totals(siteValues(profile, metric, extent)) : {};
        sums[metric.key] = known ? both.after : null;
        sums.before[metric.key] = known ? both.before : null;
    }
    return sums;
}

/* Return the views without data in this profile. */
function hiddenViews(page, profile) {
    const hidden = new Set();
    if (page.sources.length === 0)
        hidden.add('source');
    if (profile.points.length === 0 && !(page.report.timeline || []).length)
        hidden.add('time');
    if (!page.sizes)
        hidden.add('sizes');
    if (!page.leaks)
        hidden.add('leaks');
    return hidden;
}

export function App({page}) {
    const profile = useMemo(() => buildProfile(page), [page]);
    const route = useRoute(), theme = useTheme(), {state} = route;
    const extent = useMemo(() => extentOf(profile, state),
        [profile, state.at, state.from, state.to]);
    const metric = metricIn(profile, extent, state.metric);
    const values = useMemo(() => siteValues(profile, metric, extent), [profile, metric, extent]);
    useEffect(() => warm(profile, values), [profile]);
    const sums = useMemo(() => sumsOf(profile, extent), [profile, extent]);
    const sources = useMemo(() => new Map(page.sources.map((source) =>
        [profile.of.file[source.file], source.text])), [profile]);
    const hidden = useMemo(() => hiddenViews(page, profile), [profile]);
    const shared = {page, profile, ...route, theme, extent, metric, values, sums, sources, hidden,
        compares: profile.before !== null};
    const Show = SHOWS[state.view] || Overview;
    return (
        <Shared.Provider value={shared}>
            <Shell><Guard key={state.view}><Show /></Guard></Shell>
        </Shared.Provider>);
}
