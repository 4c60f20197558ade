/* profile.js: the model for all views, built once from the document.
 *
 *     document.report ──┐   modules, files, functions, frames, stacks, heaps, labels: numbers,
 *     document.before ──┴─► each item once; sites and parts: columns of Float64Array, of both
 *
 * All data is in columns of numbers. With an object for each of half a million stacks, the model
 * would take a gigabyte, and every click more than 50 ms. Items are numbered from 0, and -1 means
 * "none".
 *
 * Stacks form a tree, as in the document (docs/json.md), but stacks with equal text are merged
 * here: frames of the same function, file, line and module are one frame, whatever their addresses,
 * as in the command (analyse/stacks.c). A frame without function and file is identified by its
 * address. A caller has a smaller number than its callees. Stack 0 has no frames; sites that did
 * not fit into the recorder's tree have it.
 *
 * A function is identified by its name and its module, and by its file if others may have the name
 * (analyse/group.c); without a name by its start or, if that is unknown, by the call. If several
 * functions share a name, `place` has the end of the path of each one's file. After the functions
 * of the document and those without names there are three pseudo-functions: `other` (of sites
 * without a stack), `outside` (before and after main) and `unknown` (callers that were not
 * recorded); calls.js uses them.
 *
 * Two profiles are matched by the rule of `heaptap diff`. Addresses never agree, and lines shift,
 * so a function is identified by its name and file. Heaps and labels are matched by name. Lines and
 * modules are not matched, so that a table by line is right for both sides. In a table by stack,
 * two sites that differ only in lines or modules share a row (groups.js, 'site').
 *
 * A site is a stack, as in a report, for one heap and one set of labels. Its parts (`parts`) have
 * its blocks by size and type, if the document has them; otherwise each site has one part of an
 * unknown class. */
import {isStandard} from './name_parts.js';
import {PairMap} from './pair_map.js';
import {pathTails} from './path_tails.js';
import {samePaths} from './same_paths.js';

/** Names of the kinds of code in `functions.kind` and `modules.kind`; a script has no module. */
export const KINDS = ['own', 'library', 'runtime', 'unknown', 'script'];
const RUNTIME_KIND = 2, UNKNOWN_KIND = 3, SCRIPT_KIND = 4;

/** Values of `functions.role` */
export const ROLE_NONE = 0, ROLE_WRAPPER = 1, ROLE_STARTUP = 2;

/** Bits of `sites.flags` */
export const SITE_OTHER = 1, SITE_TRUNCATED = 2, SITE_GUESSED = 4, SITE_BROKEN = 8;

/** Columns of sites and parts. `short_lived` is died_within_16, or temporary if died_within_16 is
 * unknown. */
export const COLUMNS = ['allocations', 'allocated_bytes', 'frees', 'freed_bytes', 'reallocations',
    'live_blocks', 'live_bytes', 'peak_blocks', 'peak_bytes', 'temporary', 'short_lived',
    'size_min', 'size_max'];

/** Names of size classes in `parts.sizeClass`; -1 means unknown. */
export const SIZE_CLASSES = ['s', 'm', 'l', 'x'];

/** Names of the pseudo-functions `other`, `outside`, `unknown` and `truncated`; the last one has
 * another name if no stack was truncated, but callers were not recorded. */
const NO_FUNCTIONS = ['[other stacks]', '(outside main)', '(unknown callers)',
    '[truncated stacks]'], CALLERS_NOT_RECORDED = '[callers not recorded]';

