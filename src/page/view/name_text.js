/* name_text.js: names from programs, which may be hostile, as legible text.
 *
 * A name may contain anything: tags, 2,000 characters, newlines, characters that change the text
 * direction. Invisible characters are shown as codes, so that different names look different.
 *
 * Names of C++ templates are mostly arguments. In rows their inner arguments become "…"; the tip
 * and the function's page have the whole name. Python's "<lambda>" is not an argument.
 *
 * If there is too little space, a name first loses its namespaces: the end of a name distinguishes
 * it from its neighbours, and the beginning rarely does. */
import {startsOf} from '../model/name_parts.js';

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const LONG = 80; // Shorter names are not shortened.
const ASIDE = '\ue000';
const NO_ARGUMENTS =
    /operator\s*(<=>|<<=|>>=|<<|>>|<=|>=|->\*|->|<|>)|(^|\.)<\w+>(?=[. ]|$)/g;

function picture(sign) {
    const code = sign.charCodeAt(0);
    if (code < 0x20)
        return String.fromCharCode(0x2400 + code);
    return `\\u${code.toString(16).padStart(4, '0')}`;
}

export function visible(text) {
    return String(text).replace(UNSEEN, picture);
}

/* Return NAME without the template arguments that are deeper than DEPTH; null if the angle brackets
 * do not match. Operators with angle brackets in their names, and parts of Python's names, are not
 * brackets. */
function elided(name, depth) {
    const kept = [];
    const aside = name.replace(NO_ARGUMENTS, (found) => {
        kept.push(found);
        return ASIDE;
    });
    let open = 0, short = '';
    for (const letter of aside) {
        if (letter === '<' && open++ === depth)
            short += '<…';
        if (letter === '>' && --open < 0)
            return null;
        if (open <= depth)
            short += letter;
    }
    return open === 0 ? short.replaceAll(ASIDE, () => kept.shift() ?? ASIDE) : null;
}

/* Return NAME with as many template arguments as a row has room for. */
export function shortName(name) {
    if (name.length <= LONG || !name.includes('<'))
        return name;
    for (const depth of [2, 1]) {
        const short = elided(name, depth);
        if (short !== null && short.length <= LONG)
            return short;
    }
    return elided(name, 0) ?? name;
}

/* Return NAME without the parameters, for sentences and overviews. A lambda keeps the parameters of
 * the enclosing function. */
export function briefName(name) {
    const short = elided(name, 0) ?? name;
    const text = short.replace(/( const| volatile| noexcept| &{1,2}| \[[^\]]*\])+$/, '');
    if (!text.endsWith(')'))
        return short;
    let depth = 0, at = text.length - 1;
    for (; at >= 0; at--) {
        depth += text[at] === ')' ? 1 : text[at] === '(' ? -1 : 0;
        if (depth === 0)
            break;
    }
    const head = text.slice(0, at);
    return at <= 0 || head.endsWith('operator') || head.endsWith(' ') ? short : head;
}

/* Return NAME, then NAME without its return type, without its outermost namespace, and so on. */
function withoutNamespaces(name) {
    return [name, ...startsOf(name).map((at) => name.slice(at))];
}

/* Return NAME without everything in parentheses, and a lambda without its operator(). */
function withoutParameters(name) {
    let depth = 0, text = '';
    for (const letter of name.replace(/::operator\(\)(?!:)[^:]*$/, '')
        .replaceAll('operator()', `operator${ASIDE}`)) {
        depth += letter === '(' ? 1 : 0;
        text += depth === 0 ? letter : '';
        depth -= letter === ')' ? 1 : 0;
    }
    return depth === 0 ? text.replaceAll(ASIDE, '()') : name;
}

/* Return the function's own name, without return type, namespaces, arguments and parameters:
 * "each_or_insert", "finalize::{lambda#1}". */
export function ownName(name) {
    const brief = briefName(name).replace(/::h[0-9a-f]{16}$/, '');
    const own = withoutNamespaces(brief).at(-1).replaceAll(/ ?<…>/g, '');
    return own.includes('{lambda') ? withoutParameters(own) : own || name;
}

const FORMS = new Map(); // A picture is drawn again at each move of the pointer.

/* Return the forms of NAME, from the whole name to the function's own name. */
function formsOf(name) {
    let forms = FORMS.get(name);
    if (!forms) {
        forms = [name, shortName(name), briefName(name)].flatMap(withoutNamespaces)
            .concat(ownName(name));
        FORMS.set(name, forms);
    }
    return forms;
}

/* Return NAME in at most LETTERS letters. The namespaces go first, the outermost one before the
 * others; then template arguments and parameters; the end of the function's own name goes last. */
export function fittingName(name, letters) {
    if (name.length <= letters)
        return name;
    const forms = formsOf(name);
    return forms.find((text) => text.length <= letters)
        ?? `${forms.at(-1).slice(0, Math.max(1, letters - 1))}…`;
}

export function baseName(path) {
    return path === null || path === undefined ? '' : path.slice(path.lastIndexOf('/') + 1);
}

/* Return true if the executables with these paths are different programs. Two builds of one program
 * may be in two directories, and `heaptap diff` matches files by the ends of their paths as
 * well. */
export function areDifferentPrograms(before, now) {
    return baseName(before) !== '' && baseName(now) !== '' && baseName(before) !== baseName(now);
}
