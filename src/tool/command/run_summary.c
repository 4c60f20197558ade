/* run_summary.c: the summary that `heaptap run` prints when the program has ended.
 *
 *     heaptap: killed by SIGSEGV; heaptap core CORE shows where, with a core dump (ulimit -c)
 *     heaptap: 3,001 allocations, 22.9 MiB in all; peak 22.9 MiB; still live at end 2.9 MiB in …
 *     heaptap: at the peak most was held by load (prog.c:7): 20.0 MiB, 87.2 %
 *     heaptap: growing to the end: grow (prog.c:6), 2.9 MiB, +483.4 MiB/min
 *     heaptap: grew until freed at the end: grow (prog.c:6), 2.9 MiB, +483.4 MiB/min
 *     heaptap: profile w.heaptap (17.2 KiB) is of the program after exec, ./prog (pid 12)
 *     heaptap: 3 others in w.processes: bash ./wrap.sh 82.9 KiB, ls 77.0 KiB, and 1 more
 *
 * The user reads at most ten lines. So each kind of message gets one line, for the case with the
 * most bytes, and a count of the others. Reports show all messages later, because the profile
 * stores them.
 *
 * The user waits while stacks are built, and there can be a hundred thousand stacks with hundreds
 * of frames. So all stacks are built only if the run is long enough to show growth. */
#include "command/run_summary.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "analyse/frame_name.h"
#include "analyse/timeline.h"
#include "analyse/top_holders.h"
#include "analyse/user_code.h"
#include "open/pick_stacks.h"
#include "open/symbolise.h"
#include "profile/origin.h"
#include "symbol/demangle.h"
#include "util/amount.h"
#include "util/shell_word.h"
#include "view/messages.h"
#include "view/phrases.h"
#include "view/session.h"
#include "view/style.h"
#include "view/table.h"

enum { NOTES_LISTED = 2, OTHERS_LISTED = 3, NAME_WIDTH = 48 };

/* State while the summary is printed. */
struct summary {
    const struct run_summary *s;
    struct arena arena;
    struct names_hint hint; // Files whose symbols are incomplete.
};

static void PRINTF(2, 3)
run_summary_report(struct summary *t, const char *format, ...)
{
    const char *text;
    va_list ap;

    va_start(ap, format);
    text = arena_vprintf(&t->arena, format, ap);
    va_end(ap);
    fprintf(stderr, "heaptap: %s\n", ascii_text(&t->arena, style_clean(&t->arena, text)));
}

/* Report a signal that is an error of the program, or the kernel's kill, with the next command. */
static void
run_summary_report_end(struct summary *t)
{
    const struct run_summary *s = t->s;
    uint32_t number = WIFSIGNALED(s->status) ? (uint32_t)WTERMSIG(s->status) : 0;

    if (s->oom_killed)
        run_summary_report(t, "killed by the kernel, because memory ran out; heaptap report shows "
                              "the peak");
    if (phrase_is_crash(number))
        run_summary_report(t, "killed by %s; heaptap core CORE shows where%s",
                           phrase_signal(&t->arena, number),
                           WCOREDUMP(s->status) ? "" : ", with a core dump (ulimit -c)");
    // An allocator aborts when it meets a damaged block, mostly long after the damage.
    if (number == SIGABRT && s->p != NULL && !s->p->annotated)
        message_hint("if malloc or free aborted, heaptap run --annotate shows the damaged block");
}

static void
report_totals(struct summary *t)
{
    const struct profile *p = t->s->p;
    const struct counters *c = &p->totals;
    struct arena *a = &t->arena;

    run_summary_report(t, "%s%s, %s in all; peak %s; still live at end %s in %s",
                       profile_is_estimate(p)                ? "about "
                       : p->losses.file_failed || p->may_lag ? "at least "
                                                             : "",
                       style_plural(a, c->allocations, "allocation"),
                       style_bytes(a, c->allocated_bytes), style_bytes(a, c->peak_bytes),
                       style_bytes(a, counters_live_bytes(c)),
                       style_plural(a, counters_live_blocks(c), "block"));
}

