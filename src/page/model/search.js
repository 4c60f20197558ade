/* search.js: find functions, files, modules and types by a typed text.
 *
 * Names are ranked: equal to the text, beginning with it, with a word that begins with it,
 * containing it. Among equal ranks, the larger value of the shown metric comes first. Case is
 * ignored. If the text has several words, all must occur, in any order. */

/**
 * @typedef {object} Found
 * @property {number[]} functions
 * @property {number[]} files
 * @property {number[]} modules
 * @property {number[]} types
 */

/**
 * @param {import('./profile.js').Profile} profile
 * @param {string} text
 * @param {{most?: number, weight?: Float64Array}} [options] most: maximum number of each kind;
 *     weight: order of equal ranks, by function
 * @returns {Found} best first
 */
export function search(profile, text, {most = 20, weight} = {}) {
    const words = wordsOf(text);

    if (words.length === 0)
        return {functions: [], files: [], modules: [], types: []};
    const {functions} = profile;

    return {
        functions: best(functions.name.slice(0, functions.real), words, most, weight),
        files: best(profile.files, words, most),
        modules: best(profile.modules.path, words, most),
        types: best(profile.types, words, most),
    };
}

/**
 * Return a mask of the functions that contain a text, for a flame graph.
 * @returns {Uint8Array|null} by function; null if TEXT is empty
 */
export function matches(profile, text) {
    const words = wordsOf(text);

    return words.length === 0 ? null
        : Uint8Array.from(profile.functions.name, (name) => rank(name, words) > 0 ? 1 : 0);
}

function wordsOf(text) {
    return text.toLowerCase().split(/\s+/).filter(Boolean);
}

function best(names, words, most, weight) {
    const found = [];

    names.forEach((name, i) => {
        const place = rank(name, words);

        if (place > 0)
            found.push([place, weight ? weight[i] : 0, i]);
    });
    found.sort((x, y) => y[0] - x[0] || y[1] - x[1] ||
        names[x[2]].length - names[y[2]].length || x[2] - y[2]);
    return found.slice(0, most).map(([, , i]) => i);
}

/* Return the rank of the worst match of WORDS in NAME; 0 if a word is missing. */
function rank(name, words) {
    const lower = name.toLowerCase();
    let worst = 4;

    for (const word of words) {
        const at = lower.indexOf(word);

        if (at < 0)
            return 0;
        worst = Math.min(worst, lower === word ? 4 : at === 0 ? 3
            : /[^a-z0-9]/.test(lower[at - 1]) ? 2 : 1);
    }
    return worst;
}
