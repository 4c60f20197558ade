/* path_tails.js: short texts that distinguish things of one name by the paths of their files.
 *
 * Same rule as path_tails in util/path.c. */

/* Return the last COUNT components of PATH. */
function lastComponents(path, count) {
    return path.split('/').slice(-count).join('/');
}

/* Set TAILS of the owners in OF, which have one name. */
function distinguish(owners, of, tails) {
    const paths = new Map(); // Path to the owners with it.

    for (const i of of) {
        const sharers = paths.get(owners[i].path);

        if (sharers)
            sharers.push(i);
        else
            paths.set(owners[i].path, [i]);
    }
    let open = [...paths.keys()];

    for (let count = 1; open.length > 0; count++) {
        const seen = new Map();
        const isWhole = (path) => path.split('/').length <= count;

        for (const path of paths.keys()) {
            const tail = lastComponents(path, count);

            seen.set(tail, (seen.get(tail) ?? 0) + 1);
        }
        open = open.filter((path) => {
            const tail = lastComponents(path, count), sharers = paths.get(path);

            if (seen.get(tail) > 1 && !isWhole(path))
                return true;
            for (const i of sharers)
                tails[i] = sharers.length > 1 ? `${tail}, ${owners[i].more}` : tail;
            return false;
        });
    }
}

/**
 * @param {{name: string, path: string, more: string}[]} owners
 * @returns {string[]} by owner: '' if the name is unique, else the shortest end of the path, in
 *     whole components, that no other path of this name has; if several have the path, with `more`
 */
export function pathTails(owners) {
    const named = new Map(), tails = owners.map(() => '');

    owners.forEach(({name}, i) => {
        const of = named.get(name);

        if (of)
            of.push(i);
        else
            named.set(name, [i]);
    });
    for (const of of named.values())
        if (of.length > 1)
            distinguish(owners, of, tails);
    return tails;
}
