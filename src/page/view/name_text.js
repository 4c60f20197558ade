/* name_text.js: names from programs, which may be hostile, as legible text.
 *
 * A name may contain anything: tags, 2,000 characters, newlines, characters that change the text
 * direction. Invisible characters are shown as codes, so that different names look different.
 *
 * Names of C++ templates are mostly arguments. In rows their inner arguments become "…"; the tip
 * and the function's page have the whole name. Python's "<lambda>" is not an argument. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const LONG = 80; // Shorter names are not shortened.
const ASIDE = '\ue000';
const NO_ARGUMENTS =
    /operator\s*(<=>|<<=|>>=|<<|>>|<=|>=|->\*|->|<|>)|(^|\.)<\w+>(?=\.|$)/g;

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

export function baseName(path) {
    return path === null || path === undefined ? '' : path.slice(path.lastIndexOf('/') + 1);
}

/* Return true if the executables with these paths are different programs. Two builds of one program
 * may be in two directories, and `heaptap diff` matches files by the ends of their paths as
 * well. */
export function areDifferentPrograms(before, now) {
    return baseName(before) !== '' && baseName(now) !== '' && baseName(before) !== baseName(now);
}
