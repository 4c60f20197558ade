/* budget_json.c: the results of a budget as JSON; docs/json.md is the contract. */
#include "budget/budget_reports.h"

#include "util/json_out.h"

static void
put_values(struct json *j, const struct budget_result *r)
{
    if (!r->has_values)
        return;
    json_object(j, "baseline");
    json_int(j, "min", r->values.smallest);
    json_int(j, "median", r->values.median);
    json_int(j, "max", r->values.largest);
    json_int(j, "most", r->values.most);
    json_uint(j, "runs", r->values.runs);
    json_end(j);
}

static void
put_frames(struct json *j, const struct budget_result *r)
{
    json_array(j, "frames");
    for (size_t i = 0; i < r->frame_count; i++) {
        const struct budget_frame *f = &r->frames[i];

        json_object(j, NULL);
        json_string(j, "function", f->function);
        json_string(j, "file", *f->file ? f->file : NULL);
        if (f->line != 0)
            json_uint(j, "line", f->line);
        else
            json_string(j, "line", NULL);
        json_string(j, "module", *f->module ? f->module : NULL);
        json_end(j);
    }
    json_end(j);
}

static void
put_result(struct json *j, const struct budget_result *r)
{
    struct arena arena = {0};

    json_object(j, NULL);
    json_string(j, "program", r->program);
    json_uint(j, "pid", r->pid);
    json_string(j, "profile", *r->profile ? r->profile : NULL);
    json_string(j, "test", r->test);
    json_string(j, "rule", r->rule->text);
    json_string(j, "amount", r->rule->what);
    json_uint(j, "line", r->rule->line);
    json_uint(j, "column", r->rule->column);
    json_string(j, "outcome", budget_word(r->outcome));
    json_bool(j, "finding", budget_is_finding(r));
    json_string(j, "text", budget_sentence(r, &arena));
    if (r->is_measured) {
        json_string(j, "unit", limit_is_bytes(r->rule->of) ? "bytes" : "count");
        json_int(j, "value", r->limit.value);
        json_int(j, "before", r->limit.before);
        json_int(j, "allowed", r->limit.allowed);
        json_int(j, "least", counters_sum(r->limit.least, r->limit.before));
        json_int(j, "most", counters_sum(r->limit.most, r->limit.before));
        put_values(j, r);
        json_string(j, "cause", r->limit.cause.function);
        put_frames(j, r);
    }
    json_end(j);
    arena_release(&arena);
}

void
budget_json(const struct budget_report *report, struct strbuf *out)
{
    struct json j;

    json_begin(&j, out, JSON_VERSION_TABLES);
    json_object(&j, NULL);
    json_string(&j, "format", "heaptap-budget");
    json_uint(&j, "version", JSON_VERSION_TABLES);
    json_string(&j, "budget", report->budget->path);
    json_uint(&j, "status", (uint64_t)budget_exit(report));
    json_array(&j, "results");
    for (size_t i = 0; i < report->count; i++)
        put_result(&j, &report->v[i]);
    json_end(&j);
    json_end(&j);
}
