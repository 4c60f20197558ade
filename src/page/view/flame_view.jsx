/* flame_view.jsx: the flame graph with its controls.
 *
 * Top-down, the graph begins at main and draws every frame below its caller. Inverted, it begins at
 * the functions that allocate. With `fn`, one function is the root: the graph shows its callees or,
 * inverted, its callers. Zoom and options are in the address. */
import {useMemo} from 'preact/hooks';
import {FlameGraph} from '../flame/flame_graph.jsx';
import {indexIn} from './address.js';
import {FunctionName} from './name.jsx';
import {FOLD_TIP} from './table_view.jsx';
import {elsewhere, formatRoute, useShared} from './route.js';
import {Truncated} from './truncated.jsx';

/* Show a button that sets or clears VALUE in the address. */
function Toggle({name, on, value, title, tip}) {
    const {state, replace} = useShared();
    return (
        <label title={tip}>
            <input type="checkbox" checked={on} onChange={() =>
                replace({...state, focus: undefined, [name]: value})} />
            <span>{title}</span></label>);
}

export function FlameView() {
    const {profile, values, state, go, theme} = useShared();
    const inverted = state.invert === '1', fold = state.fold !== '0', recursion = state.rec === '1';
    const fn = indexIn(state.fn, profile.functions.count);
    const options = useMemo(() => ({fold, recursion, inverted, root: fn ?? undefined}),
        [fold, recursion, inverted, fn]);
    const turned = (invert) => formatRoute({...state, invert, focus: undefined});
    return (
        <>
            <h2 class="unseen">Flame graph</h2>
            <div class="controls">
                <nav class="group" aria-label="Direction">
                    <a href={turned(undefined)} aria-current={inverted ? undefined : 'true'}>
                        top-down</a>
                    <a href={turned('1')} aria-current={inverted ? 'true' : undefined}>
                        inverted</a>
                </nav>
                <Toggle name="fold" on={fold} value={fold ? '0' : undefined} title="fold wrappers"
                    tip={FOLD_TIP} />
                <Toggle name="rec" on={recursion} value={recursion ? undefined : '1'}
                    title="fold recursion" tip="Show calls that repeat those within them once" />
                {fn !== null && <span>{inverted ? 'callers of ' : 'below '}
                    <FunctionName id={fn} brief />{' '}
                    <a class="button" href={formatRoute(elsewhere(state, 'flame',
                        {invert: state.invert, q: state.q}))}>all</a></span>}
            </div>
            <section class="panel">
                <FlameGraph profile={profile} values={values} options={options} search={state.q}
                    dark={theme.dark} focus={state.focus}
                    onFocus={(focus) => go({...state, focus: focus || undefined})}
                    functionLink={(id) => formatRoute(elsewhere(state, 'function', {fn: id}))} />
                <Truncated />
            </section>
        </>);
}
