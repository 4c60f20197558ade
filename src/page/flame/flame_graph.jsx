/* flame_graph.jsx: the flame graph: an explorable picture of a tree of functions.
 *
 * It is drawn on a canvas. Existing libraries create an element per rectangle, and no browser
 * handles half a million of them. Only a few thousand rectangles are visible at once, which a
 * canvas draws in a few milliseconds. But a canvas has no buttons or text, so this file implements
 * the interaction:
 *
 *     pointer    a tip for the frame under it; a click zooms into the frame; in a partial view, a
 *                drag moves the picture; the wheel with Ctrl or two fingers on a touchpad widen it
 *     keyboard   the canvas has the focus, and one frame has the ring: arrows move the ring to
 *                callers, callees and siblings, Enter zooms, Esc zooms out, + and - set the width
 *     reader     each frame that gets the ring is announced in a sentence, and the level below the
 *                zoom is also a table
 *
 * The zoomed node is identified by the functions on the path to it (`focus`), which do not depend
 * on the metric and can be in an address. All other state is local: scroll position, visible part,
 * pointer. The canvas has the size of the visible part and stays in place while scrolling. */
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {layout, neighbour, rectangleAt, rectangleOf} from '../model/flame.js';
import {metricName} from '../model/metric.js';
import {matches} from '../model/search.js';
import {callTree} from '../model/tree.js';
import {colour} from '../view/media.js';
import {amount} from '../view/units.js';
import {FlameDetail, FlameLegend, FlameTable, FlameTip, FlameWay} from './flame_parts.jsx';
import {LEVEL_HEIGHT, paint, palette} from './flame_paint.js';
import {sentence} from './flame_words.js';
import './flame.css';

const DRAG_PIXELS = 4; // A shorter drag is a click.
// Limits of the visible part of the focus: a narrower part would be invisible, and a wider one
// counts as the whole.
const LEAST_PART = 1e-6, WHOLE_PART = 1 - 1e-9;
const WIDER = 1.5; // Factor for one press of a key.
const WAY_SEEN = 3; // Number of levels visible above the zoomed frame.
const ALL = {from: 0, to: 1};

/* Return the node that FOCUS identifies by functions, outermost first. Missing ones are skipped. */
function focusNode(tree, focus) {
    return focus ? tree.nodeAt(focus.split('-').map(Number)) : 0;
}

function focusText(tree, node) {
    return tree.pathOf(node).join('-');
}

/* Return [from, to] scaled by FACTOR around AT, a position in it from 0 to 1. */
function resized({from, to}, at, factor) {
    const width = Math.min(1, Math.max(LEAST_PART, (to - from) / factor));
    const start = from + at * (to - from - width);

    return moved({from: start, to: start + width}, 0);
}

function moved({from, to}, by) {
    const width = to - from, start = Math.min(1 - width, Math.max(0, from + by));

    return width > WHOLE_PART ? ALL : {from: start, to: start + width};
}

/* Return the width of an element; known once it is in the document. */
function useWidth(box) {
    const [width, setWidth] = useState(0);

    useLayoutEffect(() => {
        const measure = () => setWidth(box.current.clientWidth);
        const watch = new ResizeObserver(measure);

        measure();
        watch.observe(box.current);
        return () => watch.disconnect();
    }, []);
    return width;
}

/* Return the nearest node above NODE that is wider, so that zooming out has a visible effect. */
function widerThan(tree, node) {
    let at = node;

    while (at > 0 && tree.width[at] <= tree.width[node])
        at = tree.parent[at];
    return Math.max(0, at);
}

/* Return the model of the picture. SEEN is the part of the focus that is shown. */
function usePicture({profile, values, options, search, focus}, width, seen) {
    const {fold, recursion, inverted, root} = options ?? {};
    const tree = useMemo(() => callTree(profile, values, {fold, recursion, inverted, root}),
        [profile, values, fold, recursion, inverted, root]);
    const zoomed = useMemo(() => focusNode(tree, focus), [tree, focus]);
    const drawn = useMemo(() => layout(tree, {focus: zoomed, width: Math.max(1, width), ...seen}),
        [tree, zoomed, width, seen]);
    const found = useMemo(() => matches(profile, search ?? ''), [profile, search]);

    return {tree, zoomed, drawn, found};
}

/* Draw the canvas, after each change and while scrolling. */
function useDrawing({canvas, box, scene, dark, width}) {
    const latest = useRef(null);

    latest.current = () => {
        const {current: target} = canvas, {current: frame} = box;

        if (!target || width === 0)
            return;
        const scale = devicePixelRatio || 1, height = Math.min(frame.clientHeight,
            scene.layout.levels * LEVEL_HEIGHT);

        if (target.width !== Math.round(width * scale) ||
            target.height !== Math.round(height * scale)) {
            target.width = Math.round(width * scale);
            target.height = Math.round(height * scale);
            target.style.width = `${width}px`;
            target.style.height = `${height}px`;
        }
        paint(target.getContext('2d'), {...scene, top: frame.scrollTop, height, scale},
            palette(colour));
    };
    useLayoutEffect(() => latest.current());
    useEffect(() => {
        const again = () => latest.current(), {current: frame} = box;

        frame.addEventListener('scroll', again, {passive: true});
        addEventListener('resize', again);
        return () => {
            frame.removeEventListener('scroll', again);
            removeEventListener('resize', again);
        };
    }, []);
    // The colours of a new theme are known only after the browser has computed the style.
    useEffect(() => latest.current(), [dark]);
}

