/* name.jsx: names that programs, and so perhaps strangers, have chosen, as safe and legible text.
 *
 * A name may hold anything: tags, 2,000 characters, newlines, signs that turn the direction of
 * what follows. It goes into text nodes alone. Signs that cannot be seen are shown as such, so
 * that two names which look the same are the same; <bdi> keeps a name that is written from right
 * to left from turning the row around it.
 *
 * Names of C++ templates are mostly arguments. In rows their inner ones become "…"; the whole name
 * is in the tip and on the function's page.
 */
import {KINDS} from '../model/profile.js';
import {elsewhere, formatRoute, useShared} from './route.js';

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const LONG = 48; // Shorter names are left as they are.
const TIP = 4000; // Longer tips help nobody.

function picture(sign) {
    const code = sign.charCodeAt(0);
    if (code < 0x20)
        return String.fromCharCode(0x2400 + code);
    return `\\u${code.toString(16).padStart(4, '0')}`;
}

export function visible(text) {
    return String(text).replace(UNSEEN, picture);
}

/* Without the arguments of templates within, and of the call, if NAME is long. Operators with
 * angles of their own are left alone. */
export function shortName(name, long = LONG) {
    if (name.length <= long || !name.includes('<') || /operator\s*[<>-]/.test(name))
        return name;
    let depth = 0, short = '';
    for (const letter of name) {
        if (letter === '<' && depth++ === 0)
            short += '<…';
        if (letter === '>')
            depth--;
        if (depth < 0)
            return name;
        if (depth === 0)
            short += letter;
    }
    return depth === 0 ? short.replace(/<…>(\(.*\))?( const)?$/, '<…>$1$2') : name;
}

/* NAME without the arguments of its call, where sentences and overviews name it. A lambda keeps
 * those of the function around it. */
export function briefName(name) {
    const short = shortName(name, 0);
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

export function Text({text, short = false, brief = false}) {
    const whole = visible(text);
    return <bdi title={whole.slice(0, TIP)}>{brief ? briefName(whole) : short ? shortName(whole)
        : whole}</bdi>;
}

/* A function, by its number in the profile, as a link to its page. */
export function FunctionName({id, whole = false, brief = false}) {
    const {profile, state} = useShared();
    if (id === null || id === undefined || id < 0)
        return <span class="muted">unknown</span>;
    const name = visible(profile.functions.name[id]);
    const kind = functionKind(profile, id);
    return (
        <a class={`fn ${kind}`} href={formatRoute(elsewhere(state, 'function', {fn: id}))}
            title={name.slice(0, TIP)}>
            <bdi>{whole ? name : brief ? briefName(name) : shortName(name)}</bdi>
        </a>);
}

/* "own", "library", "runtime" or "unknown". */
export function functionKind(profile, id) {
    return KINDS[profile.functions.kind[id]];
}

/* file:line, as a link to the lines where the file is embedded. */
export function Place({file, line, whole = false}) {
    const {profile, state, sources} = useShared();
    if (file === null || file === undefined || file < 0)
        return null;
    const path = visible(profile.files[file]);
    const text = `${whole ? path : baseName(path)}${line ? `:${line}` : ''}`;
    if (!sources.has(file))
        return <bdi class="place" title={path}>{text}</bdi>;
    return (
        <a class="place" title={path}
            href={formatRoute(elsewhere(state, 'source', {file, line: line || undefined}))}>
            <bdi>{text}</bdi>
        </a>);
}
