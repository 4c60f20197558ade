/* grid.jsx: a table of any length, sorted by a click on a column's header.
 *
 * It is a real <table>, for screen readers and for copying. If the table is long, only the visible
 * rows are in the document. Two empty rows replace all rows above and below, and aria-rowcount and
 * aria-rowindex have the real numbers. This requires that all rows have the same height.
 *
 * A column is {key, title, cell(row), value(row), numeric, width, narrow, wide, tip}. `value` is
 * the sort key, a number or a text (absent: not sortable). `width` is in em; columns without it
 * share the remaining space. A number that needs more than the width gets it, because a number
 * without its last digit or its unit is another number. On a phone, `narrowWidth` and `narrowTitle`
 * are used, and `narrow: false` hides the column; `wide: true` hides it also on a small screen.
 *
 * Names adapt to their column: `Room` has the number of letters that fit into the column of row
 * heads.
 *
 * The order is in the page's address (sort, dir), or in the table's state if a page has several
 * tables. Up and down move between rows, and Enter follows a row's link. */
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {colour, useMedia} from './media.js';
import {Room} from './name.jsx';
import {inOrder} from './order.js';
import {percent} from './units.js';

const ROW_PIXELS = 30;
const AT_ONCE = 60; // A table with fewer rows is rendered whole.
const MARGIN_ROWS = 10; // Extra rows beyond the visible ones, so that fast scrolling shows no gap.
const PRINTED_ROWS = 200;

/* Show a share as a number and as a bar. */
export function Share({part, whole, colour}) {
    const width = whole > 0 ? Math.max(0, Math.min(100, 100 * part / whole)) : 0;
    return (
        <span class="share">
            <span class="bar"><i style={{width: `${width}%`, background: colour}} /></span>
            <span class="percent">{percent(part, whole)}</span>
        </span>);
}

function useSorted(rows, columns, sort) {
    return useMemo(() => {
        const column = columns.find((one) => one.key === sort.key && one.value);
        return column ? inOrder(rows, column.value, sort.descending) : rows;
    }, [rows, columns, sort.key, sort.descending]);
}

/* Return the range of rows to keep in the document. */
function useWindow(count, box) {
    const printing = useMedia('print');
    const [range, setRange] = useState([0, AT_ONCE]);
    const whole = count <= AT_ONCE;
    const look = () => {
        if (whole || !box.current)
            return;
        const first = Math.floor(box.current.scrollTop / ROW_PIXELS) - MARGIN_ROWS;
        const shown = Math.ceil(box.current.clientHeight / ROW_PIXELS) + 2 * MARGIN_ROWS;
        // The start changes in steps, so that not every pixel renders new rows.
        const from = Math.max(0, first - first % 8);
        setRange((old) => (old[0] === from && old[1] === from + shown ? old
            : [from, from + shown]));
    };
    useLayoutEffect(look, [count]);
    useEffect(() => {
        addEventListener('resize', look);
        return () => removeEventListener('resize', look);
    });
    if (printing)
        return {from: 0, to: Math.min(count, PRINTED_ROWS), look};
    return whole ? {from: 0, to: count, look}
        : {from: Math.min(range[0], count), to: Math.min(range[1], count), look};
}

let letterPixels = 0;

/* Return the width of a letter of a name, in pixels. */
function widthOfLetter() {
    if (!letterPixels) {
        const context = document.createElement('canvas').getContext('2d');
        context.font = `12.5px ${colour('--mono')}`;
        letterPixels = context.measureText('m').width || 7.5;
    }
    return letterPixels;
}

/* Return the number of letters that fit into a row's head. */
function useRoom(box) {
    const [letters, setLetters] = useState(Infinity);
    useLayoutEffect(() => {
        if (!box.current)
            return undefined;
        const measure = () => {
            const head = box.current?.querySelector('tbody th');
            if (!head)
                return;
            const {paddingLeft, paddingRight} = getComputedStyle(head);
            const room = head.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
            setLetters(Math.max(4, Math.floor(room / widthOfLetter())));
        };
        const watch = new ResizeObserver(measure);
        measure();
        watch.observe(box.current);
        return () => watch.disconnect();
    }, [box.current]);
    return letters;
}

function classOf(column) {
    return column.numeric ? 'number' : undefined;
}

function Head({column, sort, onSort, narrow}) {
    const sorted = sort.key === column.key;
    const turned = sorted ? (sort.descending ? 'descending' : 'ascending') : undefined;
    const classes = classOf(column), title = narrow && column.narrowTitle || column.title;
    if (!column.value)
        return <th scope="col" class={classes} title={column.tip}>{title}</th>;
    return (
        <th scope="col" class={classes} aria-sort={turned}>
            <button type="button" title={column.tip} onClick={() => onSort({key: column.key,
                descending: sorted ? !sort.descending : Boolean(column.numeric)})}>
                {title}
                {sorted && <span aria-hidden="true">
                    {sort.descending ? '\u00a0▾' : '\u00a0▴'}</span>}
            </button>
        </th>);
}

