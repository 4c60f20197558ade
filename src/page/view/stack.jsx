/* stack.jsx: one stack with all its frames, and all numbers of its site. */
import {siteValues} from '../model/extent.js';
import {isKnown, metricName, METRICS} from '../model/metric.js';
import {SITE_BROKEN, SITE_GUESSED, SITE_OTHER, SITE_TRUNCATED} from '../model/profile.js';
import {FunctionName, Place, Text} from './name.jsx';
import {elsewhere, formatRoute, useShared} from './route.js';
import {amount, count, growth, percent} from './units.js';

const MANY_FRAMES = 200; // More are a recursion that nobody reads.

/* The frames of STACK, innermost first. */
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
            <FunctionName id={frames.function[frame]} whole />
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

function Numbers({site}) {
    const {profile, extent, sums, compares} = useShared();
    return (
        <dl class="facts">
            {METRICS.filter((metric) => isKnown(profile, metric, extent)).map((metric) => {
                const {after, before} = siteValues(profile, metric, extent);
                const unit = metric.unit;
                return [<dt key={metric.key}>{metricName(metric, extent)}</dt>,
                    <dd key={`${metric.key}=`}>
                        {compares && `${amount(before[site], unit)} → `}
                        {amount(after[site], unit)}{' '}
                        {compares && `(${growth(after[site] - before[site], unit)})`}
                        {!compares && <span class="muted">
                            {percent(after[site], sums[metric.key])}</span>}
                    </dd>];
            })}
        </dl>);
}

export function StackPanel({site, onClose}) {
    const {profile, state} = useShared();
    const {sites} = profile, {columns} = sites;
    const frames = framesOf(profile, sites.stack[site]);
    const labels = profile.labels[sites.labels[site]];
    const heap = profile.heaps[sites.heap[site]];
    const {size_min: least, size_max: most} = columns;
    return (
        <aside class="panel" aria-label="A stack">
            {onClose && <button type="button" class="button close" onClick={onClose}
                aria-label="close the stack">Close</button>}
            <h3>Stack {sites.number[site] ? `#${sites.number[site]}` : ''}</h3>
            <Numbers site={site} />
            <dl class="facts">
                {heap !== undefined && heap !== 'malloc' && [<dt key="h">heap</dt>,
                    <dd key="h="><Text text={heap} /></dd>]}
                {labels && labels.text && [<dt key="l">labels</dt>,
                    <dd key="l="><Text text={labels.text} /></dd>]}
                {most && most[site] > 0 && [<dt key="s">sizes</dt>,
                    <dd key="s=">{least[site] === most[site] ? count(most[site])
                        : `${count(least[site])} to ${count(most[site])}`} bytes</dd>]}
            </dl>
            {flagsText(sites.flags[site]).map((text) => <p class="note" key={text}>{text}</p>)}
            <ol class="stack">
                {frames.slice(0, MANY_FRAMES).map((frame, i) => <Frame key={i} frame={frame} />)}
            </ol>
            {frames.length > MANY_FRAMES && <p class="note">and {count(frames.length
                - MANY_FRAMES)} frames further out</p>}
            {frames.length > 0 && <a href={formatRoute(elsewhere(state, 'flame', {
                fn: profile.frames.function[frames[0]]}))}>In the flame graph</a>}
        </aside>);
}
