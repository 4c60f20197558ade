/* named.c: assigns ids to frames of languages other than C, and stores their names.
 *
 * An adapter (mixed/language_adapters.c) passes each name once and gets an id, which stays valid
 * indefinitely, even in children made by fork. So ids and texts are in memory that a child inherits
 * unchanged. This memory uses only address space until an adapter passes a name, and then pages in
 * the order of use (hash_places.h).
 *
 *     id ──► {function, file, line, language} ──► texts
 *      │                                             │
 *      └► record in the profile's NAMED table        └► place in the profile's STRINGS
 *
 * The lower row exists once per profile. A frame's record is created when the frame first occurs in
 * a stack, and each text is written once. If two threads write the same record or text
 * concurrently, one record may remain unpublished, or the text may be stored twice. Either case
 * wastes a few bytes.
 *
 * Record 1, "other functions", represents all frames that get no record or no id, because the table
 * is full. */
#include "account/label.h"

#include <string.h>
#include <sys/mman.h>

#include "account/account_state.h"
#include "account/file.h"
#include "base/atomics.h"
#include "base/hash.h"
#include "base/hash_places.h"
#include "platform/mem.h"
#include "platform/selection.h"
#include "platform/sys.h"

enum {
    FRAME_PLACES = 2 * LIMIT_NAMED,
    TEXT_PLACES = 2 * LIMIT_NAMED,
    POOL_BYTES = 16 << 20,
    TEXT_BYTES_MAX = 1000,
    RECORD_OTHER = 1,
};

/* The definition of an id. The members are numbers of texts; NAME_SET_NONE = empty text. */
struct named {
    uint32_t function, file, line, language;
};

struct names {
    uint32_t places[FRAME_PLACES]; // Atomic: index into `frames` plus 1; 0 = free.
    uint32_t used;                 // Atomic: number of frames requested; may exceed the capacity.
    struct named frames[LIMIT_NAMED];
    uint32_t text_places[TEXT_PLACES];
    unsigned char pool[POOL_BYTES];
    struct name_set texts;
};

/* The ids and texts that one profile contains. */
struct named_records {
    uint32_t record[LIMIT_NAMED + 1]; // Atomic, by id: index in NAMED; 0 = none.
    uint64_t strings[TEXT_PLACES];    // Atomic, by text: packed offset and size; 0 = not written.
};

static struct names *names; // Atomic; process constant.

static const char other_functions[] = "(other functions)";

bool
named_start(void)
{
    table_keep(&state->tables[DISK_NAMED], RECORD_OTHER + 1);
    return true;
}

/* Return the process's names, created on first use. Return NULL if memory is exhausted. */
static struct names *
all_names(void)
{
    struct names *n = load_acquire(&names), *none = NULL;

    if (likely(n != NULL))
        return n;
    n = sys_mmap(NULL, sizeof *n, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys_failed(n))
        return NULL;
    n->texts = (struct name_set){.places = n->text_places,
                                 .place_count = TEXT_PLACES,
                                 .pool = n->pool,
                                 .pool_bytes = POOL_BYTES};
    if (cas_acq_rel(&names, &none, n)) {
        mem_exclude(n, sizeof *n);
        return n;
    }
    sys_munmap(n, sizeof *n);
    return none;
}

/* Store the number of TEXT in *RET_NUMBER. Return false if there is no room. */
static bool
text_number(struct names *n, const char *text, uint32_t *ret_number)
{
    size_t size_bytes = text != NULL ? strlen(text) : 0;

    *ret_number = NAME_SET_NONE;
    if (size_bytes == 0)
        return true;
    if (size_bytes > TEXT_BYTES_MAX)
        size_bytes = TEXT_BYTES_MAX;
    *ret_number = name_set_intern(&n->texts, text, size_bytes);
    return *ret_number != NAME_SET_NONE;
}

/* Append F to the frames. Return its index plus 1, or 0 if there is no room. */
static uint32_t
named_add_frame(struct names *n, const struct named *f)
{
    uint32_t index = load_relaxed(&n->used);

    do {
        if (index >= LIMIT_NAMED)
            return 0;
    } while (!cas_acq_rel(&n->used, &index, index + 1));
    n->frames[index] = *f;
    return index + 1;
}

