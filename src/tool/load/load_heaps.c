/* load_heaps.c: heaps and labels that the program created.
 *
 * Both are tags of the call tree: nodes below the innermost frame that are not frames. A path has
 * at most one tag of each kind, in the order labels, heap, backing; any other order is damage. A
 * path with a heap and a backing is a heap that backs another (an arena made from blocks of an
 * arena). The inner tag, the backing, takes precedence: the block counts as backing and not as a
 * block of the outer heap, so no byte counts twice.
 *
 *     main ◄─ parse ◄─ [labels 3] ◄─ [heap 1]         sites here: blocks of heap 1 with labels 3
 *     main ◄─ parse ◄─ grow ◄─ [backing 1]            sites here: chunks of heap 1
 *
 * In the model, heap 0 is malloc and label set 0 is empty. Every site has a heap and a set, and
 * sums over heaps or over sets equal the totals. A tag may refer to a record that is not in the
 * file, because it was added during the copy or found no space. The blocks then belong to a heap of
 * unknown name, or have unknown labels; they never count as malloc's.
 *
 * load_counters.c loads the sites' counters. */
#include "load/loader.h"

#include <string.h>

#include "util/strbuf.h"

enum {
    TEXT_BYTES_MAX = 4096, // Maximum length of a set's labels; more is damage.
    PAIRS_MAX = 64,
};

#define HEAP_MALLOC "malloc"
#define HEAP_MALLOC_OWN "malloc (own heap)" // Name shown for a heap of the program called "malloc".
#define HEAP_UNKNOWN "(unknown heap)"
#define HEAP_UNNAMED "(unnamed heap)"
#define LABELS_OTHER "(other labels)" // Text shown for record 1 of the table of labels.
#define LABELS_UNKNOWN "(unknown labels)"

static const char *
intern(struct loader *l, const char *text)
{
    return strtab_get(&l->p->strings, strtab_id(&l->p->strings, text));
}

/* Return the number of records of KIND that the model distinguishes. The first is unused, and the
 * last may represent all further ones. */
static size_t
load_heaps_record_count(const struct loader *l, enum disk_kind kind, size_t max)
{
    size_t count = raw_count(l->raw, kind);

    return count < 1 ? 1 : count < max - 1 ? count : max - 1;
}

void
load_heaps(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = load_heaps_record_count(l, DISK_HEAPS, LOADER_HEAPS_MAX);

    p->heaps = arena_array(&p->arena, count + 1, sizeof *p->heaps);
    p->heap_count = count + 1;
    for (size_t i = 0; i <= count; i++) {
        p->heaps[i] = (struct profile_heap){.name = intern(l, i == 0 ? HEAP_MALLOC : HEAP_UNKNOWN),
                                            .own = i > 0,
                                            .counters = COUNTERS_ZERO,
                                            .backing = COUNTERS_ZERO};
    }
    for (size_t i = 1; i < count; i++) {
        const struct disk_heap *d = raw_record(l->raw, DISK_HEAPS, i);
        struct profile_heap *heap = &p->heaps[i];

        if (d->id != i)
            continue;
        heap->name = strtab_get(&p->strings, loader_string(l, d->name));
        if (*heap->name == '\0')
            heap->name = intern(l, HEAP_UNNAMED);
        if (strcmp(heap->name, HEAP_MALLOC) == 0)
            heap->name = intern(l, HEAP_MALLOC_OWN);
        heap->created_ns = d->created_ns;
        heap->made = d->made;
        heap->destroyed = d->destroyed;
        heap->resets = d->resets;
        heap->collected = (d->flags & DISK_HEAP_COLLECTED) != 0;
        heap->collections = d->collections;
        heap->collected_ns = d->collected_ns;
    }
}

/* Return the end of the text from S on, which is at its NUL or at END. */
static const char *
text_end(const char *s, const char *end)
{
    const char *nul = memchr(s, '\0', (size_t)(end - s));

    return nul ? nul : end;
}

