/* cmd_run.c: `heaptap run`: record a program, then summarise the result in a few lines.
 *
 * launch/run.c runs the program. This file has the options and the work after the program's end.
 * That work is a convenience, because the profiles are already complete. It packs each profile with
 * its symbols, gives the main process's profile (launch/run_process.c) the user's name, and prints
 * the summary (run_summary.c). Profiles of living processes stay unchanged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "command/report_limits.h"
#include "command/run_summary.h"
#include "command/sink.h"
#include "format/environment.h"
#include "format/format.h"
#include "launch/launch.h"
#include "launch/run.h"
#include "launch/run_places.h"
#include "load/load.h"
#include "open/symbolise.h"
#include "option/opts.h"
#include "option/shared_opts.h"
#include "profile/pack.h"
#include "symbol/module_cache.h"
#include "util/path.h"
#include "view/messages.h"
#include "view/session.h"
#include "view/style.h"

/* Show the progress of packing for this many processes or more. */
enum { PROGRESS_FROM = 3 };

/* One year; its milliseconds are far below overflow. */
#define SECONDS_MAX 31536000.0

#define MAX_MEMORY_LEAST (UINT64_C(1) << 20)

extern const struct command command_run;

/* Options as given; check_recording completes `run` from the texts beside it. */
struct cmd_run_options {
    struct run_options run;
    bool no_pack;
    uint64_t annotate;    // OPT_ALONE: given without a number; 0: not given.
    uint64_t guard_bytes; // OPT_ALONE: the option was not given.
    struct opt_list hooks, languages, adapters;
    const char *callers, *max_overhead, *fail_on;
    struct budget_options budget;
    const char *delay, *duration, *snapshot_every, *snapshot_signal;
};

static const struct cmd_run_options defaults = {.guard_bytes = OPT_ALONE};

