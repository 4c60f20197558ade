/* known.c: the processes that the server knows, and their latest numbers.
 *
 * This is the only state between requests. A process that was seen once stays, so the counters of
 * its program never fall; of an ended process only its counts are kept. */
#include "serve/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/json_out.h"

static size_t
known_find(const struct known *k, uint64_t id)
{
    size_t i = 0;

    while (i < k->count && k->scanned[i].id != id)
        i++;
    return i;
}

/* Make room for one more process, without numbers. */
static void
known_add(struct known *k)
{
    if (k->count == k->capacity) {
        k->capacity = k->capacity ? 2 * k->capacity : 16;
        k->scanned = xrealloc(k->scanned, k->capacity * sizeof *k->scanned);
        k->rows = xrealloc(k->rows, k->capacity * sizeof *k->rows);
        k->has_numbers = xrealloc(k->has_numbers, k->capacity * sizeof *k->has_numbers);
    }
    k->rows[k->count] = (struct metrics_row){0};
    k->has_numbers[k->count++] = false;
}

static void
drop_named(struct metrics_row *row)
{
    free((void *)(uintptr_t)row->named);
    row->named = NULL;
    row->numbers.named_count = 0;
}

static void
take_numbers(struct known *k, size_t i, const struct metrics_process *new, const char *named)
{
    struct metrics_row *row = &k->rows[i];
    size_t bytes = new->named_count * sizeof(struct metrics_named);
    struct metrics_named *copy = xmalloc(bytes + 1);
    struct metrics_process old = row->numbers;

    memcpy(copy, named, bytes);
    drop_named(row);
    row->numbers = *new;
    row->named = copy;
    if (k->has_numbers[i])
        metrics_keep_rising(&row->numbers, &old);
    k->has_numbers[i] = true;
}

/* Return the size of the record at AT of LEFT bytes; 0 = it is cut short. */
static size_t
record_size(const char *at, size_t left)
{
    struct scanned s;
    struct metrics_process m;
    size_t size = sizeof s + sizeof m;

    if (left < sizeof s)
        return 0;
    memcpy(&s, at, sizeof s);
    if (s.state != SCAN_NEW)
        return sizeof s;
    if (left < size)
        return 0;
    memcpy(&m, at + sizeof s, sizeof m);
    if (m.named_count > METRICS_NAMED_MAX)
        return 0;
    size += m.named_count * sizeof(struct metrics_named);
    return size <= left ? size : 0;
}

static void
take_record(struct known *k, const char *at, bool *seen, size_t seen_count)
{
    struct metrics_process m;
    struct scanned s;
    size_t i;

    memcpy(&s, at, sizeof s);
    i = known_find(k, s.id);
    if (i == k->count)
        known_add(k);
    if (i < seen_count)
        seen[i] = true;
    if (s.state == SCAN_NEW) {
        memcpy(&m, at + sizeof s, sizeof m);
        take_numbers(k, i, &m, at + sizeof s + sizeof m);
    } else if (s.state == SCAN_SAME) {
        s.state = k->scanned[i].state;
    }
    k->scanned[i] = s;
    k->rows[i].ended = s.pid == 0;
    if (s.pid == 0)
        drop_named(&k->rows[i]);
}

bool
known_take(struct known *k, const struct strbuf *output)
{
    size_t before = k->count, size;
    bool *seen;

    for (size_t at = 0; at < output->length; at += size)
        if ((size = record_size(output->text + at, output->length - at)) == 0)
            return false;
    seen = xcalloc(before + 1, sizeof *seen);
    for (size_t at = 0; at < output->length; at += size) {
        size = record_size(output->text + at, output->length - at);
        take_record(k, output->text + at, seen, before);
    }
    for (size_t i = 0; i < before; i++)
        if (!seen[i]) {
            k->scanned[i].pid = 0;
            k->rows[i].ended = true;
            drop_named(&k->rows[i]);
        }
    free(seen);
    return true;
}

unsigned
known_metrics(const struct known *k, struct serve_request *r, struct arena *arena,
              struct strbuf *out)
{
    struct metrics_row *rows = arena_array(arena, k->count, sizeof *rows);
    struct target *targets = arena_array(arena, k->count, sizeof *targets);
    size_t count = 0, picked;
    uint64_t unreadable = 0;

    for (size_t i = 0; i < k->count; i++)
        targets[i] = (struct target){.what = k->scanned[i].path,
                                     .id = k->scanned[i].id,
                                     .pid = k->scanned[i].pid,
                                     .inner_pid = k->scanned[i].inner_pid};
    picked = targets_pick(targets, k->count, r, arena);
    if (r->status != 0)
        return r->status;
    for (size_t i = 0; i < picked; i++) {
        size_t at = known_find(k, targets[i].id);

        unreadable += k->scanned[at].state == SCAN_FAILED;
        if (k->has_numbers[at])
            rows[count++] = k->rows[at];
    }
    if (count == 0 && unreadable > 0 && (r->pid != 0 || r->profile != NULL)) {
        r->why = "the profile cannot be read; heaptap report shows the reason";
        return r->status = 500;
    }
    metrics_text(rows, count, unreadable, out);
    return 0;
}

void
known_targets(const struct known *k, const char *address, struct strbuf *out)
{
    struct json j;
    char pid[16];

    json_begin(&j, out, JSON_VERSION_TABLES);
    json_array(&j, NULL);
    for (size_t i = 0; i < k->count; i++) {
        if (k->scanned[i].pid == 0 || !k->has_numbers[i])
            continue;
        snprintf(pid, sizeof pid, "%u", k->scanned[i].pid);
        json_object(&j, NULL);
        json_array(&j, "targets");
        json_string(&j, NULL, address);
        json_end(&j);
        json_object(&j, "labels");
        json_string(&j, "__param_pid", pid);
        json_string(&j, "pid", pid);
        json_string(&j, "heaptap_program", k->rows[i].numbers.program);
        json_end(&j);
        json_end(&j);
    }
    json_end(&j);
}

void
known_release(struct known *k)
{
    for (size_t i = 0; i < k->count; i++)
        drop_named(&k->rows[i]);
    free(k->scanned);
    free(k->rows);
    free(k->has_numbers);
}
