/* runner.c: open the user's profiles, check and symbolise them, build their stacks, and show each
 * process.
 *
 * Checks run in the order of their cost to a waiting user: names and moments first, then the
 * command's requirements, then symbols. Results go to stdout at the end or, if they are large, in
 * parts (sink.c). Everything else goes to stderr, so that a pipe gets only the view. No state
 * outlives a call, so several calls may run in one process. */
#include "command/runner.h"

#include <unistd.h>

#include "analyse/stacks.h"
#include "command/sink.h"
#include "json/json.h"
#include "open/open_set.h"
#include "open/symbolise.h"
#include "text/text.h"
#include "text/text_view.h"
#include "view/phrases.h"

/* Data for messages behind the output. */
struct ends {
    struct names_hint hint;
    struct filter_hits hits;
};

static int
build_stacks(struct shown *s, struct arena *arena)
{
    const struct runner *r = s->runner;
    bool fold = r->stacks != STACKS_UNFOLDED;
    struct stacks_options options;
    int rc;

    if (r->stacks == STACKS_NONE)
        return 0;
    if (r->stacks == STACKS_FOLDED_IN_TEXT)
        fold = !r->options->json || r->options->fold;
    options = pick_options(r->options, fold);
    if (r->recursion_folded && !r->options->keep_recursion)
        options.fold_recursion = true;
    if (r->stacks == STACKS_OF_EACH_LABEL)
        options.merge_labels = false;
    rc = pick_stacks(s->p, &options, arena, s->hits, &s->stacks);
    if (rc == 0 && r->numbered && !r->options->json)
        stack_numbers(s->p, &s->stacks);
    return rc;
}

static int
runner_show_one(struct shown *s, struct arena *arena, struct strbuf *out)
{
    const struct runner *r = s->runner;
    const struct view_options *o = r->options;
    int rc = r->check ? r->check(s) : 0;

    if (rc == 0 && r->metric)
        rc = pick_metric(s->p, *r->metric);
    if (rc == 0)
        rc = symbolise(s->p, &o->symbols);
    if (rc == 0 && !r->needs_addresses)
        pick_frames(s->p, o, !o->json && !r->keeps_native);
    if (rc == 0)
        rc = build_stacks(s, arena);
    if (rc != 0)
        return rc;
    s->text = (struct text_view){
        .base = {.p = s->p,
                 .stacks = &s->stacks,
                 .filter = o->filter,
                 .tags = o->tags,
                 .arena = arena,
                 .limit = o->limit},
        .style = style_for(STDOUT_FILENO, o->wide),
        .out = out,
        .depth = o->depth ? o->depth : TEXT_DEPTH,
    };
    rc = r->show(s);
    if (rc == 0 && r->stacks != STACKS_NONE)
        names_hint_add(s->hint, s->p, &s->stacks, s->text.nameless);
    return rc;
}

/* Begin OUT with the sentence TEXT under TITLE, if there is such a sentence. If the format has no
 * room for it, or is JSON, print the sentence on stderr. */
static void
runner_put_sentence(const struct runner *r, const char *title, const char *text,
                    struct arena *arena, struct strbuf *out)
{
    struct style style = style_for(STDOUT_FILENO, r->options->wide);

    if (text == NULL)
        return;
    if (r->options->json || r->for_programs) {
        message_warning("%s", text);
        return;
    }
    text_damaged(&style, title, text, arena, out);
}

/* Begin OUT with all that makes SET's numbers unreliable. */
static void
runner_put_damage(const struct runner *r, struct view_set *set, struct strbuf *out)
{
    runner_put_sentence(r, "Damaged: ", damage_of_set(set, &set->arena), &set->arena, out);
    runner_put_sentence(r, "Incomplete: ", damage_without_point(set, &set->arena), &set->arena,
                        out);
}

/* Print the lines above the table of a session's processes, about the filters. */
static void
put_filters(const struct runner *r, const struct style *style, struct arena *arena,
            struct strbuf *out)
{
    struct text_view v = {
        .base = {.filter = r->options->filter, .tags = r->options->tags, .arena = arena},
        .style = *style,
        .out = out};

    text_filters(&v);
}

/* Print the text above all processes of a session, or begin the JSON document of the session. */
static void
begin_session(const struct runner *r, struct view_set *set, struct json *j, struct strbuf *out)
{
    struct style style = style_for(STDOUT_FILENO, r->options->wide);

    if (r->options->json) {
        json_session_begin(j, set, &set->arena);
    } else if (r->session == SESSION_TABLE || r->session == SESSION_TABLE_ONLY) {
        put_filters(r, &style, &set->arena, out);
        text_session(set, &style, r->options->limit, &set->arena, out);
    }
    if (r->session == SESSION_TABLE_ONLY && !r->options->json)
        message_hint("--only PROGRAM or --only PID shows one process");
}

/* Print the text above P in a session. */
static void
put_heading(const struct runner *r, const struct profile *p, bool first, struct arena *arena,
            struct strbuf *out)
{
    struct style style = style_for(STDOUT_FILENO, r->options->wide);
    const char *pid = "";

    if (r->session == SESSION_TABLE || (r->session == SESSION_TITLES && !first))
        strbuf_char(out, '\n');
    if (r->session != SESSION_TITLES)
        return;
    if (p->merged_processes == 0)
        pid = arena_printf(arena, " (pid %s)", profile_pid_text(p, arena));
    strbuf_str(out, style_cut_end(arena, style_clean(arena, profile_title(p, arena)),
                                  style_room(&style, style_width(pid))));
    strbuf_fmt(out, "%s\n", pid);
}