static const struct opt options[] = {
    {OPT_STRING, 'o', "output", &defaults.run.output, "FILE",
     "Path of the profile. %p is the process id, %e the program's name, %n a number that makes the "
     "name unique and is the same for the whole run. A directory gets one profile per process. "
     "Default: heaptap.%e.%p.heaptap. Processes other than the one that the run is about (see "
     "above) write into a directory beside it, named with .processes instead of .heaptap. Existing "
     "files are kept unless --force is given.",
     NULL},
    {OPT_FLAG, 0, "force", &defaults.run.force, NULL,
     "Replace an existing profile at the path of -o, and the profiles of other processes beside "
     "it. A file that is not a profile is kept. Fails while a process still writes such a profile.",
     NULL},
    {OPT_STRING, 0, "fail-on", &defaults.fail_on, "LIMITS",
     "Exit with 99 if the program succeeded, but it or a process that it started exceeded LIMITS: "
     "leaks for any live block at the end, or peak=100M,leaks=4K and so on. The names are peak, "
     "leaks, inuse, alloc, allocations, temporary, and corruption (blocks overrun or freed twice; "
     "implies --annotate). A program started without the recorder's variables in its environment, "
     "as by env -i, also gives 99, because it is not recorded. So does a process that cannot start "
     "recording, or whose profile is gone when the run ends.",
     NULL},
    {OPT_STRING, 0, "budget", &defaults.budget.budget, "FILE",
     "Like --fail-on, with the rules in FILE (heaptap budget --help), and print the findings.",
     NULL},
    BUDGET_OPTIONS(defaults.budget),
    {OPT_STRING, 0, "only", &defaults.run.recording.only, "PROGRAM",
     "Record only processes of PROGRAM: the name of an executable or script, with * and ? as in "
     "file names. Separate several by commas. All other processes run unrecorded.",
     NULL},
    {OPT_FLAG, 0, "no-children", &defaults.run.no_children, NULL,
     "Record only the process started here, through each exec, and no child process.",
     NULL},
    {OPT_LIST, 0, "hook", &defaults.hooks, "SYMBOL=KIND",
     "Record SYMBOL, a function of a shared library, as if it were KIND, such as malloc or free. "
     "Or record all functions of a well-known allocator: --hook jemalloc. May be repeated; --hook "
     "list prints the kinds and the allocators.",
     NULL},
     {OPT_LIST, 0, "language", &defaults.languages, "NAME",
     "Show functions of the language NAME in stacks, also in child processes: lua, python, ecl "
     "(Lisp), gc for objects of the collector libgc, or node for JavaScript. May be repeated. An "
     "interpreter that the program is or embeds is detected without this option. The exception is "
     "node: its name adds two options to NODE_OPTIONS, and each node process then writes "
     "/tmp/perf-PID.map.",
     NULL},
    {OPT_LIST, 0, "adapter", &defaults.adapters, "FILE",
     "Show functions of a language by your own adapter, the shared library FILE, also in child "
     "processes. May be repeated. docs/guide/adapters.md has an example.",
     NULL},
    {OPT_FLAG, 0, "no-language", &defaults.run.adapters.none, NULL,
     "Detect no language: stacks show the interpreter's functions.", NULL},
    {OPT_SIZE, 0, "reserve", &defaults.run.recording.reserve_bytes, "SIZE",
     "Reserve all memory and files at the start, for programs that later forbid mmap or open "
     "(seccomp). The profile can grow to SIZE bytes, at most 8G. If the program limits its "
     "address space, it gets back most of the unused part. Forked children are recorded only "
     "after exec. Default: reserve nothing.",
     NULL},
    {OPT_FLAG, 0, "self-contained-core", &defaults.run.recording.self_contained, NULL,
     "Keep the profile in memory that core dumps contain, so that heaptap core needs only the "
     "dump. The file is then a copy, updated at most once a second while the program allocates, "
     "and at exit. A program that is killed, or ends by _exit or exec, may leave a copy without "
     "the latest events.",
     NULL},
    {OPT_COUNT_OF, 0, "annotate", &defaults.annotate, "FRAMES",
     "Store the origin of every block beside it in memory: size, time, thread and the FRAMES "
     "innermost return addresses (default: 15), and add guard bytes behind it. A block whose "
     "annotation or guard was overwritten is reported when it is freed, by heaptap check and by "
     "heaptap core --check, together with the block that most likely overran. heaptap rawdump "
     "finds annotated blocks in any copy of memory. Each block takes 168 bytes more, and each "
     "event several times as long.",
     NULL},
    {OPT_COUNT_0, 0, "guard", &defaults.guard_bytes, "BYTES",
     "With --annotate: number of guard bytes behind each block, 0 to 255. Default: 8.", NULL},
    {OPT_COUNT, 0, "check-every", &defaults.run.recording.check_every, "N",
     "Implies --annotate. At every Nth allocation or free of a thread, check the next 256 blocks "
     "in the order of their addresses, and start over after the last.",
     NULL},
    {OPT_STRING, 0, "callers", &defaults.callers, "1/N",
     "Record the callers of one allocation in N on average, such as 1/64. Each allocation is still "
     "counted at its site, so totals, sizes, leaks and sites are exact. Numbers of callers are "
     "estimates, shown with the range that contains the truth. Saves most time where stacks vary "
     "much, as in compilers. 1/1 is exact recording.",
     NULL},
    {OPT_STRING, 0, "max-overhead", &defaults.max_overhead, "PERCENT",
     "Choose N of --callers while the program runs, so that recording takes at most PERCENT of the "
     "program's processor time, such as 5%. Recording begins exactly, and N changes between 1 and "
     "4,096. Each allocation is still counted at its site. If that alone takes longer, the "
     "summary shows that the limit was exceeded.",
     NULL},
    {OPT_SIZE, 0, "sample", &defaults.run.recording.sample_bytes, "SIZE",
     "Record a random sample of blocks, one per SIZE bytes on average (1K to 1T; 512K costs almost "
     "nothing). Values are then estimates, shown with the range that contains the truth.",
     NULL},
    {OPT_COUNT, 0, "sample-count", &defaults.run.recording.sample_count, "N",
     "Record one in N calls on average, whatever the size.", NULL},
    {OPT_STRING, 0, "delay", &defaults.delay, "SECONDS",
     "Record nothing for the first SECONDS. A thread looks at the clock once in up to about 300 "
     "calls, so its recording may begin that much later.",
     NULL},
    {OPT_STRING, 0, "duration", &defaults.duration, "SECONDS",
     "Stop recording new blocks after SECONDS. The frees of earlier blocks are still recorded.",
     NULL},
    {OPT_COUNT, 0, "frames", &defaults.run.recording.frames, "N",
     "Keep only the N innermost frames of a stack, for a smaller profile with less detail. The "
     "default is the maximum, 1024, which holds nearly all stacks whole.",
     NULL},
    {OPT_SIZE, 0, "max-memory", &defaults.run.recording.max_memory_bytes, "SIZE",
     "Limit the recorder's memory in each process, including its file, to SIZE (at least 1M). Near "
     "the limit new stacks keep only their innermost frames, and objects of the program's heaps "
     "(heaptap_alloc) without room count as losses. Memory that must grow with the program is "
     "exempt: a sixth of the heap, and some per thread. Default: a quarter of the machine's "
     "memory, or of the control group's limit if that is less.",
     NULL},
    {OPT_STRING, 0, "snapshot-every", &defaults.snapshot_every, "SECONDS",
     "Request a snapshot of all processes every SECONDS. Each process takes it at an event soon "
     "after.",
     NULL},
    {OPT_SIZE, 0, "snapshot-growth", &defaults.run.recording.snapshot_growth_bytes, "SIZE",
     "Take a snapshot each time that live bytes have grown by SIZE since the last such snapshot, "
     "or since their minimum after it.",
     NULL},
    {OPT_STRING, 0, "snapshot-signal", &defaults.snapshot_signal, "NAME",
     "Take a snapshot when a process receives the signal NAME, such as USR2, unless the program "
     "handles it.",
     NULL},
    {OPT_FLAG, 0, "no-pack", &defaults.no_pack, NULL,
     "Leave the profile as recorded: add no symbols and do not compress it.", NULL},
    {OPT_FLAG, 'q', "quiet", &defaults.run.quiet, NULL,
     "Print no summary when the program has ended.", NULL},
    {0},
};

