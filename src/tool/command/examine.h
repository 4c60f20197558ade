/* examine.h: from the names that the user gave to the memory of a recorded process. */
#ifndef COMMAND_EXAMINE_H
#define COMMAND_EXAMINE_H

#include "view/memory_view.h"

/* The file or process that the user named. */
struct examine_wish {
    const char *core;    // A dump; NULL if a process is meant.
    uint32_t pid;        // That process.
    const char *program; // The program that the dump is of; NULL = not given.
    const char *profile; // The profile that belongs to it; NULL = it is looked for.
    bool all_counters;   // Keep the whole profile of a self-contained dump, without what a forked
                         // child inherited.
    bool counters;       // Prefer a whole profile in that memory to one of the live blocks.
};

/* Open the memory that W means, find the recorder's record in it, read the blocks, have ANSWER
 * answered, and make a profile of the blocks. A living process is stopped only if ANSWER needs
 * that, and meanwhile. *RET_FILE is a descriptor of that, a file without a name, and the caller's
 * to close; so is *RET, by examine_close. Returns 0, or the exit code after saying why. */
int examine_open(const struct examine_wish *w, struct memory_answer *answer, struct examined *ret,
                 int *ret_file);
void examine_close(struct examined *e);

#endif
