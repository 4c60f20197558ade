/* flame_parts.jsx: text and links around the picture of a flame graph.
 *
 * Above it is the path to the zoomed frame, each step a button. Below it are all facts about the
 * frame with the ring, and the level below the zoom as a table. These suffice to explore the
 * profile without seeing the picture or using a pointer. */
import {useMemo, useState} from 'preact/hooks';
import {Text} from '../view/name.jsx';
import {amount, growth, inclusiveTitle, percent} from '../view/units.js';
import {nodeName, numbersOf, placeOf} from './flame_words.js';

const WAY_SHOWN = 6; // Number of steps shown at the end of a longer path.
const ROWS_SHOWN = 100;
const TIP_WIDTH = 340, TIP_GAP = 14;

/** Show the path from all stacks to the zoomed frame. */
export function FlameWay({profile, tree, zoomed, onZoom, rootLabel}) {
    const way = [];

    if (zoomed === 0)
        return null;
    for (let at = tree.parent[zoomed]; at > 0; at = tree.parent[at])
        way.unshift(at);
    const hidden = Math.max(0, way.length - WAY_SHOWN);

    return (
        <nav class="flame-way" aria-label="Zoomed frame">
            <button type="button" class="button" onClick={() => onZoom(0)}>
                {tree.function[0] < 0 ? rootLabel
                    : <Text text={nodeName(profile, tree, 0)} short />}
            </button>
            {hidden > 0 && <span class="muted" title={`${hidden} more`}>…</span>}
            {way.slice(hidden).map((node) => (
                <button key={node} type="button" class="button" onClick={() => onZoom(node)}>
                    <Text text={nodeName(profile, tree, node)} short />
                </button>))}
            <b aria-current="true"><Text text={nodeName(profile, tree, zoomed)} short /></b>
        </nav>);
}

/* Show NAME, as a link to the function's page if FN is a function. */
function Linked({profile, functionLink, fn, name, whole = false}) {
    const text = <Text text={name} short={!whole} />;

    return functionLink && fn >= 0 && fn < profile.functions.real
        ? <a class="fn" href={functionLink(fn)}>{text}</a> : text;
}

function Numbers({profile, tree, node, metric, focus}) {
    return (
        <dl class="flame-numbers">
            {numbersOf(profile, tree, node, metric, focus).map(({name, text}) => (
                <div key={name}><dt>{name}</dt><dd>{text}</dd></div>))}
        </dl>);
}

/** Show a tip beside the pointer, on the side that has room. */
export function FlameTip({profile, tree, hovered: {node, x, y}, zoomed, metric}) {
    const isRight = x + TIP_GAP + TIP_WIDTH > innerWidth;
    const place = {
        left: isRight ? 'auto' : `${x + TIP_GAP}px`,
        right: isRight ? `${Math.max(0, innerWidth - x + TIP_GAP)}px` : 'auto',
        top: y > innerHeight / 2 ? 'auto' : `${y + TIP_GAP}px`,
        bottom: y > innerHeight / 2 ? `${innerHeight - y + TIP_GAP}px` : 'auto',
    };

    return (
        <div class="flame-tip" aria-hidden="true" style={place}>
            <b><Text text={nodeName(profile, tree, node)} short /></b>
            <span class="muted"><Text text={placeOf(profile, tree.function[node])} /></span>
            <Numbers {...{profile, tree, node, metric, focus: zoomed}} />
        </div>);
}

/** Show all facts about NODE, and the number of search hits. */
export function FlameDetail({profile, tree, node, zoomed, metric, functionLink, found, share,
    search}) {
    const fn = tree.function[node], name = nodeName(profile, tree, node);

    return (
        <div class="flame-detail">
            <p class="flame-name">
                <Linked {...{profile, functionLink, fn, name}} whole />{' '}
                <span class="muted"><Text text={placeOf(profile, fn)} /></span>
            </p>
            <Numbers {...{profile, tree, node, metric, focus: zoomed}} />
            {found && share !== null && <p>
                {percent(share, tree.total[0])} of all, {amount(share, metric.unit)}, goes
                through what has <q><Text text={search} /></q> in its name.</p>}
        </div>);
}

const SWATCHES = [['own', 'own code'], ['library', 'libraries'],
    ['runtime', 'standard libraries, libc and interpreters']];

/* Return the languages of scripts in the profile. */
function scripts(profile) {
    const names = [...new Set(profile.functions.language)].filter((name) => name !== null);

    return names.length > 0 ? [['script', names.sort().join(', ')]] : [];
}

/** Show the legend of the colours. */
export function FlameLegend({profile, tree, found, drawn}) {
    const rows = found ? [['found', 'what the search found']] : tree.totalBefore
        ? [['grew', 'grew'], ['shrank', 'shrank']]
        : [...SWATCHES, ...scripts(profile)];

    return (
        <p class="flame-legend">
            {rows.map(([name, text]) => (
                <span key={name}><i class={`flame-swatch ${name}`} />{text}</span>))}
            {drawn.isCut && <span>What is narrower than half a pixel is seen when zoomed.</span>}
        </p>);
}

/** Show the level below the zoom. It is only rendered when the user opens it, because an inverted
 * tree begins with thousands of rows. */
export function FlameTable({profile, tree, zoomed, onZoom, metric, functionLink}) {
    const [isOpen, setOpen] = useState(false);

    return (
        <details class="flame-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>This level as a table</summary>
            {isOpen && <Rows {...{profile, tree, zoomed, onZoom, metric, functionLink}} />}
        </details>);
}

function Rows({profile, tree, zoomed, onZoom, metric, functionLink}) {
    const children = useMemo(() => tree.sortedChildren(zoomed), [tree, zoomed]);
    const shown = children.slice(0, ROWS_SHOWN);
    const name = nodeName(profile, tree, zoomed), {unit} = metric;
    const caption = tree.inverted && tree.function[zoomed] >= 0 ? `Callers of ${name}`
        : zoomed === 0 && tree.function[0] < 0 ? 'The first level' : `What ${name} calls`;

    return (
        <div class="flame-rows">
            <table>
                <caption><Text text={caption} short /></caption>
                <thead><tr>
                    <th scope="col">function</th>
                    <th scope="col" class="number">{inclusiveTitle(profile, metric.name)}</th>
                    <th scope="col" class="number">%</th>
                    {tree.totalBefore && <th scope="col" class="number">change</th>}
                    <th scope="col"><span class="unseen">zoom</span></th>
                </tr></thead>
                <tbody>
                    {shown.map((node) => (
                        <tr key={node}>
                            <th scope="row"><Linked {...{profile, functionLink}}
                                fn={tree.function[node]}
                                name={nodeName(profile, tree, node)} /></th>
                            <td class="number">{amount(tree.total[node], unit)}</td>
                            <td class="number">{percent(tree.total[node], tree.total[0])}</td>
                            {tree.totalBefore && <td class="number">
                                {growth(tree.total[node] - tree.totalBefore[node], unit)}</td>}
                            <td><button type="button" class="button" title="Zoom into it"
                                aria-label={`Zoom into ${nodeName(profile, tree, node)}`}
                                onClick={() => onZoom(node)}>Zoom</button></td>
                        </tr>))}
                </tbody>
            </table>
            {children.length > shown.length &&
                <p class="muted">and {children.length - shown.length} more, each smaller</p>}
            {children.length === 0 && <p class="muted">Nothing is below it.</p>}
        </div>);
}
