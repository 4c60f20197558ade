/* recording.jsx: the recording of this profile, and its possible errors.
 *
 * The view is for readers who doubt a number. It shows losses and their causes, the recording
 * modes, the recorder's cost, notes, and the source of each module's names. */
import {useShared} from './route.js';
import {Grid} from './grid.jsx';
import {baseName, Text, visible} from './name.jsx';
import {LOSSES, lossesIn} from './losses.js';
import {bytes, count, duration, moment, percent, plural} from './units.js';

/* The bytes of the allocations that a loss counts. */
const LOST_BYTES = {other_site_events: 'other_site_bytes', shortened_stacks: 'shortened_bytes',
    truncated_stacks: 'truncated_bytes', unwind_failures: 'broken_bytes'};

function Losses({losses, totals}) {
    const rows = lossesIn(LOSSES, losses).map(({name, text}) => {
        const lost = losses[LOST_BYTES[name]];
        return [name, lost === undefined ? text : `${text}; ${
            percent(losses[name], totals.allocations)} of the calls, ${bytes(lost)} or ${
            percent(lost, totals.allocated_bytes)} of the bytes, so inclusive values are lower ` +
            'bounds'];
    });
    if (rows.length === 0 && !losses.file_failed)
        return <p>Nothing was lost: every call is in the numbers.</p>;
    return (
        <dl class="facts counted">
            {rows.map(([name, text]) => [<dt key={name}>{count(losses[name])}</dt>,
                <dd key={`${name}=`}>{text}</dd>])}
            {losses.file_failed && [<dt key="file">!</dt>,
                <dd key="file=">the file could not be written to its end</dd>]}
        </dl>);
}

function Facts({rows}) {
    return (
        <dl class="facts">
            {rows.filter(([, value]) => value !== null && value !== undefined && value !== '')
                .map(([name, value]) => [<dt key={name}>{name}</dt>,
                    <dd key={`${name}=`}>{value}</dd>])}
        </dl>);
}

function recorderFacts({recorder, totals}) {
    const events = totals.allocations + totals.frees;
    const stacks = recorder.frames_reused + recorder.frames_unwound;
    return [
        ['memory', recorder.memory_bytes ? bytes(recorder.memory_bytes) : null],
        ['limit', recorder.limit_bytes ? bytes(recorder.limit_bytes) : null],
        ['file', recorder.file_bytes ? bytes(recorder.file_bytes) : null],
        ['events', count(events)],
        ['a call took', recorder.events_timed > 0
            ? `${(recorder.timed_ns / recorder.events_timed).toFixed(0)} ns on average, of ${
                plural(recorder.events_timed, 'timed call')}` : null],
        ['frames', stacks > 0 ? `${count(stacks)}, ${percent(recorder.frames_reused, stacks)
        } known from the stack before` : null],
        ['slow unwinds', count(recorder.full_unwinds)]];
}

function Mono({text}) {
    return <span class="mono"><Text text={text} /></span>;
}

function processFacts({process, merged}) {
    return [
        ['command', process.command && <Mono text={process.command} />],
        ['executable', process.executable && <Mono text={process.executable} />],
        ['profile', process.profile && <Mono text={process.profile} />],
        ['pid', process.pid ? `${process.pid}, child of ${process.parent_pid}` : null],
        ['started', moment(process.start_unix_ns)],
        ['ran', duration(process.elapsed_ns)],
        ['ended', process.ended ? 'by itself' : process.ended === false
            ? 'no: killed, or still running when it was read' : null],
        ['forked', process.forked ? 'yes' : null],
        ['machine', [process.machine, process.cpu_count && plural(process.cpu_count, 'processor'),
            process.kernel].filter(Boolean).join(', ')],
        ['recorded by', process.heaptap ? `heaptap ${process.heaptap}` : null],
        ['sum of', merged ? `${plural(merged.processes, 'process')}: ${merged.programs
            .map((one) => `${visible(one.executable || '?')} × ${one.processes}`).join(', ')
        }` : null]];
}

const MODES = {exact: 'every block', off: 'nothing', bytes: 'samples by bytes',
    count: 'samples by calls'};

function Phases({phases}) {
    return (
        <Grid dense label="Ways of recording" rows={phases} columns={[
            {key: 'from', title: 'from', numeric: true, width: 7, heads: true,
                cell: (row) => duration(row.elapsed_ns)},
            {key: 'mode', title: 'recorded', cell: (row) =>
                <span title={MODES[row.mode]}>{MODES[row.mode] || row.mode}</span>},
            {key: 'period', title: 'one sample for', numeric: true, width: 9,
                cell: (row) => (row.mode === 'bytes' ? bytes(row.period)
                    : row.mode === 'count' ? plural(row.period, 'call') : '')}]} />);
}

const SYMBOLS = {debug: 'debug information', table: 'symbol table',
    exports: 'exported names only (stripped)', none: 'no names'};

/* The name of the file comes first: the directory has less room, and says less. */
function ModuleName({path}) {
    return (
        <span title={visible(path)}>
            <span class="mono">{visible(baseName(path))}</span>{' '}
            <span class="muted">{path.includes('/') ? visible(path) : ''}</span></span>);
}

function Modules({modules}) {
    return (
        <Grid dense label="Modules and where their names come from" rows={modules} columns={[
            {key: 'path', title: 'module', heads: true, value: (row) => row.path || '',
                cell: (row) => <ModuleName path={row.path || 'unknown'} />},
            {key: 'kind', title: 'is', width: 7, narrow: false, value: (row) => row.kind || '',
                cell: (row) => row.kind || ''},
            {key: 'symbols', title: 'names come from', width: 17, narrowWidth: 11,
                value: (row) => row.symbols || '',
                cell: (row) => <Text text={SYMBOLS[row.symbols] || 'its file was not there'} />},
            {key: 'build', title: 'build id', width: 12, narrow: false,
                cell: (row) => <code title={row.build_id || undefined}>
                    {row.build_id ? row.build_id.slice(0, 12) : ''}</code>}]} />);
}

function Notes({notes}) {
    return notes.map((note, i) => (
        <div key={i} class="news">
            <p><Text text={note.text} /></p>
            {note.advice && <p class="note"><Text text={note.advice} /></p>}
        </div>));
}

export function Recording() {
    const {profile: {report, before}} = useShared();
    return (
        <>
            <h2 class="unseen">Recording</h2>
            {before && <p class="note">This is how the second profile was recorded; of the first
                there is what was lost.</p>}
            <Notes notes={report.notes} />
            {before && <section class="panel"><h3>What was lost before</h3>
                <Notes notes={before.notes} />
                <Losses losses={before.losses} totals={before.totals} /></section>}
            <div class="pair">
                <section class="panel"><h3>What was lost</h3>
                    <Losses losses={report.losses} totals={report.totals} />
                </section>
                <section class="panel"><h3>What the recorder needed</h3>
                    <Facts rows={recorderFacts(report)} /></section>
            </div>
            <div class="pair">
                <section class="panel"><h3>The process</h3>
                    <Facts rows={processFacts(report)} /></section>
                <section class="panel"><h3>How it was recorded</h3>
                    <Phases phases={report.phases} /></section>
            </div>
            <section class="panel"><h3>Modules</h3>
                <Modules modules={report.tables.modules} /></section>
        </>);
}