/**
 * @typedef {object} Profile
 * @property {object} page the document
 * @property {object} report the document's report; for two profiles, the second one's
 * @property {object|null} before the report of the first profile
 * @property {{count: number, path: string[], kind: Uint8Array, program: Uint8Array,
 *     symbols: (string|null)[]}} modules
 * @property {string[]} files
 * @property {{count: number, real: number, name: string[], module: Int32Array, file: Int32Array,
 *     place: string[], role: Uint8Array, kind: Uint8Array, shown: Uint8Array,
 *     nameless: Uint8Array, other: number, outside: number, unknown: number}} functions the first
 *     `real` are real functions. `kind` is the module's. `shown` also has start-up code, standard
 *     libraries and interpreters as runtime, wherever their code is
 * @property {{count: number, function: Int32Array, file: Int32Array, line: Int32Array,
 *     module: Int32Array, inlined: Uint8Array, address: string[]}} frames line 0 is unknown;
 *     address: address in the process of one of the merged frames
 * @property {{count: number, parent: Int32Array, frame: Int32Array, function: Int32Array,
 *     depth: Int32Array}} stacks parent, frame and function of stack 0 are -1
 * @property {{count: number, stack: Int32Array, heap: Int32Array, labels: Int32Array,
 *     flags: Uint8Array, number: Int32Array, columns: object, beforeColumns: object|null}} sites
 *     `number` 0 = none; a column is a Float64Array, or null if unknown
 * @property {{count: number, known: boolean, site: Int32Array, sizeClass: Int8Array,
 *     type: Int32Array, verdict: Int8Array, columns: object, beforeColumns: object|null}} parts
 *     known is false if the document has none
 * @property {string[]} heaps
 * @property {{text: string, set: object|null}[]} labels set is null if unknown
 * @property {string[]} types
 * @property {{elapsed_ns: number, name: string|null, kind: string}[]} points moments of the
 *     history, with the start and the end; [] without a history
 * @property {object|null} changes {count, point, site, part, allocations, allocated_bytes, frees,
 *     freed_bytes}; part is null if the history is of sites
 * @property {{frame: Int32Array, function: Int32Array, file: Int32Array, module: Int32Array,
 *     stack: Int32Array}} of
 *     numbers in this model, by number in `report.tables`: of.stack[3]
 * @property {Map} cache computed data that is valid as long as the profile
 */

/**
 * @param {object} page a document, see load.js
 * @returns {Profile}
 */
export function buildProfile(page) {
    const builder = new Builder(Boolean(page.before), page.report.tables.stacks.parent.length);
    const after = builder.addTables(page.report);
    const before = page.before ? builder.addTables(page.before, page.report) : null;
    const profile = builder.finishTables();
    const of = after.maps;

    Object.assign(profile, {page, report: page.report, before: page.before ?? null, of,
        cache: new Map()});
    addSites(profile, after, before);
    addParts(profile, after, before);
    addHistory(profile, page, after);
    if (isCallerless(profile))
        profile.functions.name[profile.functions.truncated] = CALLERS_NOT_RECORDED;
    return profile;
}

/* Return true if callers are not known only because they were not recorded. */
function isCallerless({report, before}) {
    const bounds = [report, before].filter((one) => one?.losses?.inclusive_is_lower_bound);

    return bounds.length > 0 && bounds.every(({losses}) =>
        !(losses.truncated_stacks > 0) && !(losses.shortened_stacks > 0));
}

/* --- Tables ---------------------------------------------------------------------------------- */

/* Interns texts and keys of one kind. */
class Names {
    constructor() {
        this.ids = new Map();
        this.list = [];
    }

    id(key, make = () => key) {
        let id = this.ids.get(key);

        if (id === undefined) {
            id = this.list.length;
            this.ids.set(key, id);
            this.list.push(make());
        }
        return id;
    }
}

class Builder {
    /**
     * @param {boolean} compares true if there are two profiles to match
     * @param {number} stacks expected number of stacks
     */
    constructor(compares, stacks) {
        this.compares = compares;
        this.modules = new Names();
        this.files = new Names();
        this.functions = new Names();
        this.frames = new Names();
        this.heaps = new Names();
        this.labels = new Names();
        this.types = new Names();
        this.stacks = new PairMap(stacks);
        this.stacks.put(-1, -1); // The stack without frames.
    }