/* Results of a run. */
struct outcome {
    const struct cmd_run_options *options;
    struct recorded_run run;
    struct run_profiles profiles;
    struct run_process *processes; // Processes with a readable profile.
    size_t count;
    size_t running; // Number of processes that still write their profile.
    struct run_limits limits;
    // Candidates for the main process: the first process after its last exec, and the ended process
    // that allocated most. They may be the same.
    struct profile *first, *most;
    struct run_notes notes;
    struct module_cache modules; // Modules read for the symbols of its processes.
};

static int
parse_hooks(struct cmd_run_options *o, struct arena *arena, struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < o->hooks.count; i++)
        r = hook_kinds_add(&o->run.hooks, arena, o->hooks.items[i], err);
    return r;
}

/* Set *RET_MS to the milliseconds in TEXT, the value of the option NAME; unchanged if TEXT is NULL.
 * Returns 0, or HEAPTAP_USAGE with ERR set. */
static int
parse_seconds(const char *name, const char *text, uint64_t *ret_ms, struct err *err)
{
    char *end;
    double seconds;

    if (text == NULL)
        return 0;
    seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds >= 0.001) || seconds > SECONDS_MAX)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--%s': '%.60s' is no time; write seconds such as 10 or 0.5", name,
                       text);
    *ret_ms = (uint64_t)(seconds * 1000 + 0.5);
    return 0;
}

static int
check_snapshots(struct cmd_run_options *o, struct err *err)
{
    struct recording *r = &o->run.recording;

    if (o->snapshot_signal != NULL &&
        (r->snapshot_signal = signal_number(o->snapshot_signal)) == 0)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--snapshot-signal': '%.60s' is no signal that can request a "
                       "snapshot; use one such as USR1, USR2 or RTMIN+1",
                       o->snapshot_signal);
    if (r->max_memory_bytes != 0 && r->max_memory_bytes < MAX_MEMORY_LEAST)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--max-memory': the recorder needs 1M before it records anything");
    return 0;
}

