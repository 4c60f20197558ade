/* stack_numbers.h: the same number for a stack in all views. */
#ifndef ANALYSE_STACK_NUMBERS_H
#define ANALYSE_STACK_NUMBERS_H

#include "analyse/stacks.h"

/* Set number and folded_depth of each of STACKS, built from P with any options. Number 1 has the
 * largest share of the peak, or of all allocated bytes, of the whole run. Numbers are unique within
 * a view, unless options split one default stack into several. */
void stack_numbers(const struct profile *p, struct stacks *stacks);

#endif
