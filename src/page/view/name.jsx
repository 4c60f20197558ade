/* name.jsx: functions, files and other names as links and text.
 *
 * Names are only inserted as text nodes, after name_text.js has made them legible. <bdi> prevents a
 * name that is written from right to left from reordering the row around it.
 */
import {createContext} from 'preact';
import {useContext} from 'preact/hooks';
import {KINDS} from '../model/profile.js';
import {baseName, briefName, fittingName, shortName, visible} from './name_text.js';
import {elsewhere, formatRoute, useShared} from './route.js';

export {baseName, shortName, visible};

const TIP = 4000; // Longer tips are useless.
const SHORTEST = 6; // Letters of a name beside the function's file.

/* The number of letters in a line; without a limit, text wraps. */
export const Room = createContext(Infinity);

export function Text({text, short = false, brief = false}) {
    const whole = visible(text);
    return <bdi title={whole.slice(0, TIP)}>{brief ? briefName(whole) : short ? shortName(whole)
        : whole}</bdi>;
}

function textOf(name, {whole, brief}, letters) {
    const text = whole ? name : brief ? briefName(name) : shortName(name);
    return text.length <= letters ? text : fittingName(name, letters);
}

/* Show a function, by its number in the profile, as a link to its page. In a table, PART of the
 * room belongs to the name. The file follows a name that several functions share. PLACED is true if
 * the row shows the last component of the file anyway. */
export function FunctionName({id, whole = false, brief = false, part = 1, placed = false}) {
    const {profile, state} = useShared(), letters = useContext(Room);
    if (id === null || id === undefined || id < 0)
        return <span class="muted">unknown</span>;
    const name = visible(profile.functions.name[id]);
    const tail = visible(profile.functions.place[id]);
    const place = placed && !/[/,]/.test(tail) ? '' : tail;
    const kind = functionKind(profile, id), suffix = place === '' ? '' : ` (${place})`;
    const all = Math.floor(part * letters);
    const room = suffix === '' ? all : Math.max(SHORTEST, all - suffix.length);
    return (
        <a class={`fn ${kind}`} href={formatRoute(elsewhere(state, 'function', {fn: id}))}
            title={name.slice(0, TIP)}>
            <bdi>{textOf(name, {whole, brief}, room)}</bdi>
            {suffix !== '' && <bdi class="place">{suffix}</bdi>}
        </a>);
}

/* Return "own", "library", "runtime", "unknown" or "script". */
export function functionKind(profile, id) {
    return KINDS[profile.functions.shown[id]];
}

/* Show file:line, linked to the source lines if the page includes the file. */
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

const KEY = [['own', 'own code'], ['library', 'libraries'],
    ['runtime', 'standard libraries, libc and interpreters']];

/** Show the colours and styles of names. */
export function NameKey() {
    const {profile} = useShared();
    const scripts = [...new Set(profile.functions.language)].filter(Boolean).sort();
    return (
        <p class="kinds namekey">Names:{' '}
            {KEY.map(([kind, text]) => <span key={kind} class={`fn ${kind}`}>{text}</span>)}
            {scripts.length > 0 && <span class="fn script">{scripts.join(', ')}</span>}</p>);
}