/* Return the rectangle under the pointer. */
function under(event, {canvas, box, drawn}) {
    const at = canvas.current.getBoundingClientRect();
    const y = event.clientY - at.top + box.current.scrollTop;

    return rectangleAt(drawn, Math.floor(y / LEVEL_HEIGHT), event.clientX - at.left);
}

/* A press that moves is a drag if the picture can be dragged; otherwise it is a click. */
function usePointer(parts) {
    const {setHovered, setSeen, onFrame} = parts, pressed = useRef(null), latest = useRef(parts);

    latest.current = parts;
    return {
        onPointerDown(event) {
            pressed.current = {x: event.clientX, y: event.clientY, seen: latest.current.seen,
                isDrag: false};
        },
        onPointerMove(event) {
            const {current: press} = pressed, {width, drawn, canvas} = latest.current;

            if (press && event.buttons === 1 && Math.abs(event.clientX - press.x) > DRAG_PIXELS) {
                press.isDrag = true;
                canvas.current.setPointerCapture(event.pointerId);
                const {from, to} = press.seen;

                setSeen(moved(press.seen, (press.x - event.clientX) / width * (to - from)));
            }
            const i = under(event, latest.current);

            setHovered(i < 0 ? null : {node: drawn.node[i], x: event.clientX, y: event.clientY});
        },
        onPointerUp(event) {
            const {current: press} = pressed, i = under(event, latest.current);

            pressed.current = null;
            if (press && !press.isDrag && event.button === 0 && i >= 0)
                onFrame(latest.current.drawn.node[i]);
        },
        onPointerLeave() {
            setHovered(null);
        },
        onPointerCancel() {
            pressed.current = null;
        },
    };
}

/* With Ctrl, the wheel widens the picture; browsers report two fingers the same way. Preact's
 * listeners are passive, so this listener is added directly. */
function useWheel(parts) {
    const latest = useRef(parts);

    latest.current = parts;
    useEffect(() => {
        const {current: target} = parts.canvas;
        const turn = (event) => {
            const {width, seen, setSeen} = latest.current;

            if (!event.ctrlKey && !event.metaKey && (!event.shiftKey || seen === ALL))
                return;
            event.preventDefault();
            const at = (event.clientX - target.getBoundingClientRect().left) / width;
            const by = event.deltaX || event.deltaY;

            setSeen(event.shiftKey ? moved(seen, by / width * (seen.to - seen.from))
                : resized(seen, at, Math.exp(-event.deltaY / 300)));
        };

        target.addEventListener('wheel', turn, {passive: false});
        return () => target.removeEventListener('wheel', turn);
    }, []);
}

