/* route.js: what the page shows is what its address says, so that any state can be sent on.
 *
 *     #/table?by=function&metric=peak&from=2&to=9&q=parse
 *
 * A state is an object of texts: `view`, and the members of DEFAULTS as far as they differ. All
 * that leads somewhere is a link with such an address; the back button comes with it. What changes
 * while one types replaces the entry of the history instead of adding one.
 *
 * An address may come from anywhere: what is read here is checked where it is used.
 */
import {createContext} from 'preact';
import {useContext, useEffect, useState} from 'preact/hooks';

export const VIEWS = ['overview', 'table', 'flame', 'time', 'function', 'site', 'sizes', 'leaks',
    'direct', 'calls', 'source', 'recording'];
/* The order is that of addresses. */
const MEMBERS = ['by', 'fn', 'site', 'file', 'line', 'type', 'metric', 'at', 'from', 'to', 'q',
    'sort', 'dir', 'invert', 'fold', 'rec', 'focus', 'stack', 'only'];
/* These go with one to another view; the others belong to a view. */
const GLOBAL = ['metric', 'at', 'from', 'to'];

export function parseRoute(hash) {
    const [path, query] = hash.replace(/^#\/?/, '').split('?');
    const state = {view: VIEWS.includes(path) ? path : 'overview'};
    for (const [name, value] of new URLSearchParams(query || ''))
        if (MEMBERS.includes(name) && value !== '')
            state[name] = value;
    return state;
}

export function formatRoute(state) {
    const query = new URLSearchParams();
    for (const name of MEMBERS)
        if (state[name] !== undefined && state[name] !== null && state[name] !== '')
            query.set(name, String(state[name]));
    const text = query.toString();
    return `#/${state.view}${text ? `?${text}` : ''}`;
}

/* The state of another view: what holds for all views is kept, CHANGES are made. */
export function elsewhere(state, view, changes = {}) {
    const next = {view};
    for (const name of GLOBAL)
        next[name] = state[name];
    return {...next, ...changes};
}

export function useRoute() {
    const [state, setState] = useState(() => parseRoute(location.hash));
    useEffect(() => {
        const read = () => setState(parseRoute(location.hash));
        addEventListener('hashchange', read);
        return () => removeEventListener('hashchange', read);
    }, []);
    const go = (next) => {
        location.hash = formatRoute(next);
    };
    const replace = (next) => {
        history.replaceState(null, '', formatRoute(next));
        setState(next);
    };
    return {state, go, replace};
}

/* Of the page: profile, page, state, go, replace, metric, extent. */
export const Shared = createContext(null);

export function useShared() {
    return useContext(Shared);
}
