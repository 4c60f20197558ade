/* pointers.h: who points to a range of memory. */
#ifndef IMAGE_POINTERS_H
#define IMAGE_POINTERS_H

#include "image/scan.h"

/* A word that points there. */
struct pointer {
    enum scan_kind kind; // Unless it is in a block.
    bool in_block;
    uint64_t at; // Its address; of a register, the number of that.
    uint64_t value;
    const struct block *block;          // That it is in.
    const struct memory_thread *thread; // On whose stack, or whose register, it is.
};

struct pointers {
    struct pointer *v; // Variables first, then stacks, registers, memory past malloc, blocks.
    size_t count, capacity;
    uint64_t found; // All, of which v has the first.
};

enum { POINTERS_KEPT = 100000 };

/* Find the words of E that point to [START, END), into *RET, whose memory is from ARENA. */
void pointers_find(const struct examined *e, uint64_t start, uint64_t end, struct arena *arena,
                   struct pointers *ret);

#endif
