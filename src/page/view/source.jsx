/* source.jsx: source files, each line with its allocations.
 *
 * A line's total sums the stacks through it, each once; self sums the stacks that end there, as in
 * `heaptap source`. The page includes source files only if that was requested when the page was
 * made. A browser takes seconds for a table of 50,000 rows. Therefore a long file first shows only
 * the surroundings of lines with allocations. */
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {group} from '../model/groups.js';
import {metricName} from '../model/metric.js';
import {indexIn} from './address.js';
import {Text, visible} from './name.jsx';
import {elsewhere, useShared} from './route.js';
import {stretches} from './stretches.js';
import {Truncated} from './truncated.jsx';
import {amount, inclusiveTitle, percent, plural} from './units.js';

/* Return, by file, the lines with {self, total}. */
function linesByFile(profile, values) {
    const sums = group(profile, values, 'line', {fold: true}), {keys, total, self} = sums;
    const files = new Map();
    for (const key of sums.order) {
        const file = keys.file[key];
        if (file < 0)
            continue;
        if (!files.has(file))
            files.set(file, new Map());
        files.get(file).set(keys.line[key], {self: self[key], total: total[key]});
    }
    return files;
}

function fileWeights(profile, values, sources) {
    const {total, order} = group(profile, values, 'file', {fold: true});
    return Array.from(order.filter((key) => sources.has(key)))
        .concat([...sources.keys()].filter((file) => !order.includes(file)))
        .map((file) => ({file, total: total[file] || 0}))
        .sort((a, b) => b.total - a.total);
}

function Line({number, text, sums, chosen, whole}) {
    const {metric} = useShared();
    const mark = useRef(null);
    useEffect(() => {
        if (chosen)
            mark.current.scrollIntoView({block: 'center'});
    }, [chosen]);
    const heat = sums && whole > 0 ? Math.max(0, Math.min(1, sums.total / whole)) : 0;
    return (
        <tr class={chosen ? 'chosen' : sums ? 'counted' : ''} ref={mark}>
            <td class="number self">{sums ? amount(sums.self, metric.unit) : ''}</td>
            <td class="number">{sums ? amount(sums.total, metric.unit) : ''}</td>
            <td class="heat"><i style={{width: `${100 * heat}%`}} /></td>
            <th scope="row" class="number">{number}</th>
            <td class="code"><code>{visible(text.replace(/\t/g, '    '))}</code></td>
        </tr>);
}

/* Show a row in place of lines without allocations. */
function Gap({from, to, onOpen}) {
    return (
        <tr>
            <td class="gap" colSpan={5}>
                <button type="button" onClick={onOpen}>
                    {plural(to - from, 'line')} more, from {from + 1} to {to}</button>
            </td>
        </tr>);
}

function Lines({rows, lines, line, whole}) {
    const [opened, setOpened] = useState([]);
    const parts = useMemo(() => stretches(rows.length, lines, line, opened),
        [rows, lines, line, opened]);
    return parts.map(({from, to, isGap}) => isGap
        ? <Gap key={`gap${from}`} from={from} to={to} onOpen={() => setOpened([...opened, from])} />
        : rows.slice(from, to).map((row, i) => <Line key={from + i} number={from + i + 1}
            text={row} sums={lines && lines.get(from + i + 1)} chosen={line === from + i + 1}
            whole={whole} />));
}

function File({file, text, lines, line}) {
    const {metric, extent, sums, profile} = useShared();
    const rows = useMemo(() => text.replace(/\r?\n$/, '').split(/\r?\n/), [text]);
    return (
        <section class="panel">
            <Truncated />
            <h3><Text text={profile.files[file]} /></h3>
            <div class="tablewrap" tabIndex={0} role="region" aria-label="Annotated source">
                <table class="source">
                    <thead><tr>
                        <th scope="col" class="number self">self {metricName(metric, extent)}</th>
                        <th scope="col" class="number">{inclusiveTitle(profile, 'total')}</th>
                        <th scope="col" class="heat"><span class="unseen">part of all</span></th>
                        <th scope="col" class="number">line</th><th scope="col">source</th>
                    </tr></thead>
                    <tbody>
                        <Lines rows={rows} lines={lines} line={line}
                            whole={sums[metric.key]} />
                    </tbody>
                </table>
            </div>
        </section>);
}

export function Source() {
    const {profile, values, sources, state, go, sums, metric} = useShared();
    const byFile = useMemo(() => linesByFile(profile, values), [profile, values]);
    const files = useMemo(() => fileWeights(profile, values, sources), [profile, values, sources]);
    if (files.length === 0)
        return <p class="empty">No sources are in this page: <code>heaptap html --source</code>{' '}
            puts them in.</p>;
    const asked = indexIn(state.file, profile.files.length);
    const file = sources.has(asked) ? asked : files[0].file;
    return (
        <>
            <h2 class="unseen">Source</h2>
            <div class="controls">
                <label><span>file</span>
                    <select value={file} onChange={(event) => go(elsewhere(state, 'source',
                        {file: event.target.value}))}>
                        {files.map((one) => <option key={one.file} value={one.file}>
                            {visible(profile.files[one.file])} ({percent(one.total,
                                sums[metric.key])})</option>)}
                    </select></label>
            </div>
            <File key={file} file={file} text={sources.get(file)} lines={byFile.get(file)}
                line={indexIn(state.line, 1 << 28)} />
        </>);
}