/* Split the BYTES at S, "key NUL value NUL …", into the labels of SET. */
static void
split_pairs(struct loader *l, const char *s, size_t bytes, struct profile_label_set *set)
{
    const char *end = s + bytes;

    set->v = arena_array(&l->p->arena, PAIRS_MAX, sizeof *set->v);
    while (s < end && set->count < PAIRS_MAX) {
        const char *key_end = text_end(s, end);
        const char *value = key_end < end ? key_end + 1 : end;
        const char *value_end = text_end(value, end);

        if (key_end > s) {
            set->v[set->count++] = (struct profile_label){
                intern(l, arena_strndup(l->raw->arena, s, (size_t)(key_end - s))),
                intern(l, arena_strndup(l->raw->arena, value, (size_t)(value_end - value))),
            };
        }
        s = value_end + 1;
    }
}

static const char *
set_text(struct loader *l, const struct profile_label_set *set)
{
    struct strbuf text = {0};
    const char *copy;

    for (size_t i = 0; i < set->count; i++)
        strbuf_fmt(&text, "%s%s=%s", i ? ", " : "", set->v[i].key, set->v[i].value);
    copy = intern(l, strbuf_text(&text));
    strbuf_release(&text);
    return copy;
}

void
load_label_sets(struct loader *l)
{
    struct profile *p = l->p;
    const struct raw_table *strings = &l->raw->tables[DISK_STRINGS];
    size_t count = load_heaps_record_count(l, DISK_LABELS, LOADER_LABEL_SETS_MAX);

    p->label_sets = arena_array(&p->arena, count + 1, sizeof *p->label_sets);
    p->label_set_count = count + 1;
    for (size_t i = 0; i <= count; i++)
        p->label_sets[i] =
            (struct profile_label_set){.text = intern(l, i == 0                ? ""
                                                         : i == 1 && i < count ? LABELS_OTHER
                                                                               : LABELS_UNKNOWN),
                                       .counters = COUNTERS_ZERO};
    for (size_t i = 2; i < count; i++) {
        const struct disk_label_set *d = raw_record(l->raw, DISK_LABELS, i);
        struct disk_string s = d->text;
        struct profile_label_set *set = &p->label_sets[i];

        if (d->id != i || s.off > strings->size_bytes || s.bytes > strings->size_bytes - s.off ||
            s.bytes > TEXT_BYTES_MAX)
            continue;
        split_pairs(l, (const char *)strings->bytes + s.off, s.bytes, set);
        if (set->count > 0)
            set->text = set_text(l, set);
    }
}

/* Return the index of record ID among COUNT; the last index represents records that are not in the
 * file. */
static uint32_t
index_of(struct loader *l, uint64_t id, size_t count)
{
    if (id != 0 && id < count - 1)
        return (uint32_t)id;
    l->unknown_tags++;
    return (uint32_t)count - 1;
}

uint32_t
loader_add_tag(struct loader *l, const struct disk_node *d, uint32_t tags)
{
    uint64_t id = d->frame & DISK_ADDRESS_MASK;
    uint32_t callers = tags >> TAGS_CALLERS_SHIFT << TAGS_CALLERS_SHIFT;
    uint32_t labels = tags >> TAGS_LABELS_SHIFT << TAGS_LABELS_SHIFT;
    uint64_t kind = d->frame >> DISK_ADDRESS_BITS;

    if (kind == DISK_TAG_CALLERS && tags == 0)
        return profile_callers_index(l->p, id) << TAGS_CALLERS_SHIFT;
    if (kind == DISK_TAG_LABELS && tags == callers)
        return callers | index_of(l, id, l->p->label_set_count) << TAGS_LABELS_SHIFT;
    if (kind == DISK_TAG_HEAP && tags == labels)
        return labels | index_of(l, id, l->p->heap_count) << TAGS_HEAP_SHIFT;
    if (kind == DISK_TAG_BACKING && (tags & TAGS_BACKING) == 0)
        return labels | index_of(l, id, l->p->heap_count) << TAGS_HEAP_SHIFT | TAGS_BACKING;
    return 0;
}