/* Refuse unpacked profiles of node: only a packed one keeps the names of its temporary file.
 * Returns 0, or HEAPTAP_USAGE with ERR set. */
static int
check_node(const struct cmd_run_options *o, struct err *err)
{
    for (size_t i = 0; o->no_pack && i < o->languages.count; i++)
        if (strcmp(o->languages.items[i], "node") == 0)
            return err_set(err, HEAPTAP_USAGE,
                           "--language node and --no-pack exclude each other: packing reads "
                           "/tmp/perf-PID.map, which may be gone later");
    return 0;
}

enum { USUAL_ANNOTATED_FRAMES = 15, USUAL_GUARD_BYTES = 8, ANNOTATION_BYTE_MAX = 255 };

static int
check_annotation(struct cmd_run_options *o, bool wants_corruption, struct err *err)
{
    struct recording *r = &o->run.recording;
    bool guard_given = o->guard_bytes != OPT_ALONE;

    if (o->annotate == 0 && (r->check_every != 0 || wants_corruption))
        o->annotate = OPT_ALONE;
    if (o->annotate == 0 && guard_given)
        return err_set(err, HEAPTAP_USAGE, "--guard needs --annotate");
    if (o->annotate == 0)
        return 0;
    if (o->annotate == OPT_ALONE)
        o->annotate = USUAL_ANNOTATED_FRAMES;
    if (!guard_given)
        o->guard_bytes = USUAL_GUARD_BYTES;
    if (o->annotate > ANNOTATION_BYTE_MAX || o->guard_bytes > ANNOTATION_BYTE_MAX)
        return err_set(err, HEAPTAP_USAGE,
                       "options '--annotate' and '--guard': at most %d return addresses and guard "
                       "bytes have room",
                       ANNOTATION_BYTE_MAX);
    if (r->reserve_bytes != 0)
        return err_set(err, HEAPTAP_USAGE,
                       "--annotate and --reserve exclude each other: the marks of annotated blocks "
                       "take memory that grows with the heap");
    if (r->sample_bytes != 0 || r->sample_count != 0)
        return err_set(err, HEAPTAP_USAGE,
                       "--annotate and --sample exclude each other: annotating stores the stack of "
                       "every block, the cost that a sample saves");
    r->annotate_frames = o->annotate;
    r->guard_bytes = o->guard_bytes;
    return 0;
}

/* Refuse settings that the recorder would have to ignore. Returns 0, or HEAPTAP_USAGE with ERR
 * set. */
static int
check_overhead(struct cmd_run_options *o, struct err *err)
{
    struct recording *asks = &o->run.recording;
    int r = sample_opts_overhead(o->max_overhead, &asks->max_overhead, err);

    if (r != 0 || asks->max_overhead == 0)
        return r;
    if (asks->sample_bytes != 0 || asks->sample_count != 0 || o->callers != NULL)
        return err_set(err, HEAPTAP_USAGE,
                       "--max-overhead excludes --callers and --sample: it chooses the callers");
    if (asks->reserve_bytes != 0)
        return err_set(err, HEAPTAP_USAGE,
                       "--max-overhead and --reserve exclude each other: the first needs system "
                       "calls to read the processor time");
    return 0;
}

