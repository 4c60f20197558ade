/* text_memory.h: facts that only a process's memory has, as text. */
#ifndef TEXT_TEXT_MEMORY_H
#define TEXT_TEXT_MEMORY_H

#include "text/text_view.h"
#include "view/memory_view.h"

/* Write the answer to the question of M. */
void text_memory(struct text_view *v, const struct memory_view *m);

#endif
