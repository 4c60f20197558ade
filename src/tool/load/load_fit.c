/* load_fit.c: limit the size of a profile's views.
 *
 * A file stores each name and each code location once, and only the unshared part of each stack. A
 * view writes the frames of every stack with their names. Therefore the output for a file of 24 KB
 * can be 300 GB:
 *
 *     many sites x deep stacks x 256 inlined frames at each place x names of 60,000 bytes
 *
 * Real programs multiply sizes as well, but less. A site takes about ten bytes of a packed profile,
 * its stack has up to 1,024 frames, and a function of a C++ template may have a name of several
 * kilobytes. Therefore there are two limits, both proportional to the file. Above the limit of
 * frames, the profile is rejected, because memory grows with frames. Above the limit of name bytes,
 * the longest names are shortened as far as needed, with a note. No real profile is near the first
 * limit, and hardly any is near the second. Output itself takes no memory, because it is drained
 * (strbuf_pause).
 *
 * A shortened name ends with a hash of the whole name, so that different names stay different. */
#include "load/loader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "util/amount.h"

/* Limits of the frames of all stacks: a constant, plus a number for each byte of the file. */
#define FRAMES_FREE ((uint64_t)1 << 20)
#define FRAMES_PER_BYTE 256

/* Limits of the name bytes of all stacks: a constant, plus a number for each byte of the file. */
#define NAME_BYTES_FREE ((uint64_t)256 << 20)
#define NAME_BYTES_PER_BYTE ((uint64_t)256 << 10)

enum {
    CUT_BYTES_MAX = 1 << 16, // Length of names that is tried first as the maximum, and then halved.
    CUT_BYTES_MIN = 64,      // Length at which halving ends.
    MARK_BYTES = 21,         // Size of the mark "…~0123456789abcdef" with its NUL.
};

/* Sums of a walk over all stacks. */
struct measure {
    const struct loader *l;
    uint64_t limit;      // Limit of the sum; the walk stops there.
    uint64_t cut_bytes;  // Maximum length of names.
    uint64_t *of_string; // Weight of each string, by id; unused when frames are counted.
    uint64_t *of_node;   // Sum from the root to the node.
    uint64_t sum;
};

static void
load_fit_add(struct measure *m, uint64_t amount)
{
    m->sum = amount > m->limit - m->sum ? m->limit : m->sum + amount;
}

static uint64_t
name_bytes(const struct measure *m, uint32_t id)
{
    return m->of_string[id] < m->cut_bytes ? m->of_string[id] : m->cut_bytes;
}

static uint64_t
load_fit_text_bytes(const struct measure *m, const char *text)
{
    size_t length = strlen(text);

    return length < m->cut_bytes ? length : m->cut_bytes;
}

/* Return the weight of one location: its frames, or the bytes of their names. */
static uint64_t
location_amount(const struct measure *m, const struct profile_location *location)
{
    const struct profile *p = m->l->p;
    uint64_t sum = 0;

    if (m->of_string == NULL)
        return location->frame_count > 0 ? location->frame_count : 1;
    for (uint32_t i = 0; i < location->frame_count; i++) {
        const struct profile_frame *f = &p->frames[location->first_frame + i];

        sum += name_bytes(m, f->function) + name_bytes(m, f->file);
    }
    return sum + (location->frame_count > 0 ? location->frame_count : 1) *
                     load_fit_text_bytes(m, p->modules[location->module].path);
}

static void
measure_nodes(struct measure *m, struct arena *arena)
{
    const struct profile *p = m->l->p;
    uint64_t *of_location = arena_array(arena, p->location_count, sizeof *of_location);

    for (size_t i = 0; i < p->location_count; i++)
        of_location[i] = location_amount(m, &p->locations[i]);
    m->of_node = arena_array(arena, p->node_count, sizeof *m->of_node);
    for (size_t i = 1; i < p->node_count; i++)
        m->of_node[i] = m->of_node[p->nodes[i].parent] + of_location[p->nodes[i].location];
}

/* Return an upper bound of measure_nodes' result for any node. */
static uint64_t
largest_stack(const struct measure *m)
{
    const struct profile *p = m->l->p;
    uint64_t most = 0;

    for (size_t i = 0; i < p->location_count; i++) {
        uint64_t amount = location_amount(m, &p->locations[i]);

        most = amount > most ? amount : most;
    }
    return most > UINT64_MAX >> 17 ? UINT64_MAX : most * (m->l->deepest + UINT64_C(1));
}

/* Return true if all stacks fit into the rest of the limit even if each has the largest possible
 * size. Then no walk over the tree is needed. */
