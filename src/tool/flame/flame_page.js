/* flame_page.js: the flame graph when a browser runs it: zoom, search, flip, another metric.
 *
 * It replaces the static picture when it starts. It draws from `data`, which flamegraph.c writes in
 * front of it. It draws only visible boxes, so 50,000 nodes stay fast. Its state (metric, zoom,
 * search, direction) is in the address behind "#". So Back undoes a step, and a copied address
 * shows the same picture:
 *
 *     heap.svg#search=parse_.*&zoom=17&root=above&metric=alloc
 *
 * Events only change the address (go), and the picture follows from the address (readAddress). The
 * script makes no network requests. Text enters the document by textContent and attributes only,
 * never as markup, because names come from the recorded program.
 *
 * The file is copied verbatim into a CDATA section of the page, so it must not contain the end of
 * one. Its measures equal those in flame_page.h. */
(function () {
'use strict';
// data: {metric, above, two, metrics: [[label, isBytes, name]],
//        modules: [[name, class]], legend: [[name, class]],
//        frames: [[name, short or '', module, file, inlined, shade]],
//        nodes: [parent, frame, line, width by metric, with two also before, after, ...]}
var svg = document.documentElement, NS = svg.namespaceURI;
var M = data.metrics.length, STRIDE = 3 + M * (data.two ? 3 : 1);
var count = data.nodes.length / STRIDE;
var ROW = 20, PAD = 16, HEAD = 150, FOOT = 44, CHAR = 6.65, SMALLEST = 0.4;
var state = {metric: data.metric, above: data.above, zoom: 0, search: ''};
var graph = el('graph'), head = el('head'), width = 0, height = 0;
var orders = [], hits = null;
var children = [], depth = [];

function el(id) { return document.getElementById(id); }
function parentOf(i) { return data.nodes[i * STRIDE]; }
function frameOf(i) { return data.frames[data.nodes[i * STRIDE + 1]]; }
function lineOf(i) { return data.nodes[i * STRIDE + 2]; }
function widthOf(i) { return data.nodes[i * STRIDE + 3 + state.metric]; }
function beforeOf(i) { return data.nodes[i * STRIDE + 3 + M + state.metric]; }
function afterOf(i) { return data.nodes[i * STRIDE + 3 + 2 * M + state.metric]; }

function make(parent, name, attributes, text) {
    var e = document.createElementNS(NS, name);
    for (var key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    parent.appendChild(e);
    return e;
}

function human(v) {
    if (!data.metrics[state.metric][1]) return Math.round(v).toLocaleString('en');
    var units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'], u = 0, a = Math.abs(v);
    // 1023.95 would be rounded to "1024.0" of the smaller unit, as in amount.c.
    while (a >= (u ? 1023.95 : 1024) && u < 6) { a /= 1024; u++; }
    return (v < 0 ? '-' : '') + (u ? a.toFixed(1) : a) + ' ' + units[u];
}
function signed(v) { return (v > 0 ? '+' : '') + human(v); }
function percent(part, whole) {
    return (whole ? 100 * part / whole : 0).toFixed(1) + ' %';
}

// Start of each box, in units of the metric: siblings side by side, widest first.
function starts() {
    var order = orders[state.metric], i, k;
    if (order) return order;
    order = orders[state.metric] = new Float64Array(count);
    for (i = 0; i < count; i++) {
        var at = order[i], c = children[i];
        c.sort(function (a, b) { return widthOf(b) - widthOf(a) || a - b; });
        for (k = 0; k < c.length; k++) { order[c[k]] = at; at += widthOf(c[k]); }
    }
    return order;
}

// Class of a change, relative to the larger side, in 11 steps: growth is red, shrinking blue.
function changeClass(i) {
    var w = Math.max(beforeOf(i), afterOf(i));
    return 'd' + (w ? Math.round(5 + 5 * (afterOf(i) - beforeOf(i)) / w) : 5);
}
function boxClass(i) {
    if (data.two) return changeClass(i);
    return data.modules[frameOf(i)[2]][1] + ' s' + frameOf(i)[5];
}

function draw() {
    var start = starts(), zoom = state.zoom, whole = widthOf(zoom);
    var inner = width - 2 * PAD, scale = whole ? inner / whole : 0;
    var boxes = [], deepest = 0, todo = [zoom], i, k;
    for (i = zoom; i; i = parentOf(i)) boxes.push([parentOf(i), PAD, inner]);
    while (whole && todo.length) {
        i = todo.pop();
        boxes.push([i, PAD + (start[i] - start[zoom]) * scale, widthOf(i) * scale]);
        deepest = Math.max(deepest, depth[i]);
        for (k = 0; k < children[i].length; k++)
            if (widthOf(children[i][k]) * scale >= SMALLEST) todo.push(children[i][k]);
    }
    // A flame graph grows upwards, so keep the distance from the lower edge.
    var below = height - window.scrollY;
    height = HEAD + (deepest + 1) * ROW + FOOT;
    graph.textContent = '';
    for (k = 0; k < boxes.length; k++) drawBox(boxes[k][0], boxes[k][1], boxes[k][2]);
    if (!whole)
        make(graph, 'text', {x: PAD, y: HEAD + 14, 'class': 'muted'},
             'Nothing was counted here.');
    svg.setAttribute('width', width);
    svg.setAttribute('height', height);
    svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
    el('foot').setAttribute('y', height - 18);
    if (!state.above) window.scrollTo(0, height - below);
    drawHead();
}

function drawBox(i, x, w) {
    var f = frameOf(i), hit = hits && hits[data.nodes[i * STRIDE + 1]];
    var y = state.above ? HEAD + depth[i] * ROW : height - FOOT - (depth[i] + 1) * ROW;
    var room = Math.floor((w - 9) / CHAR), kind = 'box';
    if (f[4]) kind += ' inlined';
    if (hits && !hit) kind += ' miss';
    if (depth[i] < depth[state.zoom]) kind += ' above';
    var g = make(graph, 'g', {'class': kind});
    g.heaptapNode = i;
    make(g, 'rect', {'class': hit ? 'hit' : boxClass(i), x: x.toFixed(2), y: y,
                     width: Math.max(w > 3 ? w - 1 : w, 0.3).toFixed(2), height: ROW - 1,
                     rx: w > 8 ? 3 : w > 3 ? 1 : 0});
    if (room >= 3)
        make(g, 'text', {x: (x + 5).toFixed(2), y: y + 13.5}, fit(f[1] || f[0], room));
}

// Texts about a box: name, values, location.
function describe(i) {
    var f = frameOf(i), where = f[3] && f[3] + (lineOf(i) ? ':' + lineOf(i) : ''), text;
    var module = i ? data.modules[f[2]][0] : '', w = widthOf(i), a, b;
    if (data.two) {
        b = beforeOf(i);
        a = afterOf(i);
        text = human(b) + ' → ' + human(a) + ' (' + signed(a - b);
        if (b !== a) text += b ? ', ' + (a > b ? '+' : '') + percent(a - b, b) : ', new';
    } else {
        text = human(w) + ' (' + percent(w, widthOf(0));
        if (state.zoom && depth[i] >= depth[state.zoom])
            text += ', ' + percent(w, widthOf(state.zoom)) + ' of the zoomed box';
    }
    return {name: f[0] + (f[4] ? ' (inlined)' : ''), text: text + ')',
            where: [where, module].filter(Boolean).join('  ·  ')};
}

function fit(text, room) {
    room = Math.max(Math.floor(room), 1);
    return text.length > room ? text.slice(0, room - 1) + '…' : text;
}

function showDetail(i) {
    var detail = el('detail'), room = (width - 2 * PAD) / 7.3, d;
    detail.textContent = '';
    if (i === null) {
        make(detail, 'tspan', {'class': 'muted'},
             'Point at a box for details. Click zooms in, / searches, i flips, 1 to ' + M +
             ' choose what is shown, Esc resets.');
        return;
    }
    d = describe(i);
    room -= d.text.length + 5;
    make(detail, 'tspan', {'class': 'strong'}, d.text + '  ');
    make(detail, 'tspan', {},
         fit(d.name, Math.max(room - d.where.length, room / 2)) + '   ');
    make(detail, 'tspan', {'class': 'muted'},
         fit(d.where, Math.max(room - d.name.length, room / 2)));
}

// Boxes on top of a match are part of the match and not counted again.
function matchedText() {
    var sum = 0, boxes = 0, inside = new Uint8Array(count), i;
    for (i = 1; i < count; i++) {
        inside[i] = inside[parentOf(i)];
        if (!hits[data.nodes[i * STRIDE + 1]] || !widthOf(i)) continue;
        boxes++;
        if (!inside[i]) sum += widthOf(i);
        inside[i] = 1;
    }
    return percent(sum, widthOf(0)) + ' matched: ' + human(sum) + ' in ' +
           boxes.toLocaleString('en') + (boxes === 1 ? ' box' : ' boxes');
}

// Draw a button whose left edge is X, with RIGHT its right edge. Returns the X of the next button.
function button(x, text, on, action, right) {
    var w = Math.round(text.length * CHAR + 20), left = right ? x - w : x;
    var g = make(el('tabs'), 'g', {'class': on ? 'button on' : 'button', tabindex: 0,
                                   role: 'button'});
    make(g, 'rect', {x: left, y: 64, width: w, height: 24, rx: 6});
    make(g, 'text', {x: left + 10, y: 80}, text);
    g.addEventListener('click', action);
    g.addEventListener('keydown', function (e) {
        if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); action(); }
    });
    return right ? left - 8 : left + w + 8;
}

function metricButton(x, m) {
    var shown = state.metric, total;
    state.metric = m;
    total = data.two ? signed(afterOf(0) - beforeOf(0)) : human(widthOf(0));
    state.metric = shown;
    return button(x, data.metrics[m][0] + ' ' + total, m === shown, function () {
        go({metric: m});
    });
}

function drawHead() {
    var x = PAD, m;
    el('tabs').textContent = '';
    for (m = 0; m < M; m++) x = metricButton(x, m);
    x = button(width - PAD - 228, 'Flip', false, flip, true);
    if (state.zoom || state.search) button(x, 'Reset', false, reset, true);
    el('bar').setAttribute('width', width);
    matched.setAttribute('x', width - PAD);
    matched.textContent = hits ? matchedText() : '';
    drawLegend(width - PAD - (hits ? matched.textContent.length * 7.3 + 16 : 0));
    showDetail(null);
    placeHead();
}

function drawLegend(right) {
    var legend = el('legend'), x = PAD, k, name, w;
    legend.textContent = '';
    for (k = 0; k < data.legend.length; k++) {
        name = data.legend[k][0];
        w = 34 + name.length * 6.3;
        if (x + w > right) break;
        make(legend, 'rect', {'class': data.legend[k][1], x: x, y: 101, width: 11,
                              height: 11, rx: 3});
        make(legend, 'text', {x: x + 16, y: 111}, name);
        x += w;
    }
}

// Keep the head in view when a tall graph scrolls.
function placeHead() {
    head.setAttribute('transform', 'translate(0,' + window.scrollY + ')');
}

function compile(term) {
    var flags = /[A-Z]/.test(term) ? '' : 'i';
    try {
        return new RegExp(term, flags);
    } catch (e) { // The text is not a valid pattern (yet), so search for the text itself.
        return new RegExp(term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), flags);
    }
}

