/* curve.jsx: live bytes over time, with the largest holders stacked.
 *
 * uPlot draws it on a canvas. A series is {name, values, colour}, lowest first. `values` are the
 * values at `times`, which are in seconds; `colour` is a name in page.css. Each area extends from
 * the sum of its series and all lower ones down to zero. The highest area is drawn first, and each
 * further area covers the lower part of the previous one. A series with `isLine` is not stacked,
 * and has NaN after its end.
 *
 * A drag selects a period, a click a moment. Both snap to `stops`, the indices in `times` at which
 * all values are known. The selection is {from, to}, two stops; for a moment they are equal. On the
 * keyboard, arrows move a mark, Enter selects the moment of the mark, and arrows with Shift extend
 * a period. The lists of the view "Time" offer the same selections. */
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {colour} from './media.js';
import {visible} from './name.jsx';
import {amount, axisBytes, axisTime, count, duration} from './units.js';

const CLICK_PIXELS = 4; // A shorter drag is a click.
const TIP_ROWS = 8;
const DENSE = 300; // With more times than this, edges between areas would hide the areas.

/* Return the table that uPlot expects: the times, then each series stacked on the lower ones,
 * highest first. */
function sums(times, series) {
    const columns = [];
    let below = new Float64Array(times.length);
    for (const one of series) {
        if (one.isLine) {
            columns.push(Array.from(one.values, (value) => (Number.isNaN(value) ? null : value)));
            continue;
        }
        below = below.map((sum, i) => sum + one.values[i]);
        columns.push(Array.from(below));
    }
    return [Array.from(times), ...columns.reverse()];
}

/* Return the stop nearest to SECOND. */
function nearest({times, stops}, second) {
    let best = 0;
    for (let i = 1; i < stops.length; i++)
        if (Math.abs(times[stops[i].place] - second) < Math.abs(times[stops[best].place] - second))
            best = i;
    return best;
}

function secondOf({times, stops}, stop) {
    return times[stops[Math.max(0, Math.min(stop, stops.length - 1))].place];
}

/* Draw the selection over the areas: fade the time outside of a period, mark a moment with a
 * line. */
function drawChosen(plot, now) {
    const {ctx, bbox} = plot, {chosen, marks, collections} = now, pixel = devicePixelRatio;
    const x = (second) => plot.valToPos(second, 'x', true);
    ctx.save();
    ctx.fillStyle = colour('--muted');
    ctx.fillRect(bbox.left, plot.valToPos(0, 'y', true) - pixel / 2, bbox.width, pixel);
    if (chosen && chosen.from >= 0 && chosen.to >= 0) {
        const from = x(secondOf(now, chosen.from)), to = x(secondOf(now, chosen.to));
        if (chosen.from < chosen.to) {
            ctx.globalAlpha = 0.72;
            ctx.fillStyle = colour('--surface');
            ctx.fillRect(bbox.left, bbox.top, from - bbox.left, bbox.height);
            ctx.fillRect(to, bbox.top, bbox.left + bbox.width - to, bbox.height);
            ctx.globalAlpha = 1;
        }
        ctx.fillStyle = colour('--accent');
        for (const end of [from, to])
            ctx.fillRect(Math.round(end) - pixel, bbox.top, 2 * pixel, bbox.height);
    }
    ctx.font = `${11 * pixel}px system-ui, sans-serif`;
    ctx.textBaseline = 'top';
    ctx.textAlign = 'left'; // The axes change the alignment, so it is set again.
    ctx.fillStyle = colour('--muted');
    for (const second of collections || []) // Each has a tick on the axis.
        ctx.fillRect(Math.round(x(second)), bbox.top + bbox.height - 6 * pixel, pixel, 6 * pixel);
    for (const mark of marks || [])
        drawMark(ctx, bbox, x(mark.second), mark);
    ctx.restore();
}