uint32_t
named_id(const char *function, const char *file, uint32_t line, const char *language)
{
    struct names *n = all_names();
    struct named f = {.line = line};
    struct hash_places p = {.total = FRAME_PLACES};
    uint32_t made = 0, at;

    if (n == NULL || !text_number(n, function, &f.function) || !text_number(n, file, &f.file) ||
        !text_number(n, language, &f.language))
        return 0;
    p.hash = hash_bytes(&f, sizeof f);
    while (hash_places_next(&p, &at)) {
        uint32_t *place = &n->places[at];
        uint32_t current = load_acquire(place);

        if (current == 0) {
            if (made == 0 && (made = named_add_frame(n, &f)) == 0)
                return 0;
            if (cas_acq_rel(place, &current, made))
                return made;
        }
        if (memcmp(&n->frames[current - 1], &f, sizeof f) == 0)
            return current;
    }
    return 0;
}

/* Return the profile's records, created on first use. Return NULL if memory is exhausted. */
static struct named_records *
all_records(void)
{
    struct named_records *r = load_acquire(&account_state()->named), *none = NULL;

    if (likely(r != NULL))
        return r;
    r = mem_private(sizeof *r);
    if (r == NULL || cas_acq_rel(&account_state()->named, &none, r))
        return r;
    mem_release(r, sizeof *r);
    return none;
}

/* Return the position in the profile of text number NUMBER of N. Write the text if the profile
 * lacks it. */
static struct disk_string
string_of(struct named_records *r, const struct names *n, uint32_t number)
{
    struct disk_string s = {0};
    size_t size_bytes;
    uint64_t packed;
    const void *text;

    if (number >= TEXT_PLACES)
        return s;
    packed = load_acquire(&r->strings[number]);
    if (packed != 0)
        return (struct disk_string){(uint32_t)(packed >> 32), (uint32_t)packed};
    text = name_set_get(&n->texts, number, &size_bytes);
    s = file_string(text, size_bytes);
    if (s.bytes != 0)
        store_release(&r->strings[number], (uint64_t)s.off << 32 | s.bytes);
    return s;
}

/* Return record 1. Write it if the profile lacks it. */
static uint32_t
other_record(struct named_records *r)
{
    struct disk_named *d = table_kept(&state->tables[DISK_NAMED], RECORD_OTHER);
    uint32_t none = 0;

    if (d != NULL && load_acquire(&d->id) == 0 &&
        cas_acq_rel(&r->record[0], &none, (uint32_t)RECORD_OTHER)) {
        d->function = file_string(other_functions, sizeof other_functions - 1);
        store_release(&d->id, (uint32_t)RECORD_OTHER);
    }
    return RECORD_OTHER;
}

/* Create a record for the frame ID in this process's profile. */
static COLD uint32_t
named_make_record(struct named_records *r, uint32_t id)
{
    const struct names *n = load_acquire(&names);
    struct table *t = &state->tables[DISK_NAMED];
    struct disk_named *d;
    uint32_t none = 0;
    uint64_t index = TABLE_NONE;

    if (id != 0 && n != NULL && load_relaxed(&t->used) < LIMIT_NAMED)
        index = table_take(t, 1);
    if (index >= LIMIT_NAMED)
        return other_record(r);
    d = table_record(t, index);
    d->line = n->frames[id - 1].line;
    d->function = string_of(r, n, n->frames[id - 1].function);
    d->file = string_of(r, n, n->frames[id - 1].file);
    d->language = string_of(r, n, n->frames[id - 1].language);
    if (!cas_acq_rel(&r->record[id], &none, (uint32_t)index))
        return none;
    store_release(&d->id, (uint32_t)index);
    return (uint32_t)index;
}

uint64_t
named_frame(uint32_t id)
{
    struct named_records *r = all_records();
    uint32_t record = RECORD_OTHER;

    if (id > LIMIT_NAMED)
        id = 0;
    if (likely(r != NULL)) {
        record = load_acquire(&r->record[id]);
        if (unlikely(record == 0))
            record = named_make_record(r, id);
    }
    return nodes_named(record);
}