function findHits() {
    var re;
    hits = null;
    if (!state.search) return;
    re = compile(state.search);
    hits = data.frames.map(function (f, k) {
        return k > 0 && (re.test(f[0]) || re.test(f[3]) || re.test(data.modules[f[2]][0]));
    });
}

// Set the state from the address, so that Back undoes a zoom and a link shows the same picture.
function readAddress() {
    var next = {metric: data.metric, above: data.above, zoom: 0, search: ''};
    location.hash.slice(1).split('&').forEach(function (pair) {
        var at = pair.indexOf('='), key = pair.slice(0, at), value = '';
        try { value = decodeURIComponent(pair.slice(at + 1)); } catch (e) { return; }
        if (key === 'search') next.search = value;
        if (key === 'zoom' && +value > 0 && +value < count) next.zoom = Math.floor(+value);
        if (key === 'root') next.above = value === 'above';
        data.metrics.forEach(function (m, k) {
            if (key === 'metric' && m[2] === value) next.metric = k;
        });
    });
    state = next;
    findHits();
    draw();
    if (box && box !== document.activeElement) box.value = state.search;
}

function go(change) {
    var s = Object.assign({}, state, change), parts = [];
    if (s.search) parts.push('search=' + encodeURIComponent(s.search));
    if (s.zoom) parts.push('zoom=' + s.zoom);
    if (s.above !== data.above)
        parts.push('root=' + (s.above ? 'above' : 'below'));
    if (s.metric !== data.metric) parts.push('metric=' + data.metrics[s.metric][2]);
    if ('#' + parts.join('&') === (location.hash || '#')) return;
    // Typing in the search box is one step of the history, not one per letter.
    if ('search' in change && state.search && s.search)
        location.replace('#' + parts.join('&'));
    else location.hash = parts.join('&');
}
function flip() { go({above: !state.above}); }
function reset() { box.value = ''; go({zoom: 0, search: ''}); }