/* Return "NAME (FILE:LINE and MORE_LINES more lines)", or NAME alone if its file or line is
 * unknown. MORE_LINES may be 0. */
static const char *
function_text(struct summary *t, uint32_t frame, uint32_t location, size_t more_lines)
{
    const struct profile *p = t->s->p;
    const struct profile_frame *f = &p->frames[frame];
    struct arena *a = &t->arena;
    const char *name = symbol_shorten(a, frame_name(p, frame, location, a), NAME_WIDTH);

    if (f->file == 0 || f->line == 0)
        return name;
    return arena_printf(a, "%s (%s:%u%s)", name, path_basename(profile_string(p, f->file)), f->line,
                        phrase_more_lines(more_lines, a));
}

static const char *
run_summary_frame_text(struct summary *t, uint32_t frame, uint32_t location)
{
    return function_text(t, frame, location, 0);
}

/* Return the function of H, at its largest line. */
static const char *
holder_text(struct summary *t, const struct top_holder *h)
{
    const struct stack *s = h->line_count > 0 ? h->lines[0].largest : h->largest;
    uint32_t own = h->line_count > 0 ? h->lines[0].own : h->own;

    return function_text(t, s->frames[own], s->locations[own],
                         h->line_count > 0 ? h->line_count - 1 : 0);
}

/* Return true if the main process is known to have more memory outside its profile than in it. */
static bool
is_mostly_unseen(struct summary *t)
{
    const struct run_notes *notes = t->s->notes;

    for (size_t i = 0; i < notes->count; i++)
        if (notes->v[i].pid == (pid_t)t->s->p->process.pid && notes->v[i].note.kind == NOTE_UNSEEN)
            return true;
    return false;
}

/* Name the largest holder. If most of the memory bypassed malloc, print nothing, because that
 * holder would mislead. */
static void
report_holder(struct summary *t)
{
    const struct profile *p = t->s->p;
    struct top_holders top_holders;
    const struct top_holder *h;
    int64_t peak_bytes = 0;

    for (size_t i = 0; i < p->site_count; i++)
        peak_bytes = counters_sum(peak_bytes, p->sites[i].counters.peak_bytes);
    if (peak_bytes <= 0 || is_mostly_unseen(t))
        return;
    top_holders_first(p, METRIC_PEAK, &t->arena, &top_holders);
    h = top_holders.v;
    if (top_holders.count > 0 && h->largest->depth > 0)
        run_summary_report(t, "at the peak most was held by %s: %s, %s", holder_text(t, h),
                           style_bytes(&t->arena, h->counters.peak_bytes),
                           style_percent(&t->arena, h->counters.peak_bytes, peak_bytes));
}

/* Return the first row of LINE that grows to the end, which is the fastest, and the number of such
 * rows. Prefer rows that the program still held at its end. Only if there is none, count rows that
 * it freed then. */
static const struct timeline_row *
fastest_growing(const struct profile *p, const struct timeline *line, size_t *ret_count)
{
    const struct timeline_row *first[2] = {NULL, NULL};
    size_t counts[2] = {0, 0};
    bool freed;

    for (size_t i = 0; i < line->row_count; i++) {
        freed = timeline_is_freed(&line->rows[i]);
        if (timeline_is_notable(p, &line->rows[i]) && counts[freed]++ == 0)
            first[freed] = &line->rows[i];
    }
    freed = counts[false] == 0;
    *ret_count = counts[freed];
    return first[freed];
}

