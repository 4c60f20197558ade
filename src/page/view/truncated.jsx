/* truncated.jsx: how much of the chosen metric is in stacks whose callers are not known.
 *
 * Inclusive values of other functions are then lower bounds, and their columns have the mark ≥. The
 * text views print the same note below such columns. */
import {totals} from '../model/extent.js';
import {isCut} from '../model/tree.js';
import {useShared} from './route.js';
import {amount, hasBounds, percent} from './units.js';

/** Show the root of truncated stacks with its share; nothing if the callers of all are known. */
export function Truncated() {
    const {profile, values, metric} = useShared(), {functions} = profile;
    if (!hasBounds(profile))
        return null;
    const cut = isCut(profile);
    const sum = values.after.reduce((all, value, site) => (cut(site) ? all + value : all), 0);
    return (
        <p class="note truncated"><b>{functions.name[functions.truncated]}</b>:{' '}
            {amount(sum, metric.unit)}, {percent(sum, totals(values).after)} of all. Their callers
            are not known, so inclusive values (≥) are lower bounds.</p>);
}
