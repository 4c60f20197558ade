/* toy.h: a made-up language; see libtoy.c. */
#ifndef PROG_TOY_H
#define PROG_TOY_H

#include <stdio.h>

/* The adapter's way of reporting: the address of each frame; addresses only after the C frames are
 * known; the number of unchanged outer frames; the last two together. */
enum toy_adapter { TOY_PLAIN, TOY_PLACED, TOY_AGAIN, TOY_PLACED_AGAIN };

/* Register the language with heaptap. Return 0, or -1 without a recorder. */
int toy_begin(enum toy_adapter adapter);

/* Run the program that SEED determines. Its stack repeatedly grows to a depth of up to DEPTH and
 * shrinks again; 0 = a shallow program. If FLAT is not 0, most functions run in their caller's C
 * frame, up to FLAT of them; it must be less than 1600. */
void toy_run(unsigned long seed, unsigned long steps, unsigned depth, unsigned flat);

extern int toy_keeps; /* Blocks that are live at the end of a run stay live. */

/* Write the number of allocations of each chain of frames to the file. */
void toy_write(FILE *to);

void toy_leaf_small(void);
void toy_leaf_deep(unsigned n);
void toy_leaf_grows(void);
void toy_runtime_begins(void);
void toy_eval(void);
void toy_runtime_ends(void);
void toy_calls_back(void);

#endif