/* Return true if R shows SET as a session. In JSON, a single readable profile of several is shown
 * as a session, because the document of a process cannot mention the unreadable ones. */
static bool
is_session(const struct runner *r, const struct view_set *set)
{
    bool summed = r->session == SESSION_SUM || r->session == SESSION_SUM_IN_TIME;

    return set->count > 1 || (r->options->json && !summed && set_left_out(set) > 0);
}

/* Show every process of SET, a session. Returns as runner_run. */
static int
show_session(const struct runner *r, struct view_set *set, struct strbuf *out,
             struct ends *ends)
{
    bool found = false, json = r->options->json != 0;
    bool table_only = r->session == SESSION_TABLE_ONLY && !json;
    struct filter_hits counted_later = {0};
    struct json j;
    int rc = 0;

    if (json || r->session == SESSION_TABLE || r->session == SESSION_TABLE_ONLY)
        rc = pick_totals(set, r->options, table_only ? &ends->hits : &counted_later);
    if (rc != 0)
        return rc;
    json_begin(&j, out, view_json_version(r->options));
    runner_put_damage(r, set, out);
    begin_session(r, set, &j, out);
    if (table_only)
        return 0;
    for (size_t i = 0; i < set->count && (rc == 0 || rc == HEAPTAP_NOT_FOUND); i++) {
        struct shown s = {.runner = r,
                          .set = set,
                          .p = set->v[i],
                          .j = &j,
                          .hint = &ends->hint,
                          .hits = &ends->hits};
        struct arena arena = {0}; // Each process has its own memory, released before the next one.
        size_t before = out->length;

        if (!json)
            put_heading(r, s.p, !found, &set->arena, out);
        rc = runner_show_one(&s, &arena, out);
        arena_release(&arena);
        found |= rc == 0;
        if (rc == HEAPTAP_NOT_FOUND && before < out->length)
            strbuf_cut(out, before);
    }
    if (json && (rc == 0 || rc == HEAPTAP_NOT_FOUND))
        json_session_end(&j);
    return rc == HEAPTAP_NOT_FOUND && found ? 0 : rc;
}

static int
show_single(const struct runner *r, struct view_set *set, struct strbuf *out,
            struct ends *ends)
{
    struct json j;
    struct shown s = {.runner = r,
                      .set = set,
                      .p = set->v[0],
                      .j = &j,
                      .hint = &ends->hint,
                      .hits = &ends->hits};

    json_begin(&j, out, view_json_version(r->options));
    runner_put_damage(r, set, out);
    return runner_show_one(&s, &set->arena, out);
}

/* Print hints above the output if most of it has no names: they explain the names. */
static void
report_beginning(int rc, struct ends *ends)
{
    if (rc == 0 && names_hint_explains(&ends->hint))
        names_hint_print(&ends->hint);
}

/* Print the messages ENDS if R's result RC is success, and release them. */
static void
report_ends(const struct runner *r, int rc, struct ends *ends)
{
    if (rc == 0) {
        pick_print_hits(&ends->hits, r->options);
        names_hint_print(&ends->hint);
    } else {
        arena_release(&ends->hint.arena);
    }
}

int
runner_show(const struct runner *r, struct profile *p)
{
    struct view_set set = {.v = &p, .count = 1};
    struct sink sink = {
        .path = r->output, .set = &set, .is_text = !r->options->json && !r->for_programs};
    struct strbuf out = sink_begin(&sink);
    struct ends ends = {0};
    int rc = show_single(r, &set, &out, &ends);

    report_beginning(rc, &ends);
    if (rc == 0)
        rc = sink_end(&out);
    else
        sink_abandon(&out);
    report_ends(r, rc, &ends);
    arena_release(&set.arena);
    return rc;
}

/* Drop OUT of SINK. If its text began with a sentence about damage, print that: damage may explain
 * why there is nothing to show. */
static void
runner_abandon(const struct sink *sink, struct strbuf *out)
{
    struct arena arena = {0};
    const char *damage = sink->is_text ? damage_of_set(sink->set, &arena) : NULL;

    if (damage != NULL)
        message_warning("%s", damage);
    arena_release(&arena);
    sink_abandon(out);
}

int
runner_run(const struct runner *r, const char *what)
{
    struct view_set set;
    struct sink sink = {
        .path = r->output, .set = &set, .is_text = !r->options->json && !r->for_programs};
    struct strbuf out = sink_begin(&sink);
    struct ends ends = {0};
    int rc = set_open(what, r->options, &set);

    if (rc == 0 && (r->session == SESSION_SUM || r->session == SESSION_SUM_IN_TIME))
        rc = set_merge(&set, what ? what : "the session", r->options,
                       r->session == SESSION_SUM ? SET_WITHOUT_HISTORY : SET_WITH_HISTORY);
    if (rc == 0)
        rc = is_session(r, &set) ? show_session(r, &set, &out, &ends)
                                 : show_single(r, &set, &out, &ends);
    report_beginning(rc, &ends);
    if (rc == 0)
        rc = sink_end(&out);
    else
        runner_abandon(&sink, &out);
    report_ends(r, rc, &ends);
    set_close(&set);
    return rc;
}
