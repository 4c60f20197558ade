/* flame_paint.js: draw the rectangles of a flame graph on a canvas.
 *
 * Colours distinguish user code, libraries, and runtimes: standard libraries, the C library and
 * interpreters. Libraries also have a line at their lower edge, and runtimes a dashed line and
 * slanted letters, for readers who see no difference between the colours. For two profiles they
 * show growth and shrinkage, stronger with a larger relative change. They are the page's colours
 * (view/page.css), mixed with the page's background, so that text on them is readable in light and
 * in dark mode. Three shades of each colour distinguish neighbours, and a function always has the
 * same shade.
 *
 * Frames above the zoomed one are pale. A search marks its matches and greys out the rest. The
 * frame with the keyboard focus has a ring. */
import {KINDS} from '../model/profile.js';
import {functionLabel, label} from './flame_words.js';

/** Height of a level, and of letters, in pixels. */
export const LEVEL_HEIGHT = 20;
const FONT = "12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const SLANTED = `italic ${FONT}`;
// Dashes of the line at the lower edge, in pixels.
const LINES = {library: [], runtime: [3, 3]}, LINE_WIDTH = 2;
const PAD = 4; // Space on each side of a name, in pixels.
const SHADES = [0.28, 0.36, 0.44]; // Share of the colour in the mixture with the background.
// Share of the colour in the mixture for the smallest and for the largest change.
const LEAST_CHANGE = 0.14, MOST_CHANGE = 0.5;

/**
 * Return the colours of the picture.
 * @param {(name: string) => string} colour reads a custom property of the page, "#rrggbb"
 */
export function palette(colour) {
    const ground = colour('--surface'), text = colour('--text'), muted = colour('--muted');
    const shades = (of) => SHADES.map((share) => mix(of, ground, share));

    return {ground, text, muted, ring: colour('--accent'), mark: colour('--mark'),
        hover: text, plain: mix(muted, ground, 0.16), even: mix(muted, ground, 0.22),
        kinds: KINDS.map((kind) => shades(kind === 'unknown' ? muted : colour(`--${kind}`))),
        lines: KINDS.map((kind) => LINES[kind] && {dash: LINES[kind], colour: colour(`--${kind}`)}),
        change: (share) => mix(colour(share > 0 ? '--grow' : '--shrink'), ground,
            LEAST_CHANGE + (MOST_CHANGE - LEAST_CHANGE) * Math.min(1, Math.abs(share)))};
}

