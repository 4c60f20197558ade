/* text_stack.h: stacks as text. */
#ifndef TEXT_TEXT_STACK_H
#define TEXT_TEXT_STACK_H

#include "text/text_view.h"

/* Write the first DEPTH_LIMIT lines of S. NUMBER is the stack that has shown the other lines, or
 * 0. */
void text_stack(struct text_view *v, const struct stack *s, size_t depth_limit, size_t number);

/* Write TEXT on a line within a stack. */
void text_note(struct text_view *v, const char *text);

#endif