static bool
surely_fits(const struct measure *m)
{
    const struct profile *p = m->l->p;
    uint64_t stacks = p->site_count + p->backing_count + 2 * p->unknown_free_count +
                      3 * p->corruption_count;
    uint64_t sum;

    return !__builtin_mul_overflow(stacks, largest_stack(m), &sum) &&
           sum < m->limit - m->sum;
}

/* Return the bytes that views write about S, without its stack. */
static uint64_t
tags_bytes(const struct measure *m, const struct profile_site *s)
{
    const struct profile *p = m->l->p;

    return load_fit_text_bytes(m, p->heaps[s->heap].name) + strlen(p->label_sets[s->labels].text) +
           name_bytes(m, s->type);
}

/* Add the bytes that views write about sites, without their stacks: heap, labels and type. */
static void
measure_tags(struct measure *m)
{
    const struct profile *p = m->l->p;
    uint64_t bare = tags_bytes(m, &(struct profile_site){0});

    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *s = &p->sites[i];

        load_fit_add(m, (s->heap | s->labels | s->type) == 0 ? bare : tags_bytes(m, s));
    }
    for (size_t i = 0; i < p->type_count; i++)
        load_fit_add(m, name_bytes(m, p->types[i].name));
}

/* Return the sum over all stacks that views write. Above the limit, return the limit; if the sum is
 * certainly below the limit, return any smaller number. */
static uint64_t
load_fit_measure(struct measure *m)
{
    const struct profile *p = m->l->p;
    struct arena arena = {0};

    m->sum = 0;
    if (m->of_string != NULL)
        measure_tags(m);
    if (surely_fits(m))
        return m->sum;
    measure_nodes(m, &arena);
    for (size_t i = 0; i < p->site_count; i++)
        load_fit_add(m, m->of_node[p->sites[i].node]);
    for (size_t i = 0; i < p->backing_count; i++)
        load_fit_add(m, m->of_node[p->backings[i].node]);
    for (size_t i = 0; i < p->unknown_free_count; i++) {
        load_fit_add(m, m->of_node[p->unknown_frees[i].node]);
        load_fit_add(m, m->of_node[p->unknown_frees[i].site_node]);
    }
    for (size_t i = 0; i < p->corruption_count; i++) {
        load_fit_add(m, m->of_node[p->corruptions[i].node]);
        load_fit_add(m, m->of_node[p->corruptions[i].site_node]);
        load_fit_add(m, m->of_node[p->corruptions[i].front_node]);
    }
    arena_release(&arena);
    return m->sum;
}

/* Shorten TEXT in place to CUT_BYTES, which is less than its length. All references then have the
 * short form. */
static void
load_fit_shorten(char *text, size_t cut_bytes)
{
    uint64_t number = hash_bytes(text, strlen(text));
    size_t kept = cut_bytes - MARK_BYTES;

    // Do not cut within a character.
    while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--;
    snprintf(text + kept, MARK_BYTES, "\xe2\x80\xa6~%016" PRIx64, number);
}

static void
shorten_names(struct loader *l, const struct measure *m)
{
    struct strtab *strings = &l->p->strings;
    size_t count = 0;

    for (size_t i = 1; i < strings->count; i++)
        if (m->of_string[i] > m->cut_bytes) {
            // The string belongs to the table. A loaded profile is never searched for names, so its
            // hash may be wrong.
            load_fit_shorten((char *)(uintptr_t)strings->strings[i], m->cut_bytes);
            count++;
        }
    raw_note(l->raw,
             "%s longer than %" PRIu64 " bytes shortened: written out with all stacks, names would "
             "be more than %" PRIu64 " MiB, the limit for a file of this size",
             amount_plural(&l->p->arena, (int64_t)count, "name"), m->cut_bytes, m->limit >> 20);
}

static void
fit_names(struct loader *l)
{
    const struct strtab *strings = &l->p->strings;
    struct measure m = {
        .l = l,
        .limit = NAME_BYTES_FREE + l->raw->file_bytes * NAME_BYTES_PER_BYTE,
        .cut_bytes = UINT64_MAX,
        .of_string = xmalloc((strings->count + 1) * sizeof *m.of_string),
    };

    m.of_string[0] = 0;
    for (size_t i = 1; i < strings->count; i++)
        m.of_string[i] = strlen(strings->strings[i]);
    if (load_fit_measure(&m) == m.limit) {
        m.cut_bytes = CUT_BYTES_MAX;
        while (load_fit_measure(&m) == m.limit && m.cut_bytes > CUT_BYTES_MIN)
            m.cut_bytes /= 2;
        shorten_names(l, &m);
    }
    free(m.of_string);
}

bool
loader_fit(struct loader *l)
{
    struct measure frames = {
        .l = l,
        .limit = FRAMES_FREE + l->raw->file_bytes * FRAMES_PER_BYTE,
    };

    if (load_fit_measure(&frames) == frames.limit)
        return false;
    fit_names(l);
    return true;
}
