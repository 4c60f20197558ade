/* label.c: stores labels, which a program assigns to the work of a thread.
 *
 * A thread has a *set* of labels, a text sorted by key, and each set has a number. A thread stores
 * only the number, in its thread-local memory. So labels end with the thread, and a child made by
 * fork inherits the labels of the thread that forked. The texts never change after they are
 * published (selection.h), so they are valid in the child too. The profile has a table of label
 * sets. A process creates a set's record when it first charges a block to the set. Blocks are
 * charged to a tag, a node below the node of their stack that has the index of the record.
 *
 * Threads without labels have no cost. A thread with labels is THREAD_NEEDS_SLOW_PATH instead of
 * THREAD_READY. Its allocations therefore take the slow path, where label_here finds the tag.
 *
 * The number of sets is limited to the number of records in the profile. Events under further sets
 * are charged to record 1, "other", and counted as losses. If the texts of a new set do not fit,
 * the thread has the set "other" until a label is removed or another set is restored. */
#include "account/label.h"

#include <string.h>

#include "account/account_state.h"
#include "account/file.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "platform/mem.h"
#include "platform/selection.h"

enum {
    SET_NONE = 0,
    SET_OTHER = 1,
    SET_FIRST = 2,
    PLACES = 4 * LIMIT_LABEL_SETS,
    POOL_BYTES = 2 << 20,
    RECORD_OTHER = 1,
};

static uint32_t places[PLACES];
static unsigned char pool[POOL_BYTES];
static struct name_set sets = {
    .places = places, .place_count = PLACES, .pool = pool, .pool_bytes = POOL_BYTES};

bool
label_start(void)
{
    table_keep(&state->tables[DISK_LABELS], RECORD_OTHER + 1);
    account_state()->label_records =
        mem_private(sizeof *account_state()->label_records * (PLACES + SET_FIRST));
    return account_state()->label_records != NULL;
}

uint32_t
label_checked(uint32_t set)
{
    size_t size_bytes;

    if (set == SET_OTHER)
        return set;
    name_set_get(&sets, set - SET_FIRST, &size_bytes);
    return size_bytes != 0 ? set : (uint32_t)SET_NONE;
}

/* A text under construction. too_long is set when an append exceeds the buffer. */
struct draft {
    size_t size_bytes;
    bool too_long;
    char text[NAME_SET_LENGTH_MAX];
};

/* Append S with its NUL. */
static void
draft_add(struct draft *d, const char *s)
{
    size_t size_bytes = strlen(s) + 1;

    if (size_bytes > sizeof d->text - d->size_bytes) {
        d->too_long = true;
        return;
    }
    memcpy(d->text + d->size_bytes, s, size_bytes);
    d->size_bytes += size_bytes;
}

/* Build the labels of SET without KEY, and add KEY=VALUE unless VALUE is NULL. */
static void
put_together(struct draft *d, uint32_t set, const char *key, const char *value)
{
    size_t size_bytes;
    const char *p = name_set_get(&sets, set - SET_FIRST, &size_bytes);
    const char *end = p + size_bytes;

    while (p < end) {
        const char *its_value = p + strlen(p) + 1;
        int order = strcmp(key, p);

        if (order < 0 && value != NULL) {
            draft_add(d, key);
            draft_add(d, value);
            value = NULL;
        }
        if (order != 0) {
            draft_add(d, p);
            draft_add(d, its_value);
        }
        p = its_value + strlen(its_value) + 1;
    }
    if (value != NULL) {
        draft_add(d, key);
        draft_add(d, value);
    }
}

uint32_t
label_with(uint32_t set, const char *key, const char *value)
{
    struct draft d;
    uint32_t number;

    if (key == NULL || *key == '\0')
        return set;
    if (set == SET_OTHER)
        return value != NULL ? SET_OTHER : SET_NONE;
    d.size_bytes = 0;
    d.too_long = false;
    put_together(&d, set, key, value);
    if (d.size_bytes == 0 && !d.too_long)
        return SET_NONE;
    number = d.too_long ? (uint32_t)NAME_SET_NONE : name_set_intern(&sets, d.text, d.size_bytes);
    if (number != NAME_SET_NONE)
        return number + SET_FIRST;
    add_relaxed(&state->header->losses.label_sets, UINT64_C(1));
    return SET_OTHER;
}

/* Invalidate all structs of this thread, so that each reads the labels before its next event. A
 * thread has several structs if handlers interrupted the recorder. */
void
label_adopt(uint32_t set)
{
    struct thread *t = tls.self;

    tls.labels = set;
    while (t->outer != NULL)
        t = t->outer;
    for (; t != NULL; t = t->nested)
        thread_invalidate(t);
}

/* Create a record for SET in this process's profile. */
static COLD uint32_t
label_make_record(uint32_t set)
{
    struct table *t = &state->tables[DISK_LABELS];
    uint32_t *place = &account_state()->label_records[set];
    struct disk_label_set *r;
    uint32_t none = 0;
    uint64_t id = TABLE_NONE;
    size_t size_bytes;
    const void *text = name_set_get(&sets, set - SET_FIRST, &size_bytes);

    if (set != SET_OTHER && load_relaxed(&t->used) < LIMIT_LABEL_SETS)
        id = table_take(t, 1);
    if (id >= LIMIT_LABEL_SETS) {
        if (set != SET_OTHER)
            add_relaxed(&state->header->losses.label_sets, UINT64_C(1));
        r = table_kept(t, RECORD_OTHER);
        if (r != NULL)
            store_release(&r->id, (uint32_t)RECORD_OTHER);
        store_relaxed(place, (uint32_t)RECORD_OTHER);
        return RECORD_OTHER;
    }
    r = table_record(t, id);
    r->text = file_string(text, size_bytes);
    if (!cas_acq_rel(place, &none, (uint32_t)id))
        return none; // Use the other thread's record; the one created here stays unpublished.
    store_release(&r->id, (uint32_t)id);
    return (uint32_t)id;
}

COLD uint32_t
label_node(uint32_t node)
{
    uint32_t record = load_acquire(&account_state()->label_records[tls.labels]);

    if (unlikely(record == 0))
        record = label_make_record(tls.labels);
    return nodes_tag(node, DISK_TAG_LABELS, record);
}