static int
check_recording(struct cmd_run_options *o, const struct limits *fails, struct err *err)
{
    struct recording *asks = &o->run.recording;
    int r = sample_opts_check(asks->sample_bytes, asks->sample_count, err);

    if (r == 0)
        r = check_node(o, err);
    if (r == 0)
        r = sample_opts_callers(o->callers, &asks->callers_period, err);
    if (r == 0)
        r = check_overhead(o, err);
    if (r == 0 && asks->callers_period != 0 && (asks->sample_bytes != 0 || asks->sample_count != 0))
        r = err_set(err, HEAPTAP_USAGE,
                    "--callers and --sample exclude each other: a sample always has its callers");
    if (r == 0 && asks->reserve_bytes > RESERVE_BYTES_MAX)
        r = err_set(err, HEAPTAP_USAGE,
                    "option '--reserve': at most 8G can be reserved; write that or less");
    if (r == 0 && asks->self_contained && asks->reserve_bytes != 0)
        r = err_set(err, HEAPTAP_USAGE,
                    "--self-contained-core and --reserve exclude each other: the first rewrites "
                    "the file repeatedly, the second never opens it after the start");
    if (r == 0)
        r = check_annotation(o, fails->v[LIMIT_CORRUPTION].given, err);
    if (r == 0 && asks->frames > DISK_DEPTH_MAX)
        r = err_set(err, HEAPTAP_USAGE,
                    "option '--frames': at most %d frames of a stack are kept, even without this "
                    "option",
                    DISK_DEPTH_MAX);
    if (r == 0)
        r = parse_seconds("delay", o->delay, &asks->delay_ms, err);
    if (r == 0)
        r = parse_seconds("snapshot-every", o->snapshot_every, &o->run.snapshot_every_ms, err);
    if (r == 0)
        r = check_snapshots(o, err);
    return r == 0 ? parse_seconds("duration", o->duration, &asks->duration_ms, err) : r;
}

/* Pack P, made from the tables RAW, into PATH. MODULES caches the modules read. Return false with
 * ERR set on failure. */
static bool
pack_profile(struct profile *p, struct raw_file *raw, const char *path,
             struct module_cache *modules, struct err *err)
{
    const struct symbol_choice choice = {.module_cache = modules};

    if (symbolise_quietly(p, &choice) != 0)
        return false;
    symbolise_types(p, &choice);
    return pack_tables(path, raw, p, path, err) == 0;
}

/* Add the process of P, profile NUMBER of the run, to O. */
static void
note_process(struct outcome *o, const struct profile *p, size_t number)
{
    struct arena *a = &o->run.arena;
    struct session_who who = session_who(p, a);

    o->processes[o->count++] = (struct run_process){
        .path = o->profiles.paths[number],
        .is_moved = o->profiles.are_moved[number],
        .pid = p->process.pid,
        .start_unix_ns = p->process.start_unix_ns,
        .executable = arena_strdup(a, p->process.executable),
        .command = arena_strdup(a, p->process.command),
        .comm = arena_strdup(a, who.comm),
        .totals = p->totals,
        .losses = p->losses,
        .running = !p->process.ended,
    };
    o->running += !p->process.ended;
    growth_recorded(&o->run.growth, p);
}

/* Replace *KEPT by P, and release the old profile unless it is still in use. */
static void
cmd_run_keep(struct outcome *o, struct profile **kept, struct profile *p)
{
    struct profile *old = *kept;

    *kept = p;
    if (old != NULL && old != o->first && old != o->most)
        profile_free(old);
}

/* Keep P if its process may be the main process, else release P. */
static void
keep_candidate(struct outcome *o, struct profile *p)
{
    if (p->process.pid == (uint32_t)o->run.pid &&
        (o->first == NULL || p->process.start_unix_ns >= o->first->process.start_unix_ns))
        cmd_run_keep(o, &o->first, p);
    if (p->process.ended &&
        (o->most == NULL || p->totals.allocated_bytes > o->most->totals.allocated_bytes))
        cmd_run_keep(o, &o->most, p);
    if (p != o->first && p != o->most)
        profile_free(p);
}

/* Note that P is not from the recorder's file. Without limits there is no other message. */
static void
note_replaced(const struct outcome *o, struct profile *p)
{
    p->damage = "was replaced by a copy while the program ran, so later events are missing";
    if (o->options->fail_on == NULL && !o->options->run.quiet)
        message_warning("%s (pid %u): its profile %s",
                        p->process.executable ? path_basename(p->process.executable) : "?",
                        p->process.pid, p->damage);
}

