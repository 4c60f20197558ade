/* shell.jsx: the elements around every view: the header, and the choice of metric, time and view.
 *
 * The five totals are the first information, and also the choice of the metric for all views. For a
 * moment or a period they show the values of that time, and unknown ones cannot be chosen. The
 * recorder's losses have a separate line in every view. Damage of the file comes before everything
 * else. */
import {useEffect, useRef} from 'preact/hooks';
import {diesAtOnce, metricName, METRICS} from '../model/metric.js';
import {Help} from './help.jsx';
import {baseName, Text, visible} from './name.jsx';
import {elsewhere, formatRoute, useShared} from './route.js';
import {endOf, freesAtEnds} from './ends.js';
import {WRONG, lossesIn} from './losses.js';
import {amount, bytes, count, duration, growth, moment, percent, plural} from './units.js';

const TABS = [
    ['overview', 'Overview'], ['table', 'Table'], ['flame', 'Flame graph'], ['time', 'Time'],
    ['sizes', 'Sizes'], ['leaks', 'Leaks'], ['direct', 'Direct'], ['calls', 'Call graph'],
    ['source', 'Source'], ['recording', 'Recording']];
const PARENTS = {function: 'table', site: 'table'};

/* Return the command of REPORT for the title, where the directory of the program would take the
 * place of the arguments. */
function commandOf(report) {
    const {process, merged} = report;
    if (merged && !process.command)
        return `${plural(merged.processes, 'process')} of ${merged.programs.map((one) =>
            baseName(one.executable || '?')).slice(0, 4).join(', ')}`;
    return (process.command || process.executable || 'a program')
        .replace(/^(?:[^ ]*\/)?([^ /]+)/, '$1');
}

/* Return the recording mode: "exact", or the method of choosing blocks. */
export function waysText(report) {
    const ways = [...new Set(report.phases.map(({mode, period}) => ({
        exact: 'exact', off: 'in part off', bytes: `a sample for each ${bytes(period)}`,
        count: `a sample for each ${plural(period, 'call')}`})[mode] || mode))];
    const callers = report.process.callers_period;
    const most = report.phases.length > 1 ? 'up to ' : '';

    if (callers)
        ways.push(`callers of one call in ${most}${count(callers)}, whose numbers are estimates`);
    return ways.join(', ') || 'exact';
}

export function isEstimate(report) {
    return report.phases.some((phase) => phase.mode !== 'exact');
}

function About({report}) {
    const {process} = report;
    return (
        <p class="about">
            {process.pid ? <span>pid {process.pid}</span> : null}
            <span>{moment(process.start_unix_ns)}</span>
            <span>ran {duration(process.elapsed_ns)}
                {process.ended === false ? ' so far' : ''}{endOf(process)}</span>
            {report.merged && <span>sum of {plural(report.merged.processes, 'process')}
                {freesAtEnds(report) ? '; blocks of ended ones count as freed' : ''}</span>}
            <span>{waysText(report)}{isEstimate(report) ? ': numbers are estimates' : ''}</span>
        </p>);
}

function Title({report, before, theme, onHelp}) {
    return (
        <div class="wide">
            <div class="title">
                <span class="logo">heaptap</span>
                <h1>{before && <span class="muted">compared: </span>}
                    <Text text={commandOf(report)} /></h1>
                <span class="tools">
                    <button type="button" class="button icon" onClick={theme.toggle}
                        aria-label={theme.dark ? 'light colours' : 'dark colours'}
                        title={theme.dark ? 'Light colours' : 'Dark colours'}>
                        {theme.dark ? '☀' : '☾'}</button>
                    <button type="button" class="button icon" onClick={onHelp}
                        aria-label="help: keys and views" title="Help (?)">?</button>
                </span>
            </div>
            {before && <p class="about"><span>before: <Text text={commandOf(before)} />,{' '}
                {moment(before.process.start_unix_ns)}, ran{' '}
                {duration(before.process.elapsed_ns)}, {waysText(before)}{isEstimate(before)
                    ? ': numbers are estimates' : ''}</span></p>}
            <About report={report} />
        </div>);
}

/* Return the losses that make numbers wrong; the view "Recording" has all counts. */
export function lossesOf(report) {
    const told = lossesIn(WRONG, report.losses).map(({number, text}) => `${count(number)} ${text}`);
    if (report.losses.file_failed)
        told.push('the file could not be written to its end');
    // Damage has a separate line; the notes about damage are details.
    for (const note of report.notes)
        if (note.kind !== 'other' && !(report.damage && note.kind === 'damaged-file'))
            told.push(note.text.split('\n')[0]);
    return told;
}