    /* Renumber the items of REPORT for this model. If LIKE is given, files and modules get the
     * matching paths of LIKE. */
    addTables(report, like = null) {
        const t = report.tables, maps = {};
        const paths = (tables) => tables.modules.map((m) => m.path ?? '');
        const files = samePaths(t.files, like?.tables.files ?? []);
        const modules = samePaths(paths(t), like ? paths(like.tables) : []);

        maps.module = Int32Array.from(t.modules, (m, i) => this.module(report, m, i, modules));
        maps.file = Int32Array.from(t.files, (file) => this.files.id(files.get(file) ?? file));
        // A profile that is not compared keeps its numbers.
        if (!this.compares)
            t.functions.name.forEach((name, i) => this.functions.id(i, () =>
                ({name, module: mapped(maps.module, t.functions.module[i]),
                    file: mapped(maps.file, t.functions.file?.[i]),
                    role: roleOf(t, i), nameless: false})));
        maps.frame = this.addFrames(t, maps);
        maps.function = this.functionMap(t, maps.frame);
        maps.stack = this.addStacks(t.stacks, maps.frame);
        maps.heap = Int32Array.from(t.heaps ?? [], (heap) => this.heaps.id(heap));
        maps.labels = Int32Array.from(t.labels ?? [], (set) => this.labelSet(set));
        maps.type = Int32Array.from(t.types ?? [], (type) => this.types.id(type));
        return {report, maps};
    }

    module(report, m, i, matches) {
        const path = matches.get(m.path ?? '') ?? m.path ?? '';
        const programs = report.merged?.programs.map((p) => p.executable);
        const program = m.program ?? (programs ?? [report.process.executable]).includes(m.path);

        return this.modules.id(this.compares ? path : i, () => ({path, program,
            kind: m.kind ? KINDS.indexOf(m.kind) : UNKNOWN_KIND,
            interpreter: m.interpreter === true, symbols: m.symbols ?? null}));
    }

    addFrames(t, maps) {
        const f = t.frames, count = f.function.length, result = new Int32Array(count);

        for (let i = 0; i < count; i++) {
            const module = mapped(maps.module, f.module[i]);
            const file = mapped(maps.file, f.file[i]);
            const line = f.line[i] ?? 0, inlined = f.inlined[i] ? 1 : 0;
            const fn = this.functionOf(t, i, module, file);
            const alone = f.function[i] === null && file < 0 ? f.address[i] : '';
            const key = `${fn} ${file} ${line} ${module} ${inlined} ${alone}`;

            result[i] = this.frames.id(key, () =>
                ({fn, file, line, module, inlined, address: f.address[i]}));
            if (f.language?.[i])
                this.functions.list[fn].language = f.language[i];
            if (this.functions.list[fn].file < 0)
                this.functions.list[fn].file = file;
        }
        return result;
    }

    /* Return the function of frame I: by its number, or by name and file, which two profiles may
     * share. */
    functionOf(t, i, module, file) {
        const f = t.frames, named = f.function[i];

        if (named !== null && !this.compares)
            return named;
        if (named !== null) {
            const name = t.functions.name[named];

            return this.functions.id(`${name}\n${file}`, () =>
                ({name, module, file, role: roleOf(t, named), nameless: false}));
        }
        const name = namelessName(t, i, this.modules.list[module]);
        const key = this.compares ? `${name}\n${file}`
            : `${module} ${f.function_offset?.[i] ?? f.address[i]} ` +
              `${f.function_offset?.[i] ? 'begins' : ''}`;

        return this.functions.id(key, () =>
            ({name, module, file, role: ROLE_NONE, nameless: true}));
    }

    /* Return the functions by number in the document. In a comparison, the function of any frame
     * with that number. */
    functionMap(t, frames) {
        const map = new Int32Array(t.functions.name.length).fill(-1);

        t.frames.function.forEach((named, i) => {
            if (named !== null && map[named] < 0)
                map[named] = this.frames.list[frames[i]].fn;
        });
        return map;
    }