/* Pack profile NUMBER of the run. If packing fails, the unpacked profile stays. */
static void
finish_profile(struct outcome *o, size_t number)
{
    const char *path = o->profiles.paths[number];
    struct arena tables = {0};
    struct err err = {""};
    struct raw_file raw;
    struct profile *p;

    if (profile_open_tables(path, &tables, &raw, &p, &err) < 0) {
        message_warning("%s", err.text);
        o->limits.unknown = true;
        raw_release(&raw);
        arena_release(&tables);
        return;
    }
    if (o->profiles.are_replaced[number])
        note_replaced(o, p);
    note_process(o, p, number);
    if (!o->options->no_pack && p->process.ended && !launch_interrupted() &&
        !pack_profile(p, &raw, path, &o->modules, &err))
        message_warning("not packed: %s", err.text[0] ? err.text : path);
    raw_release(&raw);
    arena_release(&tables);
    run_limits_check(&o->limits, p, o->count - 1);
    keep_candidate(o, p);
}

/* Append each note to the profile of its process. Notes about the run go to process HEAD. */
static void
append_all_notes(struct outcome *o, size_t head)
{
    struct err err = {""};

    for (size_t i = 0; i < o->notes.count; i++) {
        const struct run_note *n = &o->notes.v[i];
        size_t k = run_process_last(o->processes, o->count, n->pid);

        if (k == o->count) // The note is about the run, or its process has no profile.
            k = head;
        if (k < o->count && !o->processes[k].running &&
            append_notes(o->processes[k].path, &n->note, 1, &err) < 0)
            message_warning("%s", err.text);
    }
}

/* Print the command that shows the process that exceeded --fail-on. Called after its profile got
 * its final path. */
static void
report_limits_hint(const struct outcome *o)
{
    if (o->count > 0)
        run_limits_hint(&o->limits, o->processes[o->limits.first].path);
}

/* Return true if P is the profile of process W. */
static bool
is_profile_of(const struct profile *p, const struct run_process *w)
{
    return p != NULL && p->process.pid == w->pid && p->process.start_unix_ns == w->start_unix_ns;
}

/* Return the profile of process HEAD, which O owns; NULL if it is no longer readable. */
static struct profile *
head_profile(struct outcome *o, size_t head)
{
    const struct run_process *w = &o->processes[head];
    struct err err = {""};
    struct profile *p;

    if (is_profile_of(o->first, w))
        return o->first;
    if (is_profile_of(o->most, w))
        return o->most;
    if (profile_open(w->path, &p, &err) < 0) {
        message_warning("%s", err.text);
        return NULL;
    }
    cmd_run_keep(o, &o->most, p);
    return p;
}

/* Choose the main process, give its profile the user's name, and print the summary. */
static void
conclude(struct outcome *o)
{
    struct run_summary s = {.processes = o->processes, .notes = &o->notes};

    s.why = run_process_head(o->processes, o->count, o->run.pid, &s.head);
    if (s.why == HEAD_BECAME || s.why == HEAD_MOST)
        run_places_arrange(&o->run, &o->profiles, o->processes, o->count, s.head);
    run_note(&o->run, o->running > 0, &o->notes);
    append_all_notes(o, s.head);
    report_limits_hint(o);
    if (o->options->run.quiet)
        return;
    s.count = o->count;
    s.directory = o->profiles.directory;
    s.running = o->running;
    s.status = o->run.status;
    s.oom_killed = o->run.oom_killed;
    s.interrupted = launch_interrupted() && !o->options->no_pack && o->count > 0;
    s.p = s.why == HEAD_NONE ? NULL : head_profile(o, s.head);
    // Resolving names takes time, so it is skipped after Ctrl-C.
    s.named = s.p != NULL && !launch_interrupted() && symbolise_quietly(s.p, NULL) == 0;
    run_summary(&s);
}

/* Explain why no process of PROGRAM left a profile, unless another message does. */
static void
explain_missing(const struct outcome *o, const char *program)
{
    const char *only = o->options->run.recording.only, *directory = o->run.to.directory;

    if (program_has_more_rights(o->run.path))
        message_warning("%s left no profile: it has more rights than its user (setuid), and such a "
                        "program is never recorded",
                        program);
    else if (destination_is_gone(&o->run.to))
        message_warning("%s left no profile: the directory %s was removed or renamed while it ran, "
                        "and its profiles with it; keep the directory until the program ends",
                        program, directory);
    else if (o->profiles.lost.ended == 0 && !growth_is_strange(&o->run.growth))
        message_warning(
            only ? "no process named '%s' left a profile"
                 : "%s left no profile: it never allocated, or the recorder could not be "
                   "loaded or could not write its file (see the messages above)",
            only ? only : program);
}