/* Report the stacks that grow to the end, and name the fastest. */
static void
run_summary_report_growth(struct summary *t)
{
    const struct stacks_options whole = {.merge_labels = true, .fold_recursion = true};
    const struct timeline_options options = {.by = TIMELINE_LIVE, .limit = 64};
    const struct profile *p = t->s->p;
    const struct timeline_row *first;
    struct arena *a = &t->arena;
    const char *more = "";
    struct timeline line;
    struct user_code code;
    struct stacks stacks;
    struct err err;
    size_t count;
    uint32_t at;

    if (!timeline_can_show_growth(p) || stacks_build(p, &whole, a, &stacks, &err) < 0)
        return;
    timeline_build(p, &stacks, &options, a, &line);
    first = fastest_growing(p, &line, &count);
    if (first == NULL)
        return;
    if (count > 1)
        more = arena_printf(a, "; and %s: heaptap timeline %s",
                            style_plural(a, (int64_t)count - 1, "more stack"),
                            shell_word(a, t->s->processes[t->s->head].path));
    user_code_init(&code, p, a);
    at = user_code_frame(&code, first->stack);
    run_summary_report(
        t, "%s: %s, %s, +%s/min%s",
        timeline_is_freed(first) ? "grew until freed at the end" : "growing to the end",
        run_summary_frame_text(t, first->stack->frames[at], first->stack->locations[at]),
        style_bytes(a, timeline_last(first)), style_bytes(a, (int64_t)first->per_minute), more);
}

static void
report_losses(struct summary *t)
{
    const struct profile_losses *l = &t->s->p->losses;
    const char *remedy = loss_remedy(l);

    if (l->file_failed)
        run_summary_report(t, "the profile is incomplete: %s; %s", loss_of_file,
                           loss_of_file_remedy);
    if (l->events != 0)
        run_summary_report(t, "%s not recorded: %s%s%s",
                           style_plural(&t->arena, (int64_t)l->events, "event"),
                           loss_causes(&t->arena, l), remedy ? "; " : "", remedy ? remedy : "");
}

/* Return the innermost named function of the stack at NODE, or "an unknown stack". */
static const char *
run_summary_owner_of(struct summary *t, uint32_t node)
{
    struct stack stack = stack_of_node(t->s->p, node, &t->arena);

    for (uint32_t i = 0; node != 0 && i < stack.depth; i++) {
        const char *text = run_summary_frame_text(t, stack.frames[i], stack.locations[i]);

        if (*text != '\0')
            return text;
    }
    return "an unknown stack";
}

/* Return the corruptions counted in L: "2 blocks found damaged", "3 freed twice", or both. */
static const char *
corruption_text(struct summary *t, const struct profile_losses *l)
{
    uint64_t damaged = l->damaged_blocks, twice = profile_corruptions(l) - damaged;
    struct arena *a = &t->arena;
    const char *found =
        arena_printf(a, "%s found damaged", style_plural(a, (int64_t)damaged, "block"));

    if (twice == 0)
        return found;
    if (damaged == 0)
        return arena_printf(a, "%s freed twice", style_plural(a, (int64_t)twice, "block"));
    return arena_printf(a, "%s, %s freed twice", found, style_count(a, (int64_t)twice));
}

/* Report corrupted blocks, which are the most likely cause of a crash. */
static void
report_corruptions(struct summary *t)
{
    const struct profile *p = t->s->p;
    const struct profile_corruption *d = p->corruptions;

    if (profile_corruptions(&p->losses) == 0)
        return;
    run_summary_report(
        t, "%s; heaptap report shows %s%s%s", corruption_text(t, &p->losses),
        p->losses.damaged_blocks > 0 ? "what was written" : "where",
        p->corruption_count > 0 ? ". First culprit: the block allocated in " : "",
        p->corruption_count > 0
            ? run_summary_owner_of(t, d->kind == CORRUPTED_OVERWRITTEN && d->front_node != 0
                                          ? d->front_node
                                          : d->site_node)
            : "");
}

/* Report corruption in other processes: name the first one, and count the rest. */
static void
report_others_corrupted(struct summary *t, const char *const *names)
{
    const struct run_summary *s = t->s;
    const struct run_process *first = NULL;
    const char *more = "";
    size_t count = 0, at = 0;

    for (size_t i = 0; i < s->count; i++)
        if (i != s->head && profile_corruptions(&s->processes[i].losses) > 0 && count++ == 0) {
            first = &s->processes[i];
            at = i;
        }
    if (first == NULL)
        return;
    if (count > 1)
        more = arena_printf(&t->arena, ", and more in %zu other%s", count - 1,
                            count == 2 ? "" : "s");
    run_summary_report(t, "%s in %s (pid %u)%s; heaptap report %s shows where",
                       corruption_text(t, &first->losses), names[at], first->pid, more,
                       shell_word(&t->arena, first->path));
}

