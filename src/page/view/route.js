/* route.js: the page's address, which determines everything shown, so that any state can be sent as
 * a link.
 *
 *     #/table?by=function&metric=peak&from=2&to=9&q=parse
 *
 * A state is an object of strings: `view`, and the members that differ from DEFAULTS. All
 * navigation is by links with such addresses, so the back button works. Changes while typing
 * replace the browser's history entry instead of adding one.
 *
 * An address may come from anywhere, so the views check the values that this file reads. */
import {createContext} from 'preact';
import {useContext, useEffect, useState} from 'preact/hooks';

export const VIEWS = ['overview', 'table', 'flame', 'time', 'function', 'site', 'sizes', 'leaks',
    'direct', 'calls', 'source', 'recording'];
/* The members, in their order in addresses. */
const MEMBERS = ['by', 'fn', 'site', 'file', 'line', 'type', 'metric', 'at', 'from', 'to', 'q',
    'sort', 'dir', 'invert', 'fold', 'rec', 'focus', 'stack', 'only'];
/* Members that are kept when the view changes; the others belong to one view. */
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

/* Return the state for another view: the members for all views, with CHANGES applied. */
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

/* Values that all components share: profile, page, state, go, replace, metric, extent. */
export const Shared = createContext(null);

export function useShared() {
    return useContext(Shared);
}
