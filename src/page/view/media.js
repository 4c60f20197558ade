/* media.js: properties of the window, as hooks: a media query, and light or dark.
 *
 * Colours are in page.css. Code that draws on a canvas gets them by name from here, because a
 * canvas has no style. The choice of light or dark is stored for the next page, if the browser
 * permits storage for pages in files. */
import {useEffect, useState} from 'preact/hooks';

export function useMedia(query) {
    const [matches, setMatches] = useState(() => matchMedia(query).matches);
    useEffect(() => {
        const media = matchMedia(query), tell = () => setMatches(media.matches);
        tell();
        media.addEventListener('change', tell);
        return () => media.removeEventListener('change', tell);
    }, [query]);
    return matches;
}

const KEY = 'heaptap-theme';

function kept() {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null;
    }
}

function keep(theme) {
    try {
        if (theme)
            localStorage.setItem(KEY, theme);
        else
            localStorage.removeItem(KEY);
    } catch {
        // Without storage, the choice is valid only for this page.
    }
}

/* Return {dark, toggle}. `dark` follows the system until the user chooses otherwise, and again once
 * both agree. Print is always light. */
export function useTheme() {
    const system = useMedia('(prefers-color-scheme: dark)');
    const [chosen, setChosen] = useState(kept);
    const printing = useMedia('print');
    const dark = !printing && (chosen ? chosen === 'dark' : system);
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    const toggle = () => {
        const next = dark === system ? (dark ? 'light' : 'dark') : null;
        keep(next);
        setChosen(next);
    };
    return {dark, toggle};
}

/* Return the current value of the custom property NAME of page.css. */
export function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
