/* leaks.jsx: the blocks that were never freed, by path: mprof's leak table.
 *
 * It equals `heaptap leaks --paths`: a path ends with the function that allocates, wrappers are
 * folded, and suppressed paths are listed separately. The function that allocates is on the
 * right. */
import {useMemo} from 'preact/hooks';
import {freesAtEnds} from './ends.js';
import {useShared} from './route.js';
import {Grid, Share} from './grid.jsx';
import {FunctionName, NameKey, Text, visible} from './name.jsx';
import {bytes, count, plural} from './units.js';

/* Paths only have names, with the file if several functions share the name. */
function namesOf(profile) {
    const ids = new Map();
    for (let id = 0; id < profile.functions.real; id++) {
        const name = profile.functions.name[id], place = profile.functions.place[id];
        ids.set(name, ids.has(name) ? null : id);
        if (place !== '')
            ids.set(`${name} (${place})`, id);
    }
    return ids;
}

function Path({leak, ids}) {
    const inner = [...leak.path].reverse();
    const [first, ...callers] = inner;
    const named = (name) => (ids.get(name) !== undefined && ids.get(name) !== null
        ? <FunctionName id={ids.get(name)} part={0.6} /> : <Text text={name} short />);
    return (
        <span title={visible(leak.path.join(' > ')).slice(0, 4000)}>
            {named(first)}
            {callers.map((name, i) => <span key={i}><span class="muted"> ← </span>{named(name)}
            </span>)}
            {leak.cut && <span class="muted"> ← …</span>}
        </span>);
}

function Suppressed({leaks}) {
    const {suppressed} = leaks;
    if (suppressed.live_blocks === 0)
        return null;
    return (
        <details class="panel">
            <summary>{bytes(suppressed.live_bytes)} in{' '}
                {plural(suppressed.live_blocks, 'block')} are suppressed and not in the table
            </summary>
            <ul>
                {suppressed.by.map((one, i) => (
                    <li key={i}><code>{visible(one.pattern)}</code>: {bytes(one.live_bytes)} in{' '}
                        {plural(one.live_blocks, 'block')} <span class="muted">
                            ({visible(one.origin)})</span></li>))}
            </ul>
        </details>);
}

export function Leaks() {
    const {page, profile, state, compares} = useShared();
    const ids = useMemo(() => namesOf(profile), [profile]);
    const leaks = page.leaks;
    const rows = useMemo(() => (leaks ? leaks.leaks.filter((leak) => !state.q
        || leak.path.some((name) => name.toLowerCase().includes(state.q.toLowerCase()))) : []),
    [leaks, state.q]);
    if (!leaks)
        return <p class="empty">What is still live at the end is not known of this profile.</p>;
    const heaps = leaks.leaks.some((leak) => leak.heap !== 'malloc');
    const columns = [
        {key: 'path', title: 'never freed, allocated by', heads: true,
            value: (leak) => leak.path[leak.path.length - 1] || '',
            cell: (leak) => <Path leak={leak} ids={ids} />},
        ...(heaps ? [{key: 'heap', title: 'heap', width: 8, narrow: false,
            value: (leak) => leak.heap, cell: (leak) => <Text text={leak.heap} />}] : []),
        {key: 'blocks', title: 'blocks', numeric: true, width: 7, narrow: false,
            value: (leak) => leak.allocs, cell: (leak) => count(leak.allocs)},
        {key: 'bytes', title: 'live', numeric: true, width: 7,
            value: (leak) => leak.bytes, cell: (leak) => bytes(leak.bytes)},
        {key: 'share', title: '% of all live', width: 13, narrow: false,
            cell: (leak) => <Share part={leak.bytes} whole={leaks.total.live_bytes} />}];
    return (
        <>
            <h2 class="headline">Still live at the end:{' '}
                <b>{bytes(leaks.total.live_bytes)}</b> in{' '}
                {plural(leaks.total.live_blocks, 'block')}, on {plural(leaks.total.paths, 'path')}.
            </h2>
            <p class="note">{compares && 'These are the blocks of the second profile. '}
                {freesAtEnds(profile.report)
                    && 'Blocks that a process held when it ended count as freed. '}
                Whether anything still points to these blocks has not been checked.
                A path is read from the left: the function that asked for the memory, then who
                called it.</p>
            <Grid label="What was never freed, by path" columns={columns} rows={rows}
                initial={{key: 'bytes', descending: true}}
                empty={state.q ? 'No path has such a function.' : 'All was freed.'} />
            <NameKey />
            <Suppressed leaks={leaks} />
        </>);
}
