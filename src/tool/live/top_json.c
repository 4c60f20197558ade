/* top_json.c: a tick as the document "heaptap-top", on one line, so that readers of lines can
 * follow a program. docs/json.md is the contract. */
#include "live/top_text.h"

#include "analyse/interval.h"
#include "json/json_tables.h"
#include "view/phrases.h"

static void
put_known(struct json *j, const char *key, bool known, int64_t value)
{
    if (known)
        json_int(j, key, value);
    else
        json_string(j, key, NULL);
}

static void
put_totals(struct json *j, const struct counters *c, const struct moment_change *change)
{
    json_int(j, "allocations", c->allocations);
    json_int(j, "allocated_bytes", c->allocated_bytes);
    json_int(j, "frees", c->frees);
    json_int(j, "freed_bytes", c->freed_bytes);
    json_int(j, "live_blocks", counters_live_blocks(c));
    json_int(j, "live_bytes", counters_live_bytes(c));
    json_int(j, "peak_bytes", c->peak_bytes);
    json_int(j, "died_within_16", counters_within_16(c));
    json_double(j, "seconds", change->seconds);
    put_known(j, "new_allocations", change->seconds > 0, change->amounts.allocations);
    put_known(j, "new_allocated_bytes", change->seconds > 0, change->amounts.allocated_bytes);
    put_known(j, "new_live_bytes", change->seconds > 0, change->live_bytes);
}

static void
put_process(struct json *j, const struct watched *w)
{
    const struct profile *p = w->latest != NULL ? w->latest->p : NULL;

    json_string(j, "profile", w->what);
    json_uint(j, "pid", w->pid != 0 ? w->pid : p != NULL ? p->process.pid : 0);
    json_string(j, "command", p != NULL ? p->process.command : NULL);
    json_bool(j, "ended", w->ended);
    json_string(j, "trouble", w->trouble);
    if (p == NULL)
        return;
    json_uint(j, "elapsed_ns", p->process.elapsed_ns);
    json_uint(j, "time_unix_ns", w->latest->unix_ns);
    json_string(j, "damage", p->damage);
    json_uint(j, "lost_events", p->losses.events);
    json_bool(j, "copy", p->may_lag);
}

static void
put_row(struct json *j, const struct top_digest *d, const struct top_row *r)
{
    int64_t change, rate;
    bool has_change = top_row_value(d, r, TOP_CHANGE, &change);
    bool has_rate = top_row_value(d, r, TOP_RATE, &rate);

    json_object(j, NULL);
    json_string(j, "name", r->name);
    json_string(j, "place", r->place);
    json_int(j, "live_blocks", counters_live_blocks(&r->inclusive));
    json_int(j, "live_bytes", counters_live_bytes(&r->inclusive));
    json_int(j, "self_live_bytes", counters_live_bytes(&r->self));
    json_int(j, "allocations", r->inclusive.allocations);
    json_int(j, "allocated_bytes", r->inclusive.allocated_bytes);
    json_int(j, "peak_bytes", r->inclusive.peak_bytes);
    json_int(j, "died_within_16", counters_within_16(&r->inclusive));
    if (profile_has_errors(d->p)) {
        struct interval i = interval_of(&r->inclusive, r->inclusive_errors, INTERVAL_LIVE_BYTES);

        json_int(j, "live_bytes_low", interval_rounded(i.low));
        json_int(j, "live_bytes_high", interval_rounded(i.high));
    }
    put_known(j, "change_bytes", has_change, change);
    put_known(j, "allocated_bytes_per_second", has_rate, rate);
    json_string(j, "trend", d->has_history ? timeline_trend_name(r->trend) : NULL);
    json_array(j, "history");
    for (size_t i = 0; i < TREND_POINTS && d->has_history; i++)
        json_int(j, NULL, r->history[i]);
    json_end(j);
    json_end(j);
}

static void
begin(struct json *j)
{
    json_object_line(j, NULL);
    json_string(j, "format", "heaptap-top");
    json_uint(j, "version", j->version);
}

void
top_json(struct json *j, const struct top_shown *s, size_t limit, struct arena *arena)
{
    const struct top_digest *d = s->digest;
    const struct top_row **rows;
    struct moment_change change = {0};
    size_t count;

    begin(j);
    put_process(j, &s->process);
    if (d != NULL) {
        change = moment_difference(&s->process.latest->before, &s->process.latest->now);
        put_totals(j, &d->stacks.total, &change);
        put_known(j, "resident_bytes", s->resident_bytes > 0, s->resident_bytes);
        json_string(j, "filter", s->filter);
        json_string(j, "by", top_by_names[top_choice_of(d->by)]);
        json_uint(j, "row_count", d->all);
        count = top_rows_order(d, &s->order, arena, &rows);
        json_array(j, "rows");
        for (size_t i = 0; i < count && i < limit; i++)
            put_row(j, d, rows[i]);
        json_end(j);
    }
    json_end(j);
}

void
top_json_processes(struct json *j, const struct watched *processes, size_t count)
{
    begin(j);
    json_array(j, "processes");
    for (size_t i = 0; i < count; i++) {
        const struct reading *r = processes[i].latest;
        struct moment_change change = {0};

        json_object(j, NULL);
        put_process(j, &processes[i]);
        if (r != NULL) {
            change = moment_difference(&r->before, &r->now);
            put_totals(j, &r->p->totals, &change);
        }
        json_end(j);
    }
    json_end(j);
    json_end(j);
}
