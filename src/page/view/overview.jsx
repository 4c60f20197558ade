/* overview.jsx: the first screen: the holders of memory, in one sentence and one picture.
 *
 * Developers send it to colleagues, so it must be understandable without any other view. The
 * sentence names the largest holders with their shares. The picture shows them over time, in the
 * colours of the table below it. A list of steadily growing holders follows. */
import {useMemo} from 'preact/hooks';
import {siteValues} from '../model/extent.js';
import {group} from '../model/groups.js';
import {diesAtOnce, metricName, METRICS} from '../model/metric.js';
import {Growth, HolderBar, HolderCurve, HolderPlace, HolderTable, useHolders} from './holders.jsx';
import {KeyName} from './keys.jsx';
import {useMedia} from './media.js';
import {baseName, FunctionName, NameKey, Place, Room, visible} from './name.jsx';
import {areDifferentPrograms} from './name_text.js';
import {elsewhere, formatRoute, useShared} from './route.js';
import {extentText, isEstimate} from './shell.jsx';
import {amount, bytes, count, duration, growth, noun, percent, plural} from './units.js';

const NAMED = 3; // Number of holders in the sentence.
const WORTH_NAMING = 0.03; // Minimum share of the total for the sentence; less is noise.
const NEWS = 5;
const OTHERS = 3; // Number of holders for each other metric.
const WORTH_A_HINT = 0.2; // Minimum share of the total in one module's functions without names.

/* Return true if the profile has no end of the process: it still runs, or it was killed. */
function running(profile) {
    return profile.report.process.ended === false;
}

/* Show the first sentence: "6.0 MiB were live at the peak, after 84 ms". */
function Opening() {
    const {profile, metric, extent, sums} = useShared(), {totals, merged} = profile.report;
    const told = extentText(profile, extent);
    const value = <>{isEstimate(profile.report) ? 'about ' : ''}
        <b>{amount(sums[metric.key], metric.unit)}</b></>;
    const time = extent.kind === 'whole' ? '' : `, ${told}`;
    switch (metric.key) {
    case 'peak':
        if (merged)
            return <>At their peaks, {plural(merged.processes, 'process')} together had{' '}
                {value} live in {plural(totals.peak_blocks, 'block')}</>;
        return <>At the peak{totals.peak_elapsed_ns ? `, after ${
            duration(totals.peak_elapsed_ns)},` : ''} {value} were live in{' '}
        {plural(totals.peak_blocks, 'block')}</>;
    case 'live':
        if (extent.kind === 'between')
            return <>{told.replace('from', 'From')}, live memory changed by{' '}
                <b>{growth(sums.live, 'bytes')}</b></>;
        return extent.kind === 'whole'
            ? <>{running(profile) ? 'Now' : 'At the end'}, {value} are still live in{' '}
                {plural(totals.live_blocks, 'block')}</>
            : <>{value} were live {told}</>;
    case 'allocated':
        return <>{value} were allocated in {plural(sums.calls, 'call')}{time}</>;
    case 'calls':
        return <>{value} {noun(sums.calls, 'allocation')} of {bytes(sums.allocated)} in
            all{time}</>;
    default:
        return <>{value} {noun(sums.short, 'block')} {sums.short === 1 ? 'was' : 'were'}{' '}
            {diesAtOnce(profile) ? 'temporary' : 'short-lived'},{' '}
            {percent(sums.short, totals.allocations)} of all: freed before {diesAtOnce(profile)
                ? 'the next was' : '16 more were'} allocated</>;
    }
}

const VERBS = {live: 'held by', peak: 'held by', allocated: 'by', calls: 'by', short: 'by'};

function Named({holders, whole, verb}) {
    const {group: own, rows} = holders;
    const named = rows.slice(0, NAMED).filter((key, i) => i === 0
        || Math.abs(own.total[key]) >= WORTH_NAMING * Math.abs(whole));
    return named.map((key, i) => (
        <span key={key}>{i > 0 ? ', ' : ''}<b>{percent(own.total[key], whole)}</b>{' '}
            {i === 0 ? `${verb} ` : 'by '}
            <KeyName group={own} i={key} brief />
            {i === 0 && <Where holders={holders} i={key} />}</span>));
}

/* Show the line with most of the largest holder's memory. */
function Where({holders, i}) {
    return holders.lines && holders.lines.frame[i] >= 0
        && <> (<HolderPlace holders={holders} i={i} />)</>;
}

/* Return the reason why there is no data. */
function emptyText({report, filter}) {
    if (filter)
        return 'Nothing in the profile is of this part.';
    if (report.damage)
        return 'What is left of the profile has no allocations.';
    return isEstimate(report)
        ? 'No block was chosen as a sample, so nothing is known of what was allocated.'
        : 'Nothing was recorded: no call that allocates was seen.';
}

