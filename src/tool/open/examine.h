/* examine.h: open the memory of a recorded process that the user named. */
#ifndef OPEN_EXAMINE_H
#define OPEN_EXAMINE_H

#include "view/memory_view.h"

/* The file or process that the user named. */
struct examine_wish {
    const char *core;    // Path of a dump; NULL = a process.
    uint32_t pid;        // The recorded process.
    const char *program; // Program that wrote the dump; NULL = not given.
    const char *profile; // Profile of the process; NULL = search for it.
    bool all_counters;   // Use the whole profile of a self-contained dump, without the blocks that
                         // a forked child inherited.
    bool counters;       // Prefer a whole profile in the memory to one made of live blocks.
};

/* Open the memory that W names, find the recorder's record in it, read the blocks, fill in ANSWER,
 * and make a profile of the blocks. A living process is only stopped if ANSWER requires it, and
 * resumed afterwards. *RET_FILE is a descriptor of the profile, an unnamed file. The caller closes
 * it, and *RET by examine_close. Returns 0, or the exit code after printing an error. */
int examine_open(const struct examine_wish *w, struct memory_answer *answer, struct examined *ret,
                 int *ret_file);
void examine_close(struct examined *e);

#endif