    addStacks(stacks, frames) {
        const count = stacks.parent.length, result = new Int32Array(count);

        for (let i = 1; i < count; i++)
            result[i] = this.stacks.put(result[stacks.parent[i]], frames[stacks.frame[i]]);
        return result;
    }

    labelSet(set) {
        const text = set === null ? 'other labels'
            : Object.entries(set).map(([key, value]) => `${key}=${value}`).join(', ');

        return this.labels.id(set === null ? 'null' : `set ${text}`, () => ({text, set}));
    }

    finishTables() {
        const functions = this.functions.list;
        const real = functions.length;

        NO_FUNCTIONS.forEach((name) =>
            functions.push({name, module: -1, file: -1, role: ROLE_NONE, nameless: false}));
        return {
            modules: this.finishModules(),
            files: this.files.list,
            functions: this.finishFunctions(functions, real),
            frames: this.finishFrames(),
            stacks: this.finishStacks(),
            heaps: this.heaps.list,
            labels: this.labels.list,
            types: this.types.list,
        };
    }

    finishModules() {
        const list = this.modules.list;

        return {count: list.length, path: list.map((m) => m.path),
            kind: Uint8Array.from(list, (m) => m.kind),
            program: Uint8Array.from(list, (m) => m.program ? 1 : 0),
            symbols: list.map((m) => m.symbols)};
    }

    finishFunctions(list, real) {
        return {count: list.length, real, other: real, outside: real + 1, unknown: real + 2,
            truncated: real + 3,
            name: list.map((f) => f.name),
            place: pathTails(list.map((f) => this.ownerOf(f))),
            module: Int32Array.from(list, (f) => f.module),
            file: Int32Array.from(list, (f) => f.file),
            role: Uint8Array.from(list, (f) => f.role),
            kind: Uint8Array.from(list, (f) => f.language ? SCRIPT_KIND
                : this.modules.list[f.module]?.kind ?? UNKNOWN_KIND),
            shown: Uint8Array.from(list, (f) => this.shownKind(f)),
            language: list.map((f) => f.language ?? null),
            nameless: Uint8Array.from(list, (f) => f.nameless ? 1 : 0)};
    }

    /* Return the name of function F with its place, see path_tails.js. */
    ownerOf(f) {
        const module = this.modules.list[f.module]?.path ?? f.language ?? '';

        return {name: f.name, path: this.files.list[f.file] ?? module, more: baseName(module)};
    }

    /* Return the kind of function F as readers see it. */
    shownKind(f) {
        const module = this.modules.list[f.module];

        if (f.language)
            return SCRIPT_KIND;
        if (!module || f.role === ROLE_STARTUP || module.interpreter
            || isStandard(f.name, this.files.list[f.file] ?? ''))
            return module ? RUNTIME_KIND : UNKNOWN_KIND;
        return module.kind;
    }

    finishFrames() {
        const list = this.frames.list;

        return {count: list.length,
            function: Int32Array.from(list, (f) => f.fn),
            file: Int32Array.from(list, (f) => f.file),
            line: Int32Array.from(list, (f) => f.line),
            module: Int32Array.from(list, (f) => f.module),
            inlined: Uint8Array.from(list, (f) => f.inlined),
            address: list.map((f) => f.address)};
    }

    finishStacks() {
        const parent = this.stacks.firsts(), frame = this.stacks.seconds();
        const count = parent.length, list = this.frames.list;
        const fn = new Int32Array(count).fill(-1), depth = new Int32Array(count);

        for (let i = 1; i < count; i++) {
            fn[i] = list[frame[i]].fn;
            depth[i] = depth[parent[i]] + 1;
        }
        return {count, parent, frame, function: fn, depth};
    }
}

function mapped(map, index) {
    return index === null || index === undefined ? -1 : map[index];
}