/* Return the number of notes of the same kind as note I. Return 0 unless note I represents this
 * kind: note I must have the most unseen bytes, and be the first of equals. */
static size_t
count_alike(const struct run_notes *notes, size_t i)
{
    const struct profile_note *first = &notes->v[i].note;
    size_t count = 0;

    for (size_t k = 0; k < notes->count; k++) {
        const struct profile_note *n = &notes->v[k].note;
        uint64_t bytes = n->anonymous_bytes - n->recorded_bytes,
                 first_bytes = first->anonymous_bytes - first->recorded_bytes;

        if (k != i && !run_notes_alike(&notes->v[k], &notes->v[i]))
            continue;
        if (bytes > first_bytes || (bytes == first_bytes && k < i))
            return 0;
        count++;
    }
    return count;
}

static void
report_advice(struct summary *t, const char *advice)
{
    while (*advice != '\0') {
        size_t length = strcspn(advice, "\n");

        message_hint("%s", arena_strndup(&t->arena, advice, length));
        advice += length + (advice[length] == '\n');
    }
}

static void
report_notes(struct summary *t)
{
    const struct run_notes *notes = t->s->notes;
    size_t reported = 0;

    for (size_t i = 0; i < notes->count; i++) {
        size_t alike = count_alike(notes, i);
        const char *more = "";

        if (alike == 0 || notes->v[i].note.kind == NOTE_RUNTIME || reported++ >= NOTES_LISTED)
            continue;
        if (alike > 1)
            more = arena_printf(&t->arena, " (and %zu more like it)", alike - 1);
        message_warning("%s%s", notes->v[i].note.text, more);
        report_advice(t, notes->v[i].note.advice);
    }
    if (reported > NOTES_LISTED)
        message_hint("the profiles have %s of this kind; heaptap report shows all",
                     style_plural(&t->arena, (int64_t)(reported - NOTES_LISTED), "more note"));
}

/* Report the runtime that the main process's program is, if it has a note and no warning. */
static void
report_runtime(struct summary *t)
{
    const struct run_notes *notes = t->s->notes;

    for (size_t i = 0; i < notes->count; i++) {
        const struct profile_note *n = &notes->v[i].note;

        if (n->kind == NOTE_RUNTIME && notes->v[i].pid == (pid_t)t->s->p->process.pid)
            message_hint("%s%s%s", n->text, *n->advice != '\0' ? ": " : "", n->advice);
    }
}

static void
report_profile(struct summary *t, const char *const *names)
{
    static const char *const reasons[] = {
        [HEAD_NONE] = "",
        [HEAD_FIRST] = "",
        [HEAD_BECAME] = "the program after exec, ",
        [HEAD_MOST] = "what allocated most, ",
    };
    const struct run_process *head = &t->s->processes[t->s->head];
    struct stat st = {0};
    const char *size;

    stat(head->path, &st);
    size = style_bytes(&t->arena, st.st_size);
    if (t->s->count == 1)
        run_summary_report(t, "profile %s (%s)", head->path, size);
    else
        run_summary_report(t, "profile %s (%s) is of %s%s (pid %u)", head->path, size,
                           reasons[t->s->why], names[t->s->head], head->pid);
}

/* Return the name of process I, with its id if another process has the same name. */
static const char *
name_among(struct summary *t, const char *const *names, size_t i)
{
    for (size_t k = 0; k < t->s->count; k++)
        if (k != i && strcmp(names[k], names[i]) == 0)
            return arena_printf(&t->arena, "%s (%u)", names[i], t->s->processes[i].pid);
    return names[i];
}

