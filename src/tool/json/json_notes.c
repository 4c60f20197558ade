/* json_notes.c: write notes on a profile: objects with a kind, a sentence, and the numbers in that
 * sentence. */
#include "json/json_tables.h"

#include "view/phrases.h"

static void
json_run_note(struct json *j, const struct profile_note *n)
{
    json_object(j, NULL);
    json_string(j, "kind", note_kind_name(n));
    json_string(j, "text", n->text);
    json_known(j, "advice", n->advice);
    if (n->kind == NOTE_UNSEEN) {
        json_uint(j, "anonymous_bytes", n->anonymous_bytes);
        json_uint(j, "recorded_bytes", n->recorded_bytes);
    }
    if (n->processes > 0) {
        json_known(j, "process", n->process);
        json_uint(j, "processes", n->processes);
    }
    json_end(j);
}

void
json_notes(struct json *j, const struct profile *p)
{
    json_array(j, "notes");
    for (size_t i = 0; i < p->run_note_count; i++)
        json_run_note(j, &p->run_notes[i]);
    for (size_t i = 0; i < p->note_count; i++) {
        json_object(j, NULL);
        json_string(j, "kind", p->damage != NULL ? "damaged-file" : "incomplete-file");
        json_string(j, "text", p->notes[i]);
        json_string(j, "advice", NULL);
        json_end(j);
    }
    json_end(j);
}