function searchBox() {
    var holder = make(head, 'foreignObject',
                      {id: 'holder', y: 64, width: 222, height: 26});
    var input = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
    input.setAttribute('placeholder', 'Search  /');
    input.setAttribute('aria-label', 'Regular expression: functions, files, modules');
    input.setAttribute('spellcheck', 'false');
    input.addEventListener('input', function () { go({search: input.value}); });
    holder.appendChild(input);
    return input;
}

// Width of the page, without the scroll bar if the browser reports that.
function visibleWidth() {
    return window.visualViewport ? window.visualViewport.width : window.innerWidth;
}

function resize() {
    width = Math.max(720, visibleWidth());
    el('holder').setAttribute('x', width - PAD - 220);
    draw();
}

function nodeAt(target) {
    while (target && target !== graph) {
        if (target.heaptapNode !== undefined) return target;
        target = target.parentNode;
    }
    return null;
}

for (var i = 0; i < count; i++) {
    children.push([]);
    if (i) children[parentOf(i)].push(i);
    depth[i] = i ? depth[parentOf(i)] + 1 : 0;
}
var box = searchBox();
var matched = make(head, 'text', {y: 111, 'class': 'strong', 'text-anchor': 'end'});
graph.addEventListener('mouseover', function (e) {
    var g = nodeAt(e.target), d;
    if (!g) return;
    showDetail(g.heaptapNode);
    if (!g.querySelector('title')) {
        d = describe(g.heaptapNode);
        make(g, 'title', {}, d.name + '\n' + d.text + (d.where ? '\n' + d.where : ''));
    }
});
graph.addEventListener('mouseout', function () { showDetail(null); });
graph.addEventListener('click', function (e) {
    var g = nodeAt(e.target);
    if (g) go({zoom: g.heaptapNode});
});
window.addEventListener('keydown', function (e) {
    var typing = e.target === box;
    if (e.key === 'Escape') { box.blur(); reset(); }
    else if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
    else if (e.key === '/') { e.preventDefault(); box.focus(); box.select(); }
    else if (e.key === 'i') flip();
    else if (e.key >= '1' && e.key <= String(M)) go({metric: +e.key - 1});
});
window.addEventListener('hashchange', readAddress);
window.addEventListener('scroll', placeHead);
window.addEventListener('resize', resize);
resize();
readAddress();
})();