/* Report the other processes, and name the largest ones. */
static void
report_others(struct summary *t, const char *const *names)
{
    const struct run_summary *s = t->s;
    bool *reported = arena_array(&t->arena, s->count, sizeof *reported);
    struct counters total = COUNTERS_ZERO;
    struct arena *a = &t->arena;
    const char *list = "";
    bool is_session;

    for (size_t i = 0; i < s->count; i++)
        counters_add(&total, &s->processes[i].totals);
    reported[s->head] = true;
    for (size_t n = 0; n < OTHERS_LISTED && n + 1 < s->count; n++) {
        size_t most = s->count;

        for (size_t i = 0; i < s->count; i++)
            if (!reported[i] && (most == s->count || s->processes[i].totals.allocated_bytes >
                                                     s->processes[most].totals.allocated_bytes))
                most = i;
        reported[most] = true;
        list = arena_printf(a, "%s%s%s %s", list, n > 0 ? ", " : "",
                            name_among(t, names, most),
                            style_bytes(a, s->processes[most].totals.allocated_bytes));
    }
    if (s->count > OTHERS_LISTED + 1)
        list = arena_printf(a, "%s, and %zu more", list, s->count - OTHERS_LISTED - 1);
    run_summary_report(t, "%s in %s: %s", style_plural(a, (int64_t)s->count - 1, "other"),
                       s->directory, list);
    // A directory that the user named may have profiles of other runs, which its sum includes.
    is_session = strstr(s->directory, ORIGIN_OTHERS_SUFFIX) != NULL;
    run_summary_report(
        t, "together %s, %s, and %s still live at end; see %s with: heaptap report %s",
        style_plural(a, total.allocations, "allocation"), style_bytes(a, total.allocated_bytes),
        style_bytes(a, counters_live_bytes(&total)), is_session ? "them as one" : "the first",
        shell_word(a, is_session ? s->directory : s->processes[s->head].path));
}

static void
report_processes(struct summary *t)
{
    const struct run_summary *s = t->s;
    struct session_who *who = arena_array(&t->arena, s->count, sizeof *who);
    const char **names = arena_array(&t->arena, s->count, sizeof *names);

    for (size_t i = 0; i < s->count; i++)
        who[i] = (struct session_who){path_basename(s->processes[i].executable),
                                      s->processes[i].command, s->processes[i].comm};
    session_names(who, s->count, &t->arena, names);
    for (size_t i = 0; i < s->count; i++)
        names[i] = style_cut_end(&t->arena, names[i], NAME_WIDTH);
    report_profile(t, names);
    report_others_corrupted(t, names);
    if (s->count > 1)
        report_others(t, names);
}

/* Report the chosen share of callers, and the cost. */
static void
report_overhead(struct summary *t)
{
    const char *cost = sampling_overhead(&t->arena, t->s->p);

    if (*cost != '\0')
        run_summary_report(t, "recorded %s; %s", sampling_how(&t->arena, t->s->p), cost);
}

void
run_summary(const struct run_summary *s)
{
    struct summary t = {.s = s};

    run_summary_report_end(&t);
    if (s->p != NULL)
        report_totals(&t);
    if (s->p != NULL)
        report_overhead(&t);
    if (s->p != NULL)
        pick_frames(s->p, &(struct view_options){0}, true);
    if (s->p != NULL && s->named) {
        report_holder(&t);
        run_summary_report_growth(&t);
        names_hint_add_all(&t.hint, s->p, true);
    }
    if (s->p != NULL)
        report_losses(&t);
    if (s->p != NULL)
        report_corruptions(&t);
    report_notes(&t);
    if (s->p != NULL)
        report_runtime(&t);
    if (s->count > 0)
        report_processes(&t);
    if (s->running > 0)
        run_summary_report(
            &t, "%zu of them still being written; pack %s ended", s->running,
            s->running == 1 ? "it when its process has" : "them when their processes have");
    if (s->interrupted)
        run_summary_report(&t, "interrupted; `heaptap pack` packs the rest");
    names_hint_print(&t.hint);
    arena_release(&t.arena);
}
