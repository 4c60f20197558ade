/* pointers.h: words that point to a range of memory. */
#ifndef IMAGE_POINTERS_H
#define IMAGE_POINTERS_H

#include "image/scan.h"

/* A word that points to the range. */
struct pointer {
    enum scan_kind kind; // Not set if in_block.
    bool in_block;
    uint64_t at; // Address of the word. For SCAN_REGISTER, the number of the register.
    uint64_t value;
    const struct block *block;          // Block that contains the word.
    const struct memory_thread *thread; // Thread whose stack or register has the word.
};

struct pointers {
    // Pointers in this order: variables, stacks, registers, memory past malloc, blocks.
    struct pointer *v;
    size_t count, capacity;
    uint64_t found; // Number of all such words; v has the first ones.
};

enum { POINTERS_KEPT = 100000 };

/* Find the words of E that point to [START, END) and store them in *RET. Memory is from ARENA. */
void pointers_find(const struct examined *e, uint64_t start, uint64_t end, struct arena *arena,
                   struct pointers *ret);

#endif
