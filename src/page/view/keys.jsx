/* keys.jsx: the rows of groupings as text and as links: a function, a line, a type, a heap …
 *
 * Each key links to details: functions to their page, files to their lines, stacks to their frames,
 * other keys to the stacks that have them. */
import {ROLE_STARTUP, VERDICT_NAMES} from '../model/profile.js';
import {baseName, FunctionName, Place, Text, visible} from './name.jsx';
import {ownName} from './name_text.js';
import {elsewhere, formatRoute, useShared} from './route.js';
import {plural} from './units.js';

const VERDICT_MARKS = {certain: '✓', likely: '~', 'same size': '', unknown: ''};

export function keyText(group, key) {
    return visible(group.keys.name(key));
}

function lineText(keys, key) {
    return keys.line[key] > 0 ? keys.line[key] : undefined;
}

/* Show the callers of STACK's innermost function, nearest first: "← handle ← serve". */
export function Callers({stack, limit = 3}) {
    const {profile: {stacks, functions}} = useShared();
    const names = [];
    for (let at = stacks.parent[stack]; at > 0 && names.length < limit; at = stacks.parent[at]) {
        if (functions.role[stacks.function[at]] === ROLE_STARTUP)
            break;
        names.push(functions.name[stacks.function[at]]);
    }
    return names.length > 0 && <span class="callers" title={visible(names.join(' ← '))}>
        {names.map((name) => <span key={name}> ← <Text text={ownName(visible(name))} /></span>)}
    </span>;
}

/* Show a stack: its number, its innermost function and the caller of that function. */
function SiteName({keys, i}) {
    const {profile, state} = useShared();
    const stack = keys.stack[i], frame = profile.stacks.frame[stack];
    return (
        <>
            <a class="sitenumber" href={formatRoute(elsewhere(state, 'table',
                {by: 'site', q: state.q, stack: keys.site[i]}))}>
                #{keys.number[i] || '…'}</a>{' '}
            {stack > 0 ? <>
                <FunctionName id={keys.function[i]} part={0.8} placed />{' '}
                <Place file={profile.frames.file[frame]} line={profile.frames.line[frame]} />
                <Callers stack={stack} />
            </> : <Text text={keys.name(i)} />}
        </>);
}

function TypeName({keys, i}) {
    const {state} = useShared();
    const mark = VERDICT_MARKS[VERDICT_NAMES[keys.verdict[i]]] || '', name = visible(keys.name(i));
    const others = keys.size[i] > 0 && keys.type[i] >= 0
        ? ` or another of ${plural(keys.size[i], 'byte')}` : '';
    return (
        <span title={`${name}${others}`}>
            {mark && <span class="muted" title={VERDICT_NAMES[keys.verdict[i]]}>{mark} </span>}
            {keys.type[i] >= 0 ? <a class="mono" href={formatRoute({...elsewhere(state, 'table'),
                by: 'site', only: `type:${keys.type[i]}`})}><Text text={name} /></a>
                : <span class="mono"><Text text={name} /></span>}
            <span class="muted">{others}</span>
        </span>);
}

/* Show the link to the stacks that have the key. */
function Stacks({by, i, text}) {
    const {state} = useShared();
    return (
        <a href={formatRoute({...elsewhere(state, 'table'), by: 'site', only: `${by}:${i}`})}>
            <Text text={text} />
        </a>);
}

/** @param {{group: import('../model/groups.js').Group, i: number}} props */
export function KeyName({group, i, brief = false, part = 1}) {
    const {keys, by} = group;
    switch (by) {
    case 'own':
        return <FunctionName id={keys.function[i]} brief={brief} part={part} />;
    case 'function':
        return <><FunctionName id={keys.function[i]} placed /> <Place file={keys.file[i]} /></>;
    case 'line':
        return keys.file[i] >= 0
            ? <><Place file={keys.file[i]} line={lineText(keys, i)} />{' '}
                <FunctionName id={keys.function[i]} part={0.6} placed /></>
            : <FunctionName id={keys.function[i]} />;
    case 'file':
        return keys.file[i] >= 0 ? <Place file={keys.file[i]} whole />
            : <Text text={keys.name(i)} />;
    case 'site':
        return <SiteName keys={keys} i={i} />;
    case 'type':
        return <TypeName keys={keys} i={i} />;
    case 'module': {
        const path = keys.name(i);
        return <><span class="mono"><Text text={baseName(path)} /></span>{' '}
            <span class="muted"><Text text={path.includes('/') ? path : ''} /></span></>;
    }
    case 'heap':
    case 'labels':
        return <Stacks by={by} i={i} text={keys.name(i)} />;
    default:
        return <Text text={keys.name(i)} />;
    }
}
