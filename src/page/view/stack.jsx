/* stack.jsx: one stack with all frames and all numbers.
 *
 * If wrappers are folded, sites that differ only in wrappers share one row of the table, also
 * across the two profiles of a comparison. The numbers and frames belong to the row. */
import {useMemo} from 'preact/hooks';
import {siteValues} from '../model/extent.js';
import {keyOfSites, keysOf} from '../model/groups.js';
import {isKnown, metricName, METRICS} from '../model/metric.js';
import {SITE_BROKEN, SITE_GUESSED, SITE_OTHER, SITE_TRUNCATED} from '../model/profile.js';
import {shapeOf} from '../model/shape.js';
import {FunctionName, Place, Text} from './name.jsx';
import {elsewhere, formatRoute, useShared} from './route.js';
import {amount, count, growth, percent, plural} from './units.js';

const MANY_FRAMES = 200; // Maximum number of frames shown; longer stacks are recursions.

function sizesOf({size_min: least, size_max: most}, row) {
    const known = row.filter((site) => most[site] > 0);
    if (known.length === 0)
        return null;
    const from = Math.min(...known.map((site) => least[site]));
    const to = Math.max(...known.map((site) => most[site]));
    return from === to ? plural(to, 'byte') : `${count(from)} to ${count(to)} bytes`;
}

/* Return the frames of STACK, innermost first. */
export function framesOf(profile, stack) {
    const frames = [];
    for (let at = stack; at > 0; at = profile.stacks.parent[at])
        frames.push(profile.stacks.frame[at]);
    return frames;
}

function Frame({frame}) {
    const {profile: {frames}} = useShared();
    return (
        <li>
            <FunctionName id={frames.function[frame]} placed />
            <Place file={frames.file[frame]} line={frames.line[frame]} />
            {frames.inlined[frame] ? <span class="inlined">inlined</span> : null}
        </li>);
}

function flagsText(flags) {
    return [[SITE_TRUNCATED, 'deeper than the recorder follows: outer frames are missing'],
        [SITE_GUESSED, 'a frame was guessed, because no unwind information covers it'],
        [SITE_BROKEN, 'could not be followed to its outer end'],
        [SITE_OTHER, 'stands for stacks that no longer fitted into the recorder’s tree']]
        .filter(([flag]) => flags & flag).map(([, text]) => text);
}

/* Return the sums of VALUES over the sites of a row. */
function sumOf(values, sites) {
    return values && sites.reduce((sum, site) => sum + values[site], 0);
}

function Numbers({row}) {
    const {profile, extent, sums, compares} = useShared();
    return (
        <dl class="facts">
            {METRICS.filter((metric) => isKnown(profile, metric, extent)).map((metric) => {
                const values = siteValues(profile, metric, extent), {unit} = metric;
                const after = sumOf(values.after, row), before = sumOf(values.before, row);
                return [<dt key={metric.key}>{metricName(metric, extent)}</dt>,
                    <dd key={`${metric.key}=`}>
                        {compares && `${amount(before, unit)} → `}
                        {amount(after, unit)}{' '}
                        {compares && `(${growth(after - before, unit)})`}
                        {!compares && <span class="muted">
                            {percent(after, sums[metric.key])}</span>}
                    </dd>];
            })}
        </dl>);
}

/** Return the row of the table of stacks that contains SITE: {key, keys, sites}. */
export function rowOfSite(profile, site, fold) {
    const shape = shapeOf(profile, {fold}), of = keyOfSites(shape, 'site'), key = of[site];
    const sites = [];
    of.forEach((other, i) => other === key && sites.push(i));
    return {key, keys: keysOf(shape, 'site'), sites};
}

export function StackPanel({site, fold, onClose}) {
    const {profile, state} = useShared();
    const {sites} = profile, {columns} = sites;
    const {key, keys, sites: row} = useMemo(() => rowOfSite(profile, site, fold),
        [profile, site, fold]);
    const frames = framesOf(profile, keys.stack[key]);
    const labels = profile.labels[sites.labels[site]];
    const heap = profile.heaps[sites.heap[site]];
    const sizes = columns.size_max && sizesOf(columns, row);
    return (
        <aside class="panel" aria-label="A stack">
            {onClose && <button type="button" class="button close" onClick={onClose}
                aria-label="close the stack">Close</button>}
            <h3>Stack {keys.number[key] ? `#${keys.number[key]}` : ''}</h3>
            <Numbers row={row} />
            <dl class="facts">
                {heap !== undefined && heap !== 'malloc' && [<dt key="h">heap</dt>,
                    <dd key="h="><Text text={heap} /></dd>]}
                {labels && labels.text && [<dt key="l">labels</dt>,
                    <dd key="l="><Text text={labels.text} /></dd>]}
                {sizes && [<dt key="s">sizes</dt>, <dd key="s=">{sizes}</dd>]}
            </dl>
            {flagsText(sites.flags[site]).map((text) => <p class="note" key={text}>{text}</p>)}
            <ol class="stack">
                {frames.slice(0, MANY_FRAMES).map((frame, i) => <Frame key={i} frame={frame} />)}
            </ol>
            {frames.length > MANY_FRAMES && <p class="note">and {plural(frames.length
                - MANY_FRAMES, 'frame')} further out</p>}
            {frames.length > 0 && <a href={formatRoute(elsewhere(state, 'flame', {
                fn: profile.frames.function[frames[0]]}))}>In the flame graph</a>}
        </aside>);
}