/* Process the profiles of PROGRAM after its end. */
static void
cmd_run_finish(struct outcome *o, const char *program)
{
    const struct cmd_run_options *given = o->options;
    bool quiet = given->run.quiet;
    bool progress = style_shows_progress() && !quiet && !given->no_pack;
    const struct run_profiles *profiles = &o->profiles;

    run_find_profiles(&o->run, &o->profiles);
    if (profiles->count == 0 && !quiet)
        explain_missing(o, program);
    o->processes = arena_array(&o->run.arena, profiles->count, sizeof *o->processes);
    memory_keep_freed();
    for (size_t i = 0; i < profiles->count; i++) {
        if (progress && profiles->count > PROGRESS_FROM)
            fprintf(stderr, "\rheaptap: packing, %zu of %zu\x1b[K", i + 1, profiles->count);
        finish_profile(o, i);
    }
    if (progress && profiles->count > PROGRESS_FROM)
        fputs("\r\x1b[K", stderr);
    run_unrecorded_receive(&o->run);
    o->limits.has_hooks = given->run.hooks.count > 0;
    o->limits.starts_early = (given->run.recording.reserve_bytes != 0 ||
                              given->run.recording.snapshot_signal != 0) &&
                             given->run.recording.sample_bytes == 0 &&
                             given->run.recording.sample_count == 0;
    run_limits_unrecorded(&o->limits, o->run.unrecorded, o->processes, o->count);
    run_limits_lost(&o->limits, &profiles->lost);
    run_limits_finish_budget(&o->limits);
    conclude(o);
    if (o->most != o->first)
        profile_free(o->most);
    profile_free(o->first);
    run_notes_release(&o->notes);
    module_cache_release(&o->modules);
}

static int
explain_hooks(void)
{
    struct sink sink = {.is_text = true};
    struct strbuf out = sink_begin(&sink);

    hook_kinds_explain(&out);
    return sink_end(&out);
}

/* Open the budget that O names into GATE, for the processes of RUN, and set *RET_JUDGED to the
 * quantities that the limits or the budget judge. Returns 0, or the exit code after printing an
 * error. */
static int
open_budget(const struct budget_options *o, struct run_limits *limits, struct budget_gate *gate,
            struct limits *ret_judged)
{
    int rc;

    *ret_judged = limits->limits;
    if (o->budget == NULL && (o->baseline != NULL || o->formats.count > 0)) {
        message_error("run: --baseline and --format need --budget, the file with the rules");
        return EXIT_USAGE;
    }
    if (o->budget == NULL)
        return 0;
    rc = budget_gate_open(o, gate);
    limits->budget = gate;
    for (size_t i = 0; i < gate->budget.count; i++)
        ret_judged->v[gate->budget.v[i].of].given = true;
    return rc;
}