function Losses({report, before}) {
    const {state} = useShared();
    const told = [...(before ? lossesOf(before).map((text) => `before: ${text}`) : []),
        ...lossesOf(report)];
    return told.length > 0 && (
        <div class="losses" role="note">
            <div class="wide">
                <b>Not all was recorded:</b> <Text text={told.join('; ')} />.{' '}
                <a href={formatRoute(elsewhere(state, 'recording'))}>What was lost</a>
            </div>
        </div>);
}

/* Show the reason why a profile's numbers are unreliable. */
function Damage({report, before}) {
    const sides = before ? [['The first profile', before], ['The second profile', report]]
        : [['This profile', report]];
    const damaged = sides.filter(([, side]) => side.damage);
    return damaged.length > 0 && (
        <div class="damage" role="note">
            {damaged.map(([name, side]) => (
                <div class="wide" key={name}><b>Damaged:</b> {name} <Text text={side.damage} />;
                    {' '}its numbers are incomplete or wrong.</div>))}
        </div>);
}

/* Return the filter with which the page was made, in the command's words; '' = none. */
export function filterText(filter) {
    const {stacks, heap, label} = filter || {};
    return [stacks && `stacks that match ${stacks}`, heap && `blocks of the heap ${heap}`,
        label && `blocks with the label ${label}`].filter(Boolean).join(', ');
}

function Filtered({filter}) {
    const text = filterText(filter);
    return text !== '' && (
        <div class="losses" role="note">
            <div class="wide">This page is of a part of the profile: <b>only{' '}
                <Text text={text} /></b>.</div>
        </div>);
}

/* Return further details below a total. */
function moreOf(metric, extent, sums, totals) {
    if (extent.kind === 'whole') {
        if (metric.key === 'live')
            return plural(totals.live_blocks, 'block');
        if (metric.key === 'peak')
            return !totals.peak_elapsed_ns ? plural(totals.peak_blocks, 'block')
                : `after ${duration(totals.peak_elapsed_ns)}`;
        if (metric.key === 'short')
            return totals.allocations > 0 ? `${percent(sums.short, totals.allocations)} of all`
                : '\u00a0';
    }
    if (metric.key === 'allocated' && sums.calls)
        return `${bytes(sums.allocated / sums.calls)} each`;
    return '\u00a0';
}

const TITLES = {live: 'Still live at end', peak: 'At the peak', allocated: 'Allocated',
    short: 'Short-lived blocks', calls: 'Allocations'};

/* Return the report's titles of the short-lived blocks of a sample, and of live bytes of a process
 * that may still run. */
function wholeTitle(metric, profile) {
    if (metric.key === 'short' && diesAtOnce(profile))
        return 'Temporary blocks';
    return metric.key === 'live' && profile.report.process.ended === false ? 'Live now'
        : TITLES[metric.key];
}

function tileTitle(metric, extent, profile) {
    if (extent.kind === 'between')
        return {live: 'Growth'}[metric.key] || TITLES[metric.key];
    if (extent.kind !== 'whole')
        return {live: 'Live', allocated: 'Allocated by then',
            calls: 'Allocations by then'}[metric.key] || TITLES[metric.key];
    return wholeTitle(metric, profile);
}

/* Show the 95 % interval of an estimate; nothing for an exact number. */
function Interval({metric, totals}) {
    const low = totals[`${metric.column}_low`], high = totals[`${metric.column}_high`];
    if (low === undefined || low === null || low === high)
        return null;
    return <span title="95 % interval">{amount(low, metric.unit)} to{' '}
        {amount(high, metric.unit)}</span>;
}

function Tile({metric, extent, sums, totals}) {
    const {profile, state, go, metric: chosen, compares} = useShared();
    const value = sums[metric.key];
    const known = value !== null && value !== undefined;
    const grown = compares && known ? value - sums.before[metric.key] : null;
    const interval = extent.kind === 'whole' ? Interval({metric, totals}) : null;
    return (
        <button type="button" class="tile" disabled={!known}
            aria-pressed={chosen.key === metric.key}
            title={`Count ${metricName(metric, extent)} in all views`}
            onClick={() => go({...state, metric: metric.key, sort: undefined, dir: undefined})}>
            <span class="what">{tileTitle(metric, extent, profile)}</span>
            <span class="much">{compares && known
                ? <span class={grown > 0 ? 'up' : grown < 0 ? 'down' : ''}>
                    {growth(grown, metric.unit)}</span>
                : extent.kind === 'between' && metric.key === 'live' && known
                    ? growth(value, metric.unit) : amount(value, metric.unit)}</span>
            <span class="more">{!known ? 'not known of this time'
                : compares ? `${amount(sums.before[metric.key], metric.unit)} → ${
                    amount(value, metric.unit)}`
                    : interval || moreOf(metric, extent, sums, totals)}</span>
        </button>);
}

export function extentText(profile, extent) {
    const told = (point) => {
        const {elapsed_ns: ns, name} = profile.points[point];
        return name ? `${visible(name)} (${duration(ns)})` : duration(ns);
    };
    switch (extent.kind) {
    case 'at': return `at ${told(extent.point)}`;
    case 'between': return `from ${told(extent.from)} to ${told(extent.to)}`;
    case 'peak': return 'at the peak';
    default: return 'the whole run';
    }
}