/* Return text for a profile that has data, but not for this metric or time. */
function nothingText(profile, metric, extent) {
    const when = extent.kind === 'whole' ? '' : ` ${extentText(profile, extent)}`;
    switch (metric.key) {
    case 'live':
        if (extent.kind === 'between')
            return `Live memory did not change${when}`;
        return extent.kind !== 'whole' ? `Nothing was live${when}`
            : `Nothing is live ${running(profile) ? 'now' : 'at the end'}`;
    case 'peak': return 'Nothing was live at the peak';
    case 'short': return `No block was ${diesAtOnce(profile) ? 'temporary' : 'short-lived'}`;
    default: return `Nothing was allocated${when}`;
    }
}

function Sentence({holders}) {
    const {page, profile, metric, extent, sums} = useShared();
    const whole = sums[metric.key], {totals} = profile.report;
    if (holders.rows.length === 0)
        return <p class="headline">{profile.sites.count === 0 ? emptyText(page)
            : `${nothingText(profile, metric, extent)}.`}</p>;
    const rest = metric.key === 'peak' && extent.kind === 'whole';
    return (
        <p class="headline">
            <Opening />
            {whole > 0 && <>: <Named holders={holders} whole={whole}
                verb={VERBS[metric.key]} /></>}.
            {rest && <span class="also"> {running(profile) ? 'Now' : 'At the end'}{' '}
                {totals.live_bytes > 0 ? `${bytes(totals.live_bytes)} are still live.`
                    : 'all of it is freed.'}</span>}
        </p>);
}

const CHANGED = {live: 'What is live at the end', peak: 'The peak',
    allocated: 'What is allocated', calls: 'The number of allocations',
    short: 'The number of short-lived blocks'};

/* Show the sentence about growth and decline, for two profiles. */
function ChangeSentence({holders}) {
    const {profile, metric, sums} = useShared();
    const {group: own, rows} = holders, before = sums.before[metric.key], now = sums[metric.key];
    const change = (key) => own.total[key] - own.totalBefore[key];
    const named = rows.filter((key) => change(key) !== 0).slice(0, NAMED);
    const name = metric.key === 'short' && diesAtOnce(profile)
        ? 'The number of temporary blocks' : CHANGED[metric.key];
    if (now === before && named.length === 0)
        return <p class="headline">{name} is the same in both profiles:{' '}
            <b>{amount(now, metric.unit)}</b>.</p>;
    return (
        <p class="headline">
            {name} {now > before ? 'grew' : now < before ? 'shrank' : 'stayed the same'}
            {now !== before && <> by <b class={now > before ? 'up' : 'down'}>
                {amount(Math.abs(now - before), metric.unit)}</b></>}
            , from {amount(before, metric.unit)} to <b>{amount(now, metric.unit)}</b>
            {named.map((key, i) => (
                <span key={key}>{i === 0 ? ': ' : ', '}
                    <b><Growth value={change(key)} unit={metric.unit} /></b> {i === 0
                        ? VERBS[metric.key] : 'by'}{' '}
                    <FunctionName id={own.keys.function[key]} brief /></span>))}.
            {areDifferentPrograms(profile.before.process.executable,
                profile.report.process.executable)
                && <span class="also"> These are profiles of different programs.</span>}
            {[profile.before, profile.report].some(isEstimate) && <span class="also"> These are
                estimates: <code>heaptap diff</code> says in which range the growth lies.</span>}
        </p>);
}

/* Show the holders that grow until the end: a leak, or a cache without a limit. */
function News() {
    const {profile, state} = useShared();
    const growing = (profile.report.growing || []).filter((row) => row.news !== false);
    if (growing.length === 0)
        return null;
    const {tables, sites} = profile.report;
    const place = (row) => {
        const frame = sites.own?.[row.site];
        const known = frame !== null && frame !== undefined;
        return {fn: known ? profile.frames.function[profile.of.frame[frame]] : null,
            file: known && tables.frames.file[frame] !== null
                ? profile.of.file[tables.frames.file[frame]] : -1,
            line: known ? tables.frames.line[frame] : 0};
    };
    return (
        <section class="news" aria-label="What grows to the end">
            <b>Growing to the end:</b>
            <ul>
                {growing.slice(0, NEWS).map((row) => {
                    const {fn, file, line} = place(row);
                    return <li key={row.number}>{growth(row.per_minute, 'bytes')} a minute,{' '}
                        stack #{row.number}, <FunctionName id={fn} brief placed />{' '}
                        <Place file={file} line={line} />{row.freed && ', freed at the end'}</li>;
                })}
            </ul>
            {growing.length > NEWS && <a href={formatRoute(elsewhere(state, 'time',
                {by: 'site'}))}>and {plural(growing.length - NEWS, 'more stack')}</a>}
        </section>);
}