function roleOf(t, i) {
    const role = t.functions.role?.[i];

    return role === 'wrapper' ? ROLE_WRAPPER : role === 'startup' ? ROLE_STARTUP : ROLE_NONE;
}

/* Return a name such as "libz.so.1+0x1f00…" by the start, "libz.so.1+0x1f2c" by the call, "0x7f…"
 * without a module, like analyse/frame_name.c. The address of a call is one less than the recorded
 * one. */
function namelessName(t, i, module) {
    const f = t.frames, back = f.exact?.[i] ? 0n : 1n;
    const less = (text) => {
        const address = BigInt(text);

        return `0x${(address > 0n ? address - back : 0n).toString(16)}`;
    };

    if (!module)
        return less(f.address[i]);
    const base = baseName(module.path) || '[unknown]';

    return f.function_offset?.[i] ? `${base}+${f.function_offset[i]}…`
        : `${base}+${less(f.offset[i])}`;
}

/** Return the part of PATH after the last slash. */
export function baseName(path) {
    return path.slice(path.lastIndexOf('/') + 1);
}

/* --- Sites ----------------------------------------------------------------------------------- */

function addSites(profile, after, before) {
    const sides = [after, before].filter(Boolean);
    const tags = new PairMap(), keys = new PairMap(after.report.sites.stack.length);

    for (const side of sides)
        side.site = sitesOf(side, tags, keys);
    const count = keys.count, stack = keys.firsts(), tag = keys.seconds();
    const tagRow = tags.seconds();
    const sites = {
        count, stack,
        heap: Int32Array.from(tag, (i) => tags.a[i]),
        labels: Int32Array.from(tag, (i) => tagRow[i] >> 4),
        flags: Uint8Array.from(tag, (i) => tagRow[i] & 15),
        number: new Int32Array(count),
        columns: newColumns(count, after.report.sites),
        beforeColumns: before && newColumns(count, before.report.sites),
    };
    for (const side of sides)
        addColumns(side === after ? sites.columns : sites.beforeColumns, side.report.sites,
            side.site);
    // The numbers come from AFTER's report, for sites missing there from BEFORE's.
    for (const side of sides)
        side.report.sites.number?.forEach((number, i) => {
            sites.number[side.site[i]] ||= number ?? 0;
        });
    profile.sites = sites;
    if (before)
        forgetLives(sites, after.report.sites, before.report.sites);
}

/* Return the index in the model of each site of SIDE, and add new sites to TAGS and KEYS. As in the
 * report, sites that differ in flags only are separate. */
function sitesOf(side, tags, keys) {
    const s = side.report.sites, {stack, heap, labels} = side.maps;

    return Int32Array.from(s.stack, (of, i) => {
        const flags = (s.other[i] && SITE_OTHER) | (s.truncated[i] && SITE_TRUNCATED) |
            (s.guessed[i] && SITE_GUESSED) | (s.broken[i] && SITE_BROKEN);
        const tag = tags.put(mapped(heap, s.heap[i]), mapped(labels, s.labels[i]) << 4 | flags);

        return keys.put(stack[of], tag);
    });
}

function sourceOf(table, column) {
    const source = column === 'short_lived' && isKnownColumn(table.died_within_16)
        ? table.died_within_16 : table[column === 'short_lived' ? 'temporary' : column];

    return isKnownColumn(source) ? source : null;
}

function isKnownColumn(column) {
    return column !== undefined && (column.length === 0 || column[0] !== null);
}

function newColumns(count, table) {
    const columns = {};

    for (const name of COLUMNS) {
        columns[name] = sourceOf(table, name) ? new Float64Array(count) : null;
        if (name === 'size_min' && columns[name])
            columns[name].fill(Infinity);
    }
    columns.short_lived_is_temporary = !isKnownColumn(table.died_within_16);
    return columns;
}

