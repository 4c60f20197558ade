/* commands.mjs: the command's output for a profile, in the form of queries to the model.
 *
 * The key of a function is its name and module (in a comparison its file), the key of a stack its
 * frames as text. Rows with equal keys would hide each other, so they are added up on both
 * sides. */
import {execFileSync} from 'node:child_process';

const heaptap = process.env.HEAPTAP ?? 'build/heaptap';

/** The document that `heaptap ARGS --json` prints. */
export function view(...args) {
    return JSON.parse(execFileSync(heaptap, [...args, '--json'],
        {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']}));
}

/** The columns of TABLE as objects. */
export function rowsOf(table) {
    const names = Object.keys(table);

    return table[names[0]].map((_, i) =>
        Object.fromEntries(names.map((name) => [name, table[name][i]])));
}

/** Sums of numbers by key, without keys whose sums are all 0. */
export class Sums {
    constructor() {
        this.map = new Map();
    }

    add(key, ...values) {
        const sum = this.map.get(key);

        if (!sum)
            this.map.set(key, values);
        else
            values.forEach((value, i) => {
                sum[i] += value;
            });
    }

    /** For comparing: [key, numbers] by key. */
    list() {
        return [...this.map].filter(([, values]) => values.some((value) => value !== 0))
            .sort(([x], [y]) => x < y ? -1 : x > y ? 1 : 0);
    }
}

/** One text for a frame of a document, as far as one can read it. */
export function frameText(tables, frame) {
    const f = tables.frames, fn = f.function[frame];
    const place = fn === null && f.file[frame] === null ? f.address[frame] : '';
    const file = tables.files[f.file[frame]] ?? '?', module = tables.modules[f.module[frame]]?.path;

    return `${tables.functions.name[fn] ?? '?'} ${file}:${f.line[frame]} ${module} ` +
        `${f.inlined[frame]} ${place}`;
}

/** The stack STACK of a document, innermost first, each frame by NAME(tables, frame). */
export function stackText(tables, stack, name = frameText) {
    const texts = [];

    for (let at = stack; at > 0; at = tables.stacks.parent[at])
        texts.push(name(tables, tables.stacks.frame[at]));
    return texts.join('\n');
}