/* Show the holders by the other metrics: the largest holder often is not the function with most
 * churn. */
function Otherwise() {
    const {profile, metric, extent, sums, state} = useShared();
    const lines = useMemo(() => METRICS
        .filter((other) => other !== metric && sums[other.key] > 0)
        .map((other) => {
            const own = group(profile, siteValues(profile, other, extent), 'own', {fold: true});
            return {other, own, keys: own.order.filter((key, i) => i < OTHERS
                && own.total[key] >= WORTH_NAMING * sums[other.key])};
        }), [profile, metric, extent]);
    return lines.length > 0 && (
        <section class="panel">
            <h3>Counted otherwise</h3>
            <ul class="otherwise">
                {lines.map(({other, own, keys}) => (
                    <li key={other.key}>
                        <a href={formatRoute({...state, metric: other.key})}>
                            {metricName(other, extent)}</a>
                        <b>{amount(sums[other.key], other.unit)}</b>
                        <span>{Array.from(keys, (key, i) => (
                            <span key={key}>{i > 0 && ', '}<span class="whole">{percent(
                                own.total[key], sums[other.key])}</span>{' '}
                                <KeyName group={own} i={key} brief /></span>))}</span>
                    </li>))}
            </ul>
        </section>);
}

/* Show a hint about functions without names, which hide the holders; it suggests the known
 * remedy. */
function Nameless({holders: {group: own, rows}}) {
    const {profile, metric, sums} = useShared(), {functions, modules} = profile;
    const byModule = new Map();
    for (const key of rows)
        if (functions.nameless[own.keys.function[key]]) {
            const module = functions.module[own.keys.function[key]];
            byModule.set(module, (byModule.get(module) || 0) + own.total[key]);
        }
    const [module, most] = [...byModule].sort((a, b) => b[1] - a[1])[0] || [-1, 0];
    return module >= 0 && most >= WORTH_A_HINT * sums[metric.key] && (
        <p class="note">Functions of <bdi>{visible(baseName(modules.path[module]))}</bdi> with{' '}
            {percent(most, sums[metric.key])} of all have no names, because{' '}
            {modules.symbols[module] ? 'it is stripped' : 'its file was not there'}; with its debug
            file, <code>heaptap html --debug-dir</code> shows them.</p>);
}

const HINTS = [
    ['table', {by: 'function'}, 'All functions'], ['flame', {}, 'Flame graph'],
    ['leaks', {}, 'What was never freed'], ['sizes', {}, 'Sizes and types of blocks']];

function Hints() {
    const {state, hidden} = useShared();
    return (
        <nav class="controls" aria-label="Further">
            {HINTS.filter(([view]) => !hidden.has(view)).map(([view, changes, title]) => (
                <a key={view} class="button" href={formatRoute(elsewhere(state, view, changes))}>
                    {title}</a>))}
        </nav>);
}

/* The most letters of a name in a sentence, on a phone and elsewhere. */
const NARROW_ROOM = 34, WIDE_ROOM = 60;

export function Overview() {
    const {profile, extent, compares} = useShared();
    const narrow = useMedia('(max-width: 700px)');
    const holders = useHolders('own');
    const curve = profile.points.length > 1 || (profile.report.timeline || []).length > 1;
    return (
        <Room.Provider value={narrow ? NARROW_ROOM : WIDE_ROOM}>
            <h2 class="unseen">Overview</h2>
            {compares ? <ChangeSentence holders={holders} /> : <Sentence holders={holders} />}
            {!compares && <News />}
            {holders.rows.length > 0 && <section class="panel">
                {compares && curve && <p class="kinds">
                    <span><i class="mutedmark" />live before</span>
                    <span><i class="s0" />live after</span></p>}
                {curve ? <HolderCurve holders={holders} height={250} />
                    : !compares && <HolderBar holders={holders} />}
                <HolderTable holders={holders} limit={10} />
                <NameKey />
            </section>}
            {!compares && holders.rows.length > 0 && <Nameless holders={holders} />}
            {!compares && <Otherwise />}
            <Hints />
            {extent.kind === 'whole' && profile.changes && profile.sites.count > 0
                && <p class="note hint">Drag over the picture to see what a stretch of time
                    brought, or click for what was live at a moment.</p>}
        </Room.Provider>);
}