/* Add the rows of TABLE to COLUMNS; row I is added at TO[I]. */
function addColumns(columns, table, to) {
    for (const name of COLUMNS) {
        const column = columns[name], source = sourceOf(table, name);

        if (!column || !source)
            continue;
        for (let i = 0; i < to.length; i++)
            if (name === 'size_min')
                column[to[i]] = Math.min(column[to[i]], source[i]);
            else if (name === 'size_max')
                column[to[i]] = Math.max(column[to[i]], source[i]);
            else
                column[to[i]] += source[i];
    }
    if (columns.size_min)
        columns.size_min.forEach((size, i) => {
            if (size === Infinity)
                columns.size_min[i] = 0;
        });
}

/* If one side lacks lifetimes, compare the temporary blocks, which both sides have. */
function forgetLives(table, after, before) {
    if (isKnownColumn(after.died_within_16) && isKnownColumn(before.died_within_16))
        return;
    table.columns.short_lived = table.columns.temporary;
    table.beforeColumns.short_lived = table.beforeColumns.temporary;
    table.columns.short_lived_is_temporary = true;
}

/* --- Parts ----------------------------------------------------------------------------------- */

const VERDICTS = {unknown: 0, 'same size': 1, likely: 2, certain: 3};

/** Names for `parts.verdict`. */
export const VERDICT_NAMES = Object.keys(VERDICTS);

function addParts(profile, after, before) {
    const sides = [after, before].filter(Boolean);

    if (!sides.every((side) => side.report.parts)) {
        profile.parts = {...profile.sites, known: false,
            site: Int32Array.from({length: profile.sites.count}, (_, i) => i),
            sizeClass: new Int8Array(profile.sites.count).fill(-1),
            type: new Int32Array(profile.sites.count).fill(-1),
            verdict: new Int8Array(profile.sites.count).fill(-1)};
        return;
    }
    const total = sides.reduce((sum, side) => sum + side.report.parts.site.length, 0);
    const parts = {count: total, known: true, site: new Int32Array(total),
        sizeClass: new Int8Array(total), type: new Int32Array(total).fill(-1),
        verdict: new Int8Array(total).fill(-1),
        columns: newColumns(total, after.report.parts),
        beforeColumns: before && newColumns(total, before.report.parts)};
    let first = 0;

    for (const side of sides) {
        const p = side.report.parts, offset = first;

        side.part = Int32Array.from(p.site, (_, i) => offset + i);
        p.site.forEach((site, i) => {
            parts.site[offset + i] = side.site[site];
            parts.sizeClass[offset + i] = p.size_class?.[i] ?? -1;
            parts.type[offset + i] = mapped(side.maps.type, p.type?.[i]);
            parts.verdict[offset + i] = VERDICTS[p.verdict?.[i]] ?? -1;
        });
        addColumns(side === after ? parts.columns : parts.beforeColumns, p, side.part);
        first += p.site.length;
    }
    profile.parts = parts;
    if (before)
        forgetLives(parts, after.report.parts, before.report.parts);
}

/* --- History --------------------------------------------------------------------------------- */

/* Moments of two profiles are unrelated, so profiles are only compared as wholes. */
function addHistory(profile, page, after) {
    const history = page.before ? null : page.report.history;
    const changes = history?.changes;

    profile.points = history?.points ?? [];
    profile.changes = null;
    if (!changes)
        return;
    const count = changes.point.length;
    const hasParts = Boolean(changes.part && profile.parts.known);

    profile.changes = {count, point: Int32Array.from(changes.point), part: null, site: null};
    if (hasParts) {
        profile.changes.part = Int32Array.from(changes.part, (part) => after.part[part]);
        profile.changes.site = profile.changes.part.map((part) => profile.parts.site[part]);
    } else {
        profile.changes.site = Int32Array.from(changes.site, (site) => after.site[site]);
    }
    for (const name of ['allocations', 'allocated_bytes', 'frees', 'freed_bytes'])
        profile.changes[name] = Float64Array.from(changes[name]);
}