/** Return SHARE of colour A on B; both are "#rrggbb" or "#rgb". */
export function mix(a, b, share) {
    const [x, y] = [a, b].map(channels);
    const both = x.map((value, i) => Math.round(value * share + y[i] * (1 - share)));

    return `#${both.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function channels(colour) {
    const text = colour.replace('#', ''), wide = text.length >= 6;

    return [0, 1, 2].map((i) => parseInt(wide ? text.slice(2 * i, 2 * i + 2)
        : text[i] + text[i], 16) || 0);
}

/** Return the change of NODE of TREE, from -1 (gone) to 1 (new); null without a comparison. */
export function changeOf(tree, node) {
    if (!tree.totalBefore)
        return null;
    const now = tree.total[node], old = tree.totalBefore[node], larger = Math.max(now, old);

    return larger > 0 ? (now - old) / larger : 0;
}

function fillOf(scene, colours, node) {
    const {tree, found} = scene, fn = tree.function[node];

    if (found)
        return found[fn] === 1 ? colours.mark : colours.plain;
    const change = changeOf(tree, node);

    if (change !== null)
        return change === 0 ? colours.even : colours.change(change);
    if (fn < 0)
        return colours.even;
    return colours.kinds[scene.profile.functions.shown[fn]][fn % SHADES.length];
}

/**
 * @typedef {object} Scene state of the picture
 * @property {import('../model/profile.js').Profile} profile
 * @property {import('../model/tree.js').CallTree} tree
 * @property {import('../model/flame.js').Layout} layout
 * @property {Uint8Array|null} found by function: 1 if the search matches; null = no search
 * @property {number} chosen the node with the ring; -1 = none
 * @property {number} hovered node; -1 = none
 * @property {string} rootLabel
 * @property {number} top pixels scrolled away
 * @property {number} height visible pixels
 * @property {number} scale screen pixels per page pixel
 */

/**
 * Draw the visible part of SCENE.
 * @param {CanvasRenderingContext2D} context of a canvas as large as the visible part
 * @param {Scene} scene
 * @param {object} colours see palette
 * @returns {number} the number of rectangles drawn
 */
export function paint(context, scene, colours) {
    const {layout, top, height, scale} = scene, {first, levels} = layout;
    const from = Math.max(0, Math.floor(top / LEVEL_HEIGHT));
    const to = Math.min(levels, Math.ceil((top + height) / LEVEL_HEIGHT));
    let drawn = 0;

    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, layout.width, height);
    context.font = FONT;
    context.textBaseline = 'middle';
    const letter = context.measureText('m').width;

    for (let i = first[from]; from < to && i < first[to]; i++) {
        box(context, scene, colours, i, letter);
        drawn++;
    }
    ring(context, scene, scene.hovered, colours.hover, 1);
    ring(context, scene, scene.chosen, colours.ring, 2);
    return drawn;
}

/* Return the kind of code whose marks NODE has; -1 if its colour has another meaning. */
function markedKind({profile, tree, found}, node) {
    const fn = tree.function[node];

    return found || tree.totalBefore || fn < 0 ? -1 : profile.functions.shown[fn];
}

/* Draw the line that marks the kind of code, from X to END below Y. */
function edge(context, line, x, end, y) {
    if (!line || end - x < LINE_WIDTH)
        return;
    context.strokeStyle = line.colour;
    context.lineWidth = LINE_WIDTH;
    context.setLineDash(line.dash);
    context.beginPath();
    context.moveTo(x, y - LINE_WIDTH / 2);
    context.lineTo(end, y - LINE_WIDTH / 2);
    context.stroke();
    context.setLineDash([]);
}

/* Rectangles are a pixel apart if they are wide enough. */
function box(context, scene, colours, i, letter) {
    const {layout, top, profile, tree, rootLabel} = scene, node = layout.node[i];
    const x = Math.max(0, layout.x[i]), end = Math.min(layout.width, layout.x[i] + layout.w[i]);
    const y = layout.level[i] * LEVEL_HEIGHT - top, w = end - x;
    const isAbove = layout.level[i] < tree.depth[layout.focus];

    context.globalAlpha = isAbove ? 0.55 : 1;
    context.fillStyle = fillOf(scene, colours, node);
    context.fillRect(x, y, w > 2 ? w - 1 : Math.max(w, 0.5), LEVEL_HEIGHT - 1);
    const kind = markedKind(scene, node);

    edge(context, colours.lines[kind], x, end - 1, y + LEVEL_HEIGHT - 1);
    context.globalAlpha = 1;
    const room = w - 2 * PAD;

    if (room < letter)
        return;
    const letters = Math.floor(room / letter);
    const text = node === 0 && tree.function[0] < 0 ? label(rootLabel, letters)
        : functionLabel(profile, tree.function[node], letters);
    const isFaint = scene.found && scene.found[tree.function[node]] !== 1;

    context.font = KINDS[kind] === 'runtime' ? SLANTED : FONT;
    context.fillStyle = isFaint || isAbove ? colours.muted : colours.text;
    context.fillText(text, x + PAD, y + LEVEL_HEIGHT / 2, room);
}

function ring(context, {layout, top, tree}, node, colour, width) {
    const level = node < 0 ? layout.levels : tree.depth[node];

    if (level >= layout.levels)
        return;
    for (let i = layout.first[level]; i < layout.first[level + 1]; i++)
        if (layout.node[i] === node) {
            const x = Math.max(0, layout.x[i]);
            const w = Math.min(layout.width, layout.x[i] + layout.w[i]) - x;

            context.strokeStyle = colour;
            context.lineWidth = width;
            context.strokeRect(x + width / 2, level * LEVEL_HEIGHT - top + width / 2,
                Math.max(w - 1 - width, 0.5), LEVEL_HEIGHT - 1 - width);
        }
}