function ExtentChip() {
    const {profile, extent, state, go} = useShared();
    if (extent.kind === 'whole')
        return null;
    return (
        <div class="chips" role="status">
            <div class="wide">
                <span>All numbers are those <b>{extentText(profile, extent)}</b></span>
                <button type="button" class="button" onClick={() =>
                    go({...state, at: undefined, from: undefined, to: undefined})}>
                    Whole run</button>
            </div>
        </div>);
}

function Search() {
    const {state, go, replace} = useShared();
    const input = useRef(null);
    const used = ['table', 'flame', 'leaks', 'direct', 'calls', 'sizes'].includes(state.view);
    useEffect(() => {
        const key = (event) => {
            if (event.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)
                && !event.ctrlKey && !event.metaKey) {
                event.preventDefault();
                input.current.select();
            }
        };
        addEventListener('keydown', key);
        return () => removeEventListener('keydown', key);
    }, []);
    return (
        <form class="search" role="search" onSubmit={(event) => {
            event.preventDefault();
            if (!used)
                go(elsewhere(state, 'table', {by: 'function', q: input.current.value}));
        }}>
            <input ref={input} type="search" aria-label="Search functions, files and types"
                placeholder="Search" value={state.q || ''} autocomplete="off" spellcheck={false}
                onInput={(event) => used
                    && replace({...state, q: event.target.value || undefined})}
                onKeyDown={(event) => event.key === 'Escape' && event.target.blur()} />
            {!state.q && <kbd aria-hidden="true">/</kbd>}
        </form>);
}

/* On a phone the tabs scroll, so the current tab is scrolled into view. */
function Tabs() {
    const {state, hidden} = useShared(), bar = useRef(null);
    const current = PARENTS[state.view] || state.view;
    useEffect(() => {
        const tab = bar.current.querySelector('[aria-current]');
        if (tab)
            bar.current.scrollLeft = tab.offsetLeft - bar.current.offsetLeft - 40;
    }, [current]);
    return (
        <nav class="tabs" aria-label="Views" ref={bar}>
            {TABS.filter(([view]) => !hidden.has(view)).map(([view, title]) => (
                <a key={view} href={formatRoute(elsewhere(state, view, {q: state.q}))}
                    aria-current={view === current ? 'page' : undefined}>{title}</a>))}
        </nav>);
}

/* Handle keys: digits select views by position, "?" opens the help. */
function useKeys(help) {
    const {state, go, hidden, theme} = useShared();
    useEffect(() => {
        const key = (event) => {
            if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey
                || event.metaKey || event.altKey)
                return;
            const views = TABS.filter(([view]) => !hidden.has(view));
            const place = '1234567890'.indexOf(event.key);
            if (event.key === '?')
                help.current.open ? help.current.close() : help.current.showModal();
            else if (help.current.open)
                return; // While the dialog is open, keys must not reach the page behind it; the
                        // mouse cannot either.
            else if (event.key === 't')
                theme.toggle();
            else if (event.key === 'w')
                go({...state, at: undefined, from: undefined, to: undefined});
            else if (event.key !== '' && views[place])
                go(elsewhere(state, views[place][0], {q: state.q}));
        };
        addEventListener('keydown', key);
        return () => removeEventListener('keydown', key);
    });
}

export function Shell({children}) {
    const {page, profile, extent, sums, theme, state} = useShared();
    const help = useRef(null), main = useRef(null);
    useKeys(help);
    useEffect(() => {
        document.title = `${visible(commandOf(profile.report)).slice(0, 80)} – heaptap`;
    }, [profile]);
    const seen = useRef(state.view);
    useEffect(() => {
        if (seen.current !== state.view) {
            scrollTo(0, 0);
            main.current.focus({preventScroll: true});
        }
        seen.current = state.view;
    }, [state.view]);
    return (
        <>
            <header class="head">
                <Damage report={profile.report} before={profile.before} />
                <Title report={profile.report} before={profile.before} theme={theme}
                    onHelp={() => help.current.showModal()} />
                <div class={`wide tiles${profile.before ? ' compares' : ''}`} role="group"
                    aria-label="What is counted">
                    {METRICS.map((metric) => <Tile key={metric.key} metric={metric} extent={extent}
                        sums={sums} totals={profile.report.totals} />)}
                </div>
                <Filtered filter={page.filter} />
                <Losses report={profile.report} before={profile.before} />
            </header>
            <div class="bar-row">
                <div class="wide"><Tabs /><Search /></div>
                <ExtentChip />
            </div>
            <main class="wide" ref={main} tabIndex={-1}>{children}</main>
            <Help dialog={help} />
        </>);
}
