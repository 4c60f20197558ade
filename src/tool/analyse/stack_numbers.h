/* stack_numbers.h: one number for a stack, whatever view shows it. */
#ifndef ANALYSE_STACK_NUMBERS_H
#define ANALYSE_STACK_NUMBERS_H

#include "analyse/stacks.h"

/* Give each of STACKS, built from P with whatever options, its folded depth and its number: 1 for
 * the stack with the largest share of the peak, or of all that was allocated, in the whole run. Two
 * stacks of one view never have the same, unless options have split what is one stack without
 * them. */
void stack_numbers(const struct profile *p, struct stacks *stacks);

#endif
