/* budget_text.c: the results of a budget as text, and the sentences of all formats.
 *
 *     ok       peak <= 64M: 20.5 KiB of 64.0 MiB
 *     over     allocations of callback == 0: 12, more than 0; most in copy: 12
 *
 * A line is cut to the width of the output; the reason of a finding continues on further lines. */
#include "budget/budget_reports.h"

#include <string.h>

#include "util/path.h"
#include "view/table.h"

enum { WORD_WIDTH = 9, CAUSE_COLUMNS = 60 };

const char *
budget_word(enum budget_outcome outcome)
{
    static const char *const words[] = {
        [BUDGET_WITHIN] = "ok",      [BUDGET_OVER] = "over",       [BUDGET_UNDER] = "under",
        [BUDGET_ABSENT] = "absent",  [BUDGET_UNKNOWN] = "unknown", [BUDGET_LEFT_OUT] = "left out",
    };

    return words[outcome];
}

static const char *
budget_amount(struct arena *arena, const struct budget_result *r, int64_t value, int64_t other)
{
    return limit_is_bytes(r->rule->of) ? style_bytes_beside(arena, value, other)
                                       : style_count(arena, value);
}

/* Return the place of R's amount in the range of the baseline's runs. */
static const char *
range_text(struct arena *arena, const struct budget_result *r)
{
    const struct budget_values *v = &r->values;
    bool within = r->limit.value >= v->smallest && r->limit.value <= v->largest;

    if (!r->has_values)
        return "";
    if (v->runs == 1)
        return arena_printf(arena, "; before: %s",
                            budget_amount(arena, r, v->median, r->limit.value));
    return arena_printf(arena, "; %s of %s: %s to %s, median %s",
                        within ? "within the noise" : "the range",
                        style_plural(arena, (int64_t)v->runs, "run"),
                        budget_amount(arena, r, v->smallest, v->largest),
                        budget_amount(arena, r, v->largest, v->smallest),
                        budget_amount(arena, r, v->median, v->median));
}

const char *
budget_sentence(const struct budget_result *r, struct arena *arena)
{
    const struct limit_result *j = &r->limit;
    int64_t limit = counters_sum(j->before, j->allowed);
    const char *value = budget_amount(arena, r, j->value, limit), *cause = "";

    if (r->outcome == BUDGET_LEFT_OUT)
        return "nothing matches, and the rule allows this";
    if (r->outcome == BUDGET_ABSENT || (r->outcome == BUDGET_UNKNOWN && !r->is_measured))
        return r->reason;
    if (r->outcome == BUDGET_UNKNOWN && r->rule->of_baseline && !r->has_values)
        return arena_printf(arena, "%s, but %s", value, r->reason);
    if (r->outcome == BUDGET_UNKNOWN)
        return arena_printf(arena, "%s, limit %s, but %s", value,
                            budget_amount(arena, r, limit, j->value), r->reason);
    if (j->cause.function != NULL)
        cause = arena_printf(arena, "; most in %s: %s",
                             style_cut_end(arena, j->cause.function, CAUSE_COLUMNS),
                             budget_amount(arena, r, j->cause.amount, j->cause.amount));
    return arena_printf(arena, "%s, %s %s%s%s", value,
                        r->outcome == BUDGET_OVER    ? "more than"
                        : r->outcome == BUDGET_UNDER ? "less than"
                                                     : "limit",
                        budget_amount(arena, r, limit, j->value), cause, range_text(arena, r));
}

/* Return the name of R's process, and its test. */
static const char *
process_text(const struct budget_result *r, struct arena *arena)
{
    const char *pid = r->pid != 0 ? arena_printf(arena, " (pid %u)", r->pid) : "";

    return arena_printf(arena, "%s%s%s%s", *r->program ? r->program : "?", pid,
                        r->test ? ", test " : "", r->test ? r->test : "");
}

const char *
budget_title(const struct budget_result *r, struct arena *arena)
{
    return arena_printf(arena, "%s%s%s: %s", *r->program ? r->program : "?",
                        r->test ? ", test " : "", r->test ? r->test : "", r->rule->text);
}

/* Append TEXT after USED columns of a line, wrapped at blanks. */
static void
put_wrapped(const struct style *style, const char *text, size_t used, struct arena *arena,
            struct strbuf *out)
{
    size_t column = used;

    text = style_clean(arena, text);
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        const char *word = arena_strndup(arena, text, length);
        size_t width = style_width(word);

        if (column > used && column + 1 + width > style->width) {
            strbuf_char(out, '\n');
            style_left(out, "", WORD_WIDTH + 2);
            column = used = WORD_WIDTH + 2;
        } else if (column > used) {
            strbuf_char(out, ' ');
            column++;
        }
        word = style_cut_end(arena, word, style_room(style, column));
        strbuf_str(out, word);
        column += style_width(word);
        text += length + (text[length] == ' ');
    }
    strbuf_char(out, '\n');
}

static void
put_result(const struct budget_result *r, const struct style *style, struct arena *arena,
           struct strbuf *out)
{
    strbuf_str(out, "  ");
    style_attr(style, out, budget_is_finding(r) ? ATTR_WARNING : ATTR_PLAIN);
    style_left(out, budget_word(r->outcome), WORD_WIDTH);
    style_attr(style, out, ATTR_PLAIN);
    put_wrapped(style,
                arena_printf(arena, "%s: %s", r->rule->text, budget_sentence(r, arena)),
                WORD_WIDTH + 2, arena, out);
}

void
budget_text(const struct budget_report *report, const struct style *style, bool findings_only,
            struct strbuf *out)
{
    struct arena arena = {0};
    const char *process = "";
    int64_t findings = 0;

    for (size_t i = 0; i < report->count; i++)
        findings += budget_is_finding(&report->v[i]);
    put_wrapped(style,
                arena_printf(&arena, "%s: %s, %s", report->budget->path,
                             style_plural(&arena, (int64_t)report->count, "result"),
                             style_plural(&arena, findings, "finding")),
                0, &arena, out);
    for (size_t i = 0; i < report->count; i++) {
        const struct budget_result *r = &report->v[i];
        const char *of = process_text(r, &arena);

        if (findings_only && !budget_is_finding(r))
            continue;
        if (strcmp(of, process) != 0)
            put_wrapped(style, of, 0, &arena, out);
        process = of;
        put_result(r, style, &arena, out);
    }
    arena_release(&arena);
}
