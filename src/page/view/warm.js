/* warm.js: compute the data for the next clicks in idle time.
 *
 * Trees, outermost frames and orders do not depend on the selection, so the model caches them. With
 * half a million stacks, computing them would delay the first click on a view by half a second.
 * Each step runs when the browser is idle, so that a click is handled between two steps. */
import {around, callGraph, direct} from '../model/calls.js';
import {group} from '../model/groups.js';
import {callTree} from '../model/tree.js';

const LATER = (work) => (globalThis.requestIdleCallback || ((run) => setTimeout(run, 50)))(work);

/** Start the computation. Called once, when the first view is shown. */
export function warm(profile, values) {
    const fold = {fold: true};
    const steps = [() => group(profile, values, 'function', fold),
        () => callTree(profile, values, fold), () => group(profile, values, 'site', fold),
        () => direct(profile, values), () => around(profile, values, 0),
        () => group(profile, values, 'line', fold), () => callGraph(profile, values),
        () => callTree(profile, values, {fold: true, inverted: true})];
    const next = () => {
        const step = steps.shift();
        if (!step)
            return;
        step();
        LATER(next);
    };
    LATER(next);
}