static int
cmd_run(const void *values, int count, char **arguments)
{
    struct cmd_run_options given = *(const struct cmd_run_options *)values;
    struct outcome o = {.options = &given};
    struct budget_gate gate = {.options = &given.budget};
    struct limits judged;
    struct arena arena = {0};
    struct err err = {""};
    int r, status, over = 0;

    for (size_t i = 0; i < given.hooks.count; i++)
        if (hook_kinds_is_question(given.hooks.items[i]))
            return explain_hooks();
    if (count == 0) {
        message_error("run: an argument is missing: heaptap run %s", command_run.arguments);
        message_hint("heaptap run --help explains the command");
        return EXIT_USAGE;
    }
    given.run.counts_unrecorded = given.fail_on != NULL || given.budget.budget != NULL;
    given.run.adapters.names = given.languages.items;
    given.run.adapters.count = given.languages.count;
    given.run.adapters.files = given.adapters.items;
    given.run.adapters.file_count = given.adapters.count;
    if ((r = run_limits_parse(&o.limits, given.fail_on, &err)) == 0 &&
        (r = open_budget(&given.budget, &o.limits, &gate, &judged)) != 0) {
        budget_gate_close(&gate);
        return r;
    }
    if (r == 0 &&
        (r = parse_hooks(&given, &arena, &err)) == 0 &&
        (r = check_recording(&given, &judged, &err)) == 0 &&
        (r = run_prepare(&o.run, &given.run, count, arguments, &err)) == 0 &&
        (r = run_wait(&o.run, &err)) == 0) {
        cmd_run_finish(&o, arguments[0]);
        if (o.run.adapters.hint != NULL && !given.run.quiet)
            message_hint("%s", o.run.adapters.hint);
        if (given.run.recording.self_contained && WIFSIGNALED(o.run.status) &&
            WCOREDUMP(o.run.status) && !given.run.quiet)
            message_hint("the core dump has the events after the last copy: heaptap core CORE");
        over = o.run.status == 0 ? run_limits_status(&o.limits) : 0;
    } else {
        // Removes the directory made for other processes.
        destination_others_found(&o.run.to, o.run.pid);
        message_error("%s", err.text);
    }
    status = o.run.status;
    run_release(&o.run);
    budget_gate_close(&gate);
    arena_release(&arena);
    if (r < 0)
        return r == HEAPTAP_NOT_FOUND    ? 127 // As shells do.
               : r == HEAPTAP_NO_PROGRAM ? 126
                                         : exit_code(r);
    if (over != 0)
        return over;
    launch_end_like(status);
}

static const char *
cmd_run_offered(const char *name, size_t i)
{
    if (strcmp(name, "fail-on") == 0)
        return run_limits_offered(i);
    if (strcmp(name, "hook") == 0)
        return hook_kinds_offered(i);
    if (strcmp(name, "hook=") == 0)
        return hook_kinds_name(i);
    return strcmp(name, "language") == 0 ? adapters_name(i) : NULL;
}

const struct command command_run = {
    .name = "run",
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .summary = "record a program and the processes it starts",
    .description =
        "Runs PROGRAM with the recorder preloaded and records every allocation and free with its "
        "whole stack, or at least the innermost 1024 frames of a deeper one. The profile is a "
        "mapped file that is complete at every moment, even if the program is killed.\n"
        "\n"
        "The program's output, exit status and signals are unchanged, and heaptap exits with the "
        "program's status; only --fail-on can turn a success into a failure. Each child process is "
        "recorded into a separate profile. Signals sent to heaptap are forwarded, and job control "
        "works as usual.\n"
        "\n"
        "When the program has ended, its profiles are packed (symbols added, compressed), and a "
        "short summary goes to stderr. The profile at the requested path describes the process "
        "started here, as it was after its last exec. It describes the process that allocated most "
        "instead, if the first one is a shell and another process allocated more, or if the first "
        "one allocated less than a twentieth of another. Among several with about as much, the one "
        "with the highest peak is chosen. The summary states the choice, and the directory beside "
        "the profile holds all others.\n"
        "\n"
        "To record without `heaptap run`, set LD_PRELOAD to libheaptap.so and HEAPTAP_OUT to the "
        "file.",
    .examples = "heaptap run ./server --port 80\trecord a server\n"
                "heaptap run --snapshot-every 60 ./server\twith a snapshot each minute\n"
                "heaptap run -o before.heaptap -- jq .name big.json\tchoose the file\n"
                "heaptap run -o profiles/ -- make -j4\tone profile for each process\n"
                "heaptap run --only cc1,ld -- make\tonly the compiler and the linker\n"
                "heaptap run --fail-on leaks,peak=100M -- ./test\ta limit for a test",
    .options = options,
    .offered = cmd_run_offered,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .stop_at_first = true,
    .min_arguments = 0, // --hook list needs no program.
    .max_arguments = -1,
    .run = cmd_run,
};
