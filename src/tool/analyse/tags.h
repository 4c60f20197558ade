/* tags.h: filters by heap and label, and texts for heaps and labels. */
#ifndef ANALYSE_TAGS_H
#define ANALYSE_TAGS_H

#include "profile/profile.h"

/* A user's selection; NULL = all. In patterns, * matches any text and ? any character. */
struct tag_filter {
    const char *heap;  // Pattern for the heap's name; the C library's heap is "malloc".
    const char *label; // "KEY": blocks with that label. "KEY=PATTERN": with a matching value.
};

/* A selection for one profile; NULL = all. */
struct tag_picks {
    const bool *heaps;      // By heap: true = selected.
    const bool *label_sets; // By label set: true = selected.
};

/* Set *RET to the heaps and label sets of P that FILTER keeps. From ARENA. */
void tags_pick(const struct profile *p, const struct tag_filter *filter, struct arena *arena,
               struct tag_picks *ret);

static inline bool
tags_are_picked(const struct tag_picks *picks)
{
    return picks->heaps != NULL || picks->label_sets != NULL;
}

static inline bool
tags_keep(const struct tag_picks *picks, const struct profile_site *site)
{
    return (picks->heaps == NULL || picks->heaps[site->heap]) &&
           (picks->label_sets == NULL || picks->label_sets[site->labels]);
}

/* tags_has_heaps returns true if P has several heaps, tags_has_labels if P has labels. */
bool tags_has_heaps(const struct profile *p);
bool tags_has_labels(const struct profile *p);

/* Return the line above a stack that identifies its HEAP and LABELS (NULL: several labels): "[heap
 * parser arena] tenant=acme"; "" for malloc without labels. From ARENA or borrowed. */
const char *tags_text(const struct profile_heap *heap, const struct profile_label_set *labels,
                      struct arena *arena);

/* Outermost frame to add to stacks, for formats that have only frames. */
enum tag_root { ROOT_NONE, ROOT_HEAP, ROOT_LABELS, ROOT_VALUE };

struct tag_roots {
    enum tag_root by;
    const char *key; // ROOT_VALUE: the label's key.
};

/* Return the name of the frame to add for blocks of P's HEAP with LABELS: "[heap parser arena]",
 * "[malloc]", "[kind=get, tenant=acme]", "[tenant=acme]", "[without tenant]"; NULL for
 * ROOT_NONE. */
const char *tags_root(const struct profile *p, const struct tag_roots *roots, uint32_t heap,
                      uint32_t labels, struct arena *arena);

/* Return the value of KEY in SET. Returns the text of a set whose labels are unknown, and NULL if
 * the set lacks KEY. Interned in the profile. */
const char *tags_value(const struct profile_label_set *set, const char *key);

#endif