const ARROWS = {ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right'};

/* Handle a key. Return false if it has no function. */
function press(key, {tree, drawn, zoomed, chosen, seen, setSeen, setChosen, onFrame, onZoom}) {
    const at = chosen < 0 ? -1 : rectangleOf(drawn, tree, chosen);

    if (ARROWS[key]) {
        // If no frame has the ring, the first key only moves it to the zoomed frame.
        const next = at < 0 ? rectangleOf(drawn, tree, zoomed) : neighbour(drawn, tree, at,
            ARROWS[key]);

        setChosen(drawn.node[Math.max(0, next)]);
    } else if (key === 'Enter' || key === ' ') {
        onFrame(at < 0 ? zoomed : chosen);
    } else if (key === 'Escape' && (zoomed > 0 || seen !== ALL)) {
        onZoom(seen === ALL ? widerThan(tree, zoomed) : zoomed);
    } else if (key === 'Home') {
        setChosen(0);
        onZoom(0);
    } else if (key === '+' || key === '=') {
        setSeen(resized(seen, middleOf(drawn, at), WIDER));
    } else if (key === '-') {
        setSeen(resized(seen, middleOf(drawn, at), 1 / WIDER));
    } else {
        return false;
    }
    return true;
}

/* Return the position of the middle of rectangle I, from 0 to 1; 0.5 if I is -1. */
function middleOf({x, w, width}, i) {
    return i < 0 ? 0.5 : Math.min(1, Math.max(0, (x[i] + w[i] / 2) / width));
}

/* Scroll just far enough to make LEVEL visible. */
function showLevel(box, level) {
    const top = level * LEVEL_HEIGHT, {scrollTop, clientHeight} = box;

    if (top < scrollTop)
        box.scrollTop = top;
    else if (top + LEVEL_HEIGHT > scrollTop + clientHeight)
        box.scrollTop = top + LEVEL_HEIGHT - clientHeight;
}

/* Return the share of the total whose stacks contain a found function; each stack counts once. */
function foundShare(tree, found) {
    let sum = 0;
    const work = [0];

    if (!found || tree.inverted || tree.total[0] <= 0)
        return null;
    while (work.length > 0) {
        const node = work.pop();

        if (tree.function[node] >= 0 && found[tree.function[node]] === 1)
            sum += tree.total[node];
        else
            for (const child of tree.childrenOf(node))
                work.push(child);
    }
    return sum;
}

/**
 * @param {object} props
 * @param {import('../model/profile.js').Profile} props.profile
 * @param {import('../model/extent.js').Values} props.values
 * @param {import('../model/tree.js').Options} [props.options]
 * @param {string} [props.search] text to mark in the names of functions
 * @param {boolean} [props.dark] dark mode; a change redraws the picture
 * @param {string} [props.focus] the zoomed frame, as passed to onFocus
 * @param {(focus: string) => void} [props.onFocus] '' = all
 * @param {(fn: number) => string} [props.functionLink] returns the address of a function's page
 */
export function FlameGraph(props) {
    const {profile, values, search, dark, onFocus, functionLink} = props;
    const canvas = useRef(null), box = useRef(null), width = useWidth(box);
    const [seen, setSeen] = useState(ALL), [hovered, setHovered] = useState(null);
    const [chosenPath, setChosenPath] = useState(null), [told, setTold] = useState('');
    const [ownFocus, setOwnFocus] = useState('');
    const focus = onFocus ? props.focus : ownFocus;
    const {tree, zoomed, drawn, found} = usePicture({...props, focus}, width, seen);
    const chosen = useMemo(() => chosenPath === null ? -1 : tree.nodeAt(chosenPath),
        [tree, chosenPath]);
    const share = useMemo(() => foundShare(tree, found), [tree, found]);
    const rootLabel = `${amount(tree.total[0], values.metric.unit)} ` +
        `${metricName(values.metric, values.extent)}`;
    const setChosen = (node) => {
        setChosenPath(tree.pathOf(node));
        setTold(sentence(profile, tree, node, values.metric, zoomed));
        showLevel(box.current, tree.depth[node]);
    };
    const onZoom = (node) => {
        setSeen(ALL);
        (onFocus ?? setOwnFocus)(focusText(tree, node));
    };
    const onFrame = (node) => {
        setChosen(node);
        onZoom(node);
    };
    const parts = {canvas, box, tree, drawn, zoomed, chosen, seen, width, setSeen, setHovered,
        setChosen, onFrame, onZoom};

    useDrawing({canvas, box, dark, width, scene: {profile, tree, layout: drawn, found, chosen,
        hovered: hovered ? hovered.node : -1, rootLabel}});
    useWheel(parts);
    useEffect(() => setSeen(ALL), [tree]);
    // Scroll so that the zoomed frame is visible, with some callers above and the remaining space
    // below.
    useLayoutEffect(() => {
        box.current.scrollTop = Math.max(0, (tree.depth[zoomed] - WAY_SEEN) * LEVEL_HEIGHT);
    }, [tree, zoomed]);
    const pointer = usePointer(parts), isEmpty = !(tree.width[0] > 0);

    return (
        <div class="flame">
            <FlameWay {...{profile, tree, zoomed, onZoom, rootLabel}} />
            <div class="flame-box" ref={box} hidden={isEmpty}>
                <div class="flame-room" style={{height: `${drawn.levels * LEVEL_HEIGHT}px`}}>
                    <canvas ref={canvas} class={`flame-canvas${seen === ALL ? '' : ' part'}`}
                        tabIndex={0} role="application" aria-roledescription="flame graph"
                        aria-label={`Flame graph of ${rootLabel}. Arrows move from frame to ` +
                            'frame, Enter zooms into one, Escape zooms out.'}
                        {...pointer}
                        onFocus={() => chosen < 0 && setChosen(zoomed)}
                        onKeyDown={(event) => {
                            if (!event.ctrlKey && !event.metaKey && !event.altKey &&
                                press(event.key, parts)) {
                                event.preventDefault();
                                event.stopPropagation();
                            }
                        }} />
                </div>
            </div>
            {isEmpty && <p class="flame-empty">Nothing of this metric is here to be drawn.</p>}
            <p class="unseen" aria-live="polite">{told}</p>
            {hovered && <FlameTip {...{profile, tree, hovered, zoomed, metric: values.metric}} />}
            {!isEmpty && <>
                <FlameDetail {...{profile, tree, zoomed, metric: values.metric, functionLink,
                    found, share, node: chosen < 0 ? zoomed : chosen, search}} />
                <FlameLegend {...{profile, tree, found, drawn}} />
                <FlameTable {...{profile, tree, zoomed, onZoom, metric: values.metric,
                    functionLink}} />
            </>}
        </div>);
}
