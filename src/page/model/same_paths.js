/* same_paths.js: match the files of two profiles that were built in different directories.
 *
 * Equal paths are the same file. Any other path is matched with the path of the other profile with
 * which it shares most trailing components, at least the file name. The match must be the best one
 * for both paths, and unique. `heaptap diff` uses the same rule (analyse/diff_files.c).
 */
const PAIRS_MAX = 1 << 20; // If more pairs of files share a name, these are not compared.

function sharedComponents(a, b) {
    const left = a.split('/').reverse(), right = b.split('/').reverse();
    const end = Math.min(left.length, right.length);
    let count = 0;

    while (count < end && left[count] === right[count])
        count++;
    return count;
}

function byName(paths) {
    const ret = new Map();

    for (const path of paths) {
        const name = path.slice(path.lastIndexOf('/') + 1);

        if (!ret.has(name))
            ret.set(name, []);
        ret.get(name).push(path);
    }
    return ret;
}

/* Return a map from each path of MINE to the path of THEIRS that shares most components with it, or
 * to null if several of THEIRS share equally many. */
function bestOf(mine, theirs) {
    return new Map(mine.map((path) => {
        const shared = theirs.map((other) => sharedComponents(path, other));
        const most = Math.max(...shared);

        return [path, shared.indexOf(most) === shared.lastIndexOf(most)
            ? theirs[shared.indexOf(most)] : null];
    }));
}

/**
 * @param {string[]} before paths of the first profile
 * @param {string[]} after paths of the second
 * @returns {Map<string, string>} by path that only `before` has: its match in `after`
 */
export function samePaths(before, after) {
    const had = new Set(before), has = new Set(after), ret = new Map();
    const lone = byName([...had].filter((path) => !has.has(path)));
    const others = byName([...has].filter((path) => !had.has(path)));

    for (const [name, mine] of lone) {
        const theirs = others.get(name) ?? [];

        if (theirs.length === 0 || mine.length * theirs.length > PAIRS_MAX)
            continue;
        const best = bestOf(mine, theirs), back = bestOf(theirs, mine);

        for (const path of mine)
            if (back.get(best.get(path)) === path)
                ret.set(path, best.get(path));
    }
    return ret;
}
