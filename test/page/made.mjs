/* made.mjs: build documents whose numbers are known by construction, and large ones.
 *
 * A site is given as its stack, functions from main inwards, and its values. Sites become tables as
 * in the command (docs/json.md): callers before callees, stack 0 without frames. */

const ZERO = {allocations: 0, allocated_bytes: 0, frees: 0, freed_bytes: 0, reallocations: 0,
    live_blocks: 0, live_bytes: 0, peak_blocks: 0, peak_bytes: 0, temporary: 0, died_within_16: 0,
    died_within_256: 0, size_min: 0, size_max: 0};
const FLAGS = {other: false, truncated: false, guessed: false, broken: false};

/* Texts and keys, numbered in the order of their first use. */
class Table {
    constructor() {
        this.ids = new Map();
        this.list = [];
    }

    id(key, row = key) {
        if (!this.ids.has(key))
            this.ids.set(key, this.list.push(row) - 1);
        return this.ids.get(key);
    }
}

/* Forms of a frame: "parse@a.c:40 in libz.so.1", "?1f00 in libz.so.1" (a function without a name
 * that begins there), "?" (unknown place), "^f" (inlined, in prog), "-f@a.c:3" (other files may
 * have other functions f). */
function readFrame(text) {
    const [, inlined, local, name, file, line, module] =
        /^(\^?)(-?)([^@]*?)(?:@(.*?):(\d+))?(?: in (\S+))?$/s.exec(text);

    const begins = /^\?[0-9a-f]/.test(name) ? `0x${name.slice(1)}` : null;

    return {inlined: inlined !== '', local: local !== '',
        name: name.startsWith('?') ? null : name, begins,
        file: file ?? null, line: line ? Number(line) : null, module: module ?? '/opt/prog'};
}

/**
 * A report of SITES: {stack: [texts], heap, labels, live, allocated, calls, …, flags}.
 * @param {object[]} sites
 * @param {object} [more] members to add to the report; roles: by name of function
 */
export function report(sites, {roles = {}, ...more} = {}) {
    const modules = new Table(), files = new Table(), functions = new Table(), frames = new Table();
    const stacks = new Table(), heaps = new Table(), labels = new Table(), rows = [];

    stacks.id('', [null, null]);
    for (const site of sites) {
        let stack = 0;

        for (const text of site.stack) {
            const frame = addFrame({modules, files, functions, frames}, text, readFrame(text));

            stack = stacks.id(`${stack} ${frame}`, [stack, frame]);
        }
        rows.push({...ZERO, ...valuesOf(site), heap: heaps.id(site.heap ?? 'malloc'),
            labels: labels.id(JSON.stringify(site.labels ?? {}), site.labels ?? {}),
            ...FLAGS, ...site.flags, stack});
    }
    return {format: 'heaptap-report', version: 2,
        process: {command: 'prog', executable: '/opt/prog', elapsed_ns: 1e9},
        totals: totalsOf(rows),
        sites: columnsOf(rows, {...ZERO, heap: 0, labels: 0, ...FLAGS, stack: 0}),
        tables: {
            modules: modules.list.map((path) => ({path, kind: path === '/opt/prog' ? 'own'
                : path.includes('libc.so') ? 'runtime' : 'library'})),
            files: files.list,
            functions: {name: functions.list.map((f) => f.name),
                module: functions.list.map((f) => f.module),
                file: functions.list.map((f) => f.file),
                role: functions.list.map((f) => roles[f.name] ?? null)},
            frames: columnsOf(frames.list, {function: 0, file: 0, line: 0, module: 0, inlined: 0,
                address: 0, offset: 0, function_offset: 0}),
            stacks: {parent: stacks.list.map(([parent]) => parent),
                frame: stacks.list.map(([, frame]) => frame)},
            heaps: heaps.list, labels: labels.list,
        }, ...more};
}

