/* json_source.c: write the lines of source files that allocated, as one document
 * "heaptap-source". */
#include "json/json.h"

#include "json/json_tables.h"

static void
json_line(struct json *j, const struct profile *p, const struct source_line *line)
{
    json_object(j, NULL);
    json_uint(j, "line", line->line);
    json_counters(j, &line->inclusive);
    json_self(j, &line->self);
    if (profile_has_errors(p)) {
        json_errors(j, "", &line->inclusive, line->inclusive_errors);
        json_errors(j, "self_", &line->self, line->self_errors);
    }
    json_estimated(j, p, "", line->inclusive_errors);
    json_estimated(j, p, "self_", line->self_errors);
    json_end(j);
}

void
json_source(struct json *j, const struct view *v, const struct source *source)
{
    json_object(j, NULL);
    json_head(j, "heaptap-source", v->p, &v->stacks->total, &v->stacks->errors);
    json_losses(j, v->p);
    json_array(j, "functions");
    for (size_t i = 0; i < source->function_count; i++)
        json_string(j, NULL, source->functions[i]);
    json_end(j);
    json_array(j, "files");
    for (size_t i = 0; i < source->file_count; i++) {
        const struct source_file *f = &source->files[i];

        json_object(j, NULL);
        json_string(j, "file", f->path);
        json_array(j, "lines");
        for (size_t k = 0; k < f->line_count; k++) {
            json_line(j, v->p, &f->lines[k]);
        }
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}