/* Draw a named moment: a dotted line, and the name on the side that has room. */
function drawMark(ctx, bbox, x, {name, row}) {
    const pixel = devicePixelRatio, width = ctx.measureText(name).width;
    const left = x + width + 8 * pixel > bbox.left + bbox.width ? x - width - 4 * pixel
        : x + 4 * pixel;
    const top = bbox.top + (3 + 15 * row) * pixel;
    ctx.strokeStyle = colour('--muted');
    ctx.lineWidth = pixel;
    ctx.setLineDash([3 * pixel, 3 * pixel]);
    ctx.beginPath();
    ctx.moveTo(Math.round(x) + 0.5, bbox.top);
    ctx.lineTo(Math.round(x) + 0.5, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 0.85;
    ctx.fillStyle = colour('--surface');
    ctx.fillRect(left - 2 * pixel, top - pixel, width + 4 * pixel, 14 * pixel);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour('--text');
    ctx.fillText(name, left, top);
}

function options(now, size, hooks) {
    const {series, unit} = now.current;
    const rule = colour('--line'), isDense = now.current.times.length > DENSE;
    const axis = {stroke: colour('--muted'), font: '11px system-ui, sans-serif',
        ticks: {stroke: rule, width: 1, size: 4}, grid: {stroke: rule, width: 1}};
    const areas = [...series].reverse().map((one) => ({label: one.name,
        width: one.isLine ? 2 : isDense ? 0 : 1, fill: one.isLine ? undefined : colour(one.colour),
        stroke: colour(one.isLine ? one.colour : '--surface'), points: {show: false}}));
    return {
        ...size, legend: {show: false}, padding: [8, 26, 0, 0],
        scales: {x: {time: false}, y: {range: (_, low, high) =>
            [Math.min(0, low), high > 0 ? high * 1.06 : 1]}},
        cursor: {y: false, points: {show: false}, drag: {x: hooks.drag, y: false, setScale: false}},
        series: [{}, ...areas],
        axes: [{...axis, values: (_, marks, __, ___, step) =>
            marks.map((mark) => axisTime(mark, step)), grid: {show: false}, size: 28},
        {...axis, size: 68, values: (_, marks) => marks.map(unit === 'bytes' ? axisBytes : count),
            incrs: unit === 'bytes' ? byteSteps() : undefined}],
        hooks: {draw: [(plot) => drawChosen(plot, now.current)], setCursor: [hooks.cursor],
            setSelect: [hooks.select]}};
}

/* Labels of the axis are round numbers of KiB, MiB and so on. */
function byteSteps() {
    return Array.from({length: 52}, (_, power) => 2 ** power);
}

/* Show a tip at a stop, on the side that has room. */
function Tip({now, at}) {
    const {times, stops, series, unit} = now.current;
    if (at === null || !stops[at.stop])
        return null;
    const {place} = stops[at.stop];
    const values = series.map((one) => ({...one, value: one.values[place]}));
    const shown = values.filter((one) => one.value > 0).sort((a, b) => b.value - a.value);
    const isLines = series.some((one) => one.isLine);
    const sum = values.reduce((total, one) => total + one.value, 0);
    return (
        <div class="tip" aria-hidden="true" style={at.left > at.width / 2
            ? {right: `${at.width - at.left + 12}px`} : {left: `${at.left + 12}px`}}>
            {!isLines && <b>{amount(sum, unit)} </b>}after {duration(times[place] * 1e9)}
            {(isLines || shown.length > 1) && shown.slice(0, TIP_ROWS).map((one) => (
                <div key={one.name} class="tiprow">
                    <i class="swatch" style={{background: `var(${one.colour})`}} />
                    <span>{visible(one.name)}</span><b>{amount(one.value, unit)}</b>
                </div>))}
        </div>);
}

function chooseStretch(plot, now) {
    const {onMoment, onStretch} = now.current, {left, width} = plot.select;
    if (width < CLICK_PIXELS)
        return;
    const at = (pixels) => nearest(now.current, plot.posToVal(pixels, 'x'));
    const from = at(left), to = at(left + width);
    plot.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
    if (from < to)
        onStretch(from, to);
    else
        onMoment(from);
}

/* Report each click to the owner as the choice of a moment: a press and release at the same place.
 * uPlot's own selection has a width. */
function chooseMoments(plot, now) {
    let pressed = 0;
    plot.over.addEventListener('mousedown', (event) => {
        pressed = event.clientX;
    });
    plot.over.addEventListener('click', (event) => {
        const {onMoment} = now.current;
        if (onMoment && Math.abs(event.clientX - pressed) < CLICK_PIXELS) {
            const left = event.clientX - plot.over.getBoundingClientRect().left;
            onMoment(nearest(now.current, plot.posToVal(left, 'x')));
        }
    });
}

/* Handle the keys; `anchor` is the fixed end of a period. */
function useKeys(now, box, plot, setTip) {
    const [mark, setMark] = useState(null);
    const anchor = useRef(null);
    const move = (stop) => {
        setMark(stop);
        const left = plot.current.valToPos(secondOf(now.current, stop), 'x');
        plot.current.setCursor({left, top: 10}, false);
        setTip({stop, left: left + plot.current.over.offsetLeft, width: box.current.clientWidth});
    };
    const onKeyDown = (event) => {
        const {stops, chosen, onMoment, onStretch, onWhole} = now.current;
        const last = stops.length - 1, place = mark ?? chosen?.to ?? last;
        const to = {ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: last}[event.key];
        if (to !== undefined) {
            event.preventDefault();
            anchor.current = event.shiftKey ? anchor.current ?? place : null;
            move(Math.max(0, Math.min(last, to)));
        } else if (event.key === 'Enter' && onMoment) {
            event.preventDefault();
            const other = anchor.current ?? place;
            anchor.current = null;
            if (other === place)
                onMoment(place);
            else
                onStretch(Math.min(other, place), Math.max(other, place));
        } else if (event.key === 'Escape' && onWhole) {
            onWhole();
        }
    };
    return {mark, onKeyDown};
}

export function Curve({label, height = 240, dark, ...rest}) {
    const box = useRef(null), plot = useRef(null), now = useRef(null);
    const [tip, setTip] = useState(null);
    now.current = {unit: 'bytes', chosen: null, ...rest};
    const keys = useKeys(now, box, plot, setTip);
    const {times, stops, series, chosen, onMoment} = now.current;
    useLayoutEffect(() => {
        const width = () => Math.max(100, box.current.clientWidth);
        const cursor = (drawn) => {
            const {left} = drawn.cursor;
            setTip(left < 0 ? null : {left: left + drawn.over.offsetLeft, width: width(),
                stop: nearest(now.current, drawn.posToVal(left, 'x'))});
        };
        const select = (drawn) => onMoment && chooseStretch(drawn, now);
        const drawn = new UPlot(options(now, {width: width(), height},
            {cursor, select, drag: Boolean(onMoment)}), sums(times, series), box.current);
        plot.current = drawn;
        chooseMoments(drawn, now);
        const watch = new ResizeObserver(() => drawn.setSize({width: width(), height}));
        watch.observe(box.current);
        return () => {
            watch.disconnect();
            drawn.destroy();
        };
    }, [times, series, dark, height, Boolean(onMoment)]);
    useEffect(() => plot.current.redraw(false), [chosen]);
    const last = stops.length - 1;
    const stop = Math.max(0, Math.min(last, keys.mark ?? chosen?.to ?? last));
    return (
        <div class={`curve${onMoment ? ' live' : ''}`} ref={box} tabIndex={0} role="slider"
            aria-label={label} aria-valuemin={0} aria-valuemax={last} aria-valuenow={stop}
            aria-valuetext={duration(secondOf(now.current, stop) * 1e9)}
            onKeyDown={keys.onKeyDown} onBlur={() => setTip(null)}>
            <Tip now={now} at={tip} />
        </div>);
}