function addFrame({modules, files, functions, frames}, text, f) {
    const module = modules.id(f.module);
    const own = f.local ? files.id(f.file) : null;
    const fn = f.name === null ? null
        : functions.id(`${f.name}\n${module}\n${own}`, {name: f.name, module, file: own});
    const number = frames.list.length + 1;

    return frames.id(text, {function: fn, file: f.file === null ? null : files.id(f.file),
        line: f.line, module, inlined: f.inlined, address: `0x${(4096 * number).toString(16)}`,
        offset: `0x${(16 * number).toString(16)}`, function_offset: f.begins});
}

function valuesOf({live = 0, allocated = Math.max(live, 0), calls = 1, peak = live}) {
    return {allocations: calls, allocated_bytes: allocated, freed_bytes: allocated - live,
        live_bytes: live, live_blocks: live > 0 ? calls : 0, peak_bytes: peak};
}

function totalsOf(rows) {
    const totals = {...ZERO};

    for (const row of rows)
        for (const name of Object.keys(ZERO))
            totals[name] += row[name];
    return totals;
}

function columnsOf(rows, names) {
    return Object.fromEntries(Object.keys(names).map((name) => [name, rows.map((r) => r[name])]));
}

/**
 * A large report, the same each time: STACKS stacks, every third with a site.
 * @param {number} count
 */
export function largeReport(count) {
    let seed = 12345;
    const random = (below) => {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        return Math.floor(seed / 4294967296 * below);
    };
    const functions = 6000, parent = [null, 0], frame = [null, 0], depth = [0, 1];
    const frames = Array.from({length: 40000}, (_, i) => ({function: i < functions ? i
        : random(functions), file: random(900), line: 1 + random(4000), module: random(40),
    inlined: random(5) === 0, address: `0x${(4096 + 4 * i).toString(16)}`, offset: '0x10',
    function_offset: null}));
    const sites = [];

    // Most stacks extend a recent stack, as in a program that walks through its code.
    while (parent.length < count) {
        const from = random(4) === 0 ? 1 + random(parent.length - 1)
            : parent.length - 1 - random(Math.min(parent.length - 1, 30));

        parent.push(depth[from] < 60 ? from : 1);
        depth.push(depth[parent[parent.length - 1]] + 1);
        frame.push(random(frames.length));
        if (random(3) === 0)
            sites.push({...ZERO, ...valuesOf({live: random(1e6), calls: 1 + random(99)}), heap: 0,
                labels: 0, ...FLAGS, stack: parent.length - 1});
    }
    return {format: 'heaptap-report', version: 2,
        process: {command: 'large', executable: '/opt/prog', elapsed_ns: 1e9},
        totals: totalsOf(sites),
        sites: columnsOf(sites, {...ZERO, heap: 0, labels: 0, ...FLAGS, stack: 0}),
        tables: {
            modules: Array.from({length: 40}, (_, i) => ({path: `/opt/lib${i}.so`, kind: 'own'})),
            files: Array.from({length: 900}, (_, i) => `src/file${i}.c`),
            functions: {name: Array.from({length: functions}, (_, i) => `function_${i}`),
                module: Array.from({length: functions}, (_, i) => i % 40),
                role: Array.from({length: functions}, (_, i) => i % 50 === 7 ? 'wrapper' : null)},
            frames: columnsOf(frames, {function: 0, file: 0, line: 0, module: 0, inlined: 0,
                address: 0, offset: 0, function_offset: 0}),
            stacks: {parent, frame}, heaps: ['malloc'], labels: [{}],
        },
        history: historyOf(sites.length, random)};
}

function historyOf(sites, random) {
    const points = Array.from({length: 50}, (_, i) => ({elapsed_ns: i * 2e7, name: null,
        kind: i === 0 ? 'start' : i === 49 ? 'end' : 'timed'}));
    const count = 4 * sites;
    const point = Array.from({length: count}, () => 1 + random(49)).sort((x, y) => x - y);
    const column = (below) => Array.from({length: count}, () => random(below));

    return {points, changes: {point, site: column(sites), allocations: column(9),
        allocated_bytes: column(9999), frees: column(9), freed_bytes: column(9999)}};
}
