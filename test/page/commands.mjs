/* commands.mjs: read the command's output for a profile in the form that the model's queries have.
 *
 * The key of a function is its name and module (in a comparison, its name and file), the key of a
 * stack its frames as text. Rows with equal keys are added up on both sides; otherwise they would
 * hide each other. */
import {execFileSync} from 'node:child_process';

const heaptap = process.env.HEAPTAP ?? 'build/heaptap';

/* Return the document that `heaptap ARGS --json` prints. */
export function view(...args) {
    return JSON.parse(execFileSync(heaptap, [...args, '--json'],
        {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']}));
}

/* Return the columns of TABLE as objects. */
export function rowsOf(table) {
    const names = Object.keys(table);

    return table[names[0]].map((_, i) =>
        Object.fromEntries(names.map((name) => [name, table[name][i]])));
}

/* Return sums of numbers by key, without keys whose sums are all 0. */
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

    /* Return [key, numbers] sorted by key, for a comparison. */
    list() {
        return [...this.map].filter(([, values]) => values.some((value) => value !== 0))
            .sort(([x], [y]) => x < y ? -1 : x > y ? 1 : 0);
    }
}

/* Return one text for a frame of a document, with the parts that readers see. */
export function frameText(tables, frame) {
    const f = tables.frames, fn = f.function[frame];
    const place = fn === null && f.file[frame] === null ? f.address[frame] : '';
    const file = tables.files[f.file[frame]] ?? '?', module = tables.modules[f.module[frame]]?.path;

    return `${tables.functions.name[fn] ?? '?'} ${file}:${f.line[frame]} ${module} ` +
        `${f.inlined[frame]} ${place}`;
}

/* Return stack STACK of a document, innermost first, each frame as NAME(tables, frame). */
export function stackText(tables, stack, name = frameText) {
    const texts = [];

    for (let at = stack; at > 0; at = tables.stacks.parent[at])
        texts.push(name(tables, tables.stacks.frame[at]));
    return texts.join('\n');
}