/* Move the focus to the link of the next row, after scrolling to it if necessary. */
function moveFocus(event, box, count) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step || !/^(A|DIV)$/.test(event.target.tagName))
        return;
    const row = event.target.closest('tr');
    const index = row ? Number(row.getAttribute('aria-rowindex')) + step : 2;
    if (index < 2 || index > count + 1)
        return;
    event.preventDefault();
    const found = () => box.querySelector(`tr[aria-rowindex="${index}"]`);
    const target = found();
    if (!target)
        return;
    const link = target.querySelector('a[href]');
    if (link)
        link.focus({preventScroll: true});
    const top = (index - 2) * ROW_PIXELS, seen = box.clientHeight - 2 * ROW_PIXELS;
    if (box.scrollHeight <= box.clientHeight)
        target.scrollIntoView({block: 'nearest'});
    else if (top < box.scrollTop)
        box.scrollTop = top;
    else if (top > box.scrollTop + seen)
        box.scrollTop = top - seen;
}

function Gap({rows, columns}) {
    return rows > 0
        && <tr class="gap" aria-hidden="true"><td colSpan={columns}
            style={{height: `${rows * ROW_PIXELS}px`}} /></tr>;
}

/* A click beside a row's link opens the row as well. */
function clicked(event, row, onRow) {
    if (!event.target.closest('a') && !String(getSelection()))
        onRow(row);
}

function Body({rows, columns, from, to, rowClass, keyOf, onRow}) {
    const shown = [];
    for (let i = from; i < to; i++)
        shown.push(
            <tr key={keyOf ? keyOf(rows[i]) : i} aria-rowindex={i + 2}
                class={rowClass && rowClass(rows[i])}
                onClick={onRow && ((event) => clicked(event, rows[i], onRow))}>
                {columns.map((column) => {
                    const cell = column.cell(rows[i]);
                    return column.heads
                        ? <th scope="row" key={column.key} class={classOf(column)}>{cell}</th>
                        : <td key={column.key} class={classOf(column)}>{cell}</td>;
                })}
            </tr>);
    return (
        <tbody>
            <Gap rows={from} columns={columns.length} />
            {shown}
            <Gap rows={rows.length - to} columns={columns.length} />
        </tbody>);
}

/* On a phone, a number gets no more than it needs. */
function widthOf({width, narrowWidth, numeric}, narrow) {
    const em = narrow ? narrowWidth || (numeric ? Math.min(width, 6) : width) : width;
    return em ? {width: `${em}em`} : {};
}

export function Grid({label, columns, rows, sort: given, onSort: told, initial, rowClass, keyOf,
    onRow, empty = 'Nothing here.', dense}) {
    const box = useRef(null);
    const narrow = useMedia('(max-width: 700px)');
    const [own, setOwn] = useState(initial || {key: null, descending: true});
    const sort = given || own, onSort = told || setOwn;
    const medium = useMedia('(max-width: 1000px)');
    const shown = columns.filter((column) => !(narrow && column.narrow === false)
        && !(medium && column.wide));
    const sorted = useSorted(rows, columns, sort);
    const {from, to, look} = useWindow(sorted.length, box);
    const letters = useRoom(box);
    useLayoutEffect(() => {
        if (box.current)
            box.current.scrollTop = 0;
    }, [rows, sort.key, sort.descending]);
    if (rows.length === 0)
        return <p class="empty">{empty}</p>;
    return (
        <div class={`grid${sorted.length > AT_ONCE ? ' tall' : ''}${dense ? ' dense' : ''}`}
            ref={box} onScroll={look} tabIndex={sorted.length > AT_ONCE ? 0 : undefined}
            role="region" aria-label={label}
            onKeyDown={(event) => moveFocus(event, box.current, sorted.length)}>
            <table aria-rowcount={sorted.length + 1}>
                <caption class="unseen">{label}</caption>
                <colgroup>
                    {shown.map((column) => <col key={column.key}
                        style={widthOf(column, narrow)} />)}
                </colgroup>
                <thead>
                    <tr aria-rowindex={1}>
                        {shown.map((column) => <Head key={column.key} column={column} sort={sort}
                            onSort={onSort} narrow={narrow} />)}
                    </tr>
                </thead>
                <Room.Provider value={letters}>
                    <Body rows={sorted} columns={shown} from={from} to={to} rowClass={rowClass}
                        keyOf={keyOf} onRow={onRow} />
                </Room.Provider>
            </table>
        </div>);
}
