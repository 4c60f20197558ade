/* units.js: numbers for people, with the command's words and rounding.
 *
 * Numbers must match the output of `heaptap report`, digit for digit. Only growth has a sign. An
 * unknown number is "–", never 0. */
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const MINUS = '\u2212';
export const UNKNOWN = '–';

/* VALUE with DIGITS decimals. If two numbers are equally near, the even one is shown, as the
 * command's printf does: 29.25 as 29.2. toFixed shows the larger one. */
export function fixed(value, digits) {
    const size = Math.abs(value), halves = size * 2 ** (digits + 1);
    if (halves % 2 !== 1)
        return value.toFixed(digits);
    const below = Math.floor(size * 10 ** digits);
    if (size * 10 ** digits - below !== 0.5)
        return value.toFixed(digits);
    return (Math.sign(value) * (below + below % 2) / 10 ** digits).toFixed(digits);
}

/* Return the TITLE of a column of values with callees. ~ marks estimates, if callers were sampled.
 * ≥ marks lower bounds, if the callers of some stacks of PROFILE are not known; ? marks differences
 * of such values. */
export function inclusiveTitle(profile, title, mark = '≥') {
    const sampled = [profile.report, profile.before].some((one) => one?.process?.callers_period);
    return title + (sampled ? ' ~' : '') + (hasBounds(profile) ? ` ${mark}` : '');
}

/* Return true if the callers of some stacks of PROFILE are not known. */
export function hasBounds({report, before}) {
    return [report, before].some((one) => one?.losses?.inclusive_is_lower_bound);
}

export function bytes(value) {
    if (value === null || value === undefined)
        return UNKNOWN;
    let size = Math.abs(value), unit = 0;
    // One decimal would round 1023.95 to "1024.0" of the smaller unit.
    while ((unit === 0 ? size >= 1024 : size >= 1023.95) && unit + 1 < UNITS.length) {
        size /= 1024;
        unit++;
    }
    const sign = value < 0 ? MINUS : '';
    return unit === 0 ? `${sign}${Math.round(size)} B` : `${sign}${fixed(size, 1)} ${UNITS[unit]}`;
}

export function count(value) {
    if (value === null || value === undefined)
        return UNKNOWN;
    const digits = String(Math.round(Math.abs(value)));
    return (value < 0 ? MINUS : '') + digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

export function amount(value, unit) {
    return unit === 'bytes' ? bytes(value) : count(value);
}

/* Return VALUE with a sign: a change. */
export function growth(value, unit) {
    if (value === null || value === undefined)
        return UNKNOWN;
    return (value > 0 ? '+' : value === 0 ? '±' : '') + amount(value, unit);
}

export function percent(part, whole) {
    return whole > 0 ? `${fixed(100 * part / whole, 1)} %` : UNKNOWN;
}

/* Return the form of ONE, such as "block", for NUMBER of them. */
export function noun(number, one) {
    return number === 1 ? one : `${one}${one.endsWith('s') ? 'es' : 's'}`;
}

export function plural(number, one) {
    return `${count(number)} ${noun(number, one)}`;
}

export function duration(ns) {
    if (ns === null || ns === undefined)
        return UNKNOWN;
    const seconds = ns / 1e9, whole = Math.floor(seconds);
    if (whole >= 3600)
        return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
    if (whole >= 60)
        return `${Math.floor(whole / 60)} min ${whole % 60} s`;
    return whole >= 1 ? `${fixed(seconds, 2)} s` : `${Math.round(seconds * 1e3)} ms`;
}

function clockTime(minutes) {
    const rest = String(minutes % 60).padStart(2, '0');
    return minutes >= 60 ? `${Math.floor(minutes / 60)}h${rest}` : `${minutes} min`;
}

/* Return a time on an axis: as few digits as distinguish marks STEP seconds apart. */
export function axisTime(seconds, step) {
    if (seconds === 0)
        return '0';
    if (step >= 60)
        return clockTime(Math.round(seconds / 60));
    if (step >= 1)
        return `${Math.round(seconds)} s`;
    if (seconds < 1)
        return `${Number((seconds * 1e3).toFixed(step < 0.001 ? 2 : 0))} ms`;
    const digits = [1, 2, 3].find((many) => Number.isInteger(
        Math.round(step * 10 ** many * 1e6) / 1e6));
    return `${seconds.toFixed(digits || 3)} s`;
}

/* Return bytes on an axis: "512", "12M". */
export function axisBytes(value) {
    if (value === 0)
        return '0';
    const [number, unit] = bytes(value).split(' ');
    return number.replace(/\.0$/, '') + (unit === 'B' ? '' : ` ${unit}`);
}

/* Return a time in UTC, labelled as such, because the reader's time zone may differ from the
 * recorded machine's. */
export function moment(unixNs) {
    return new Date(unixNs / 1e6).toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
}
