/* text_memory.h: what only the memory of a process knows, as text. */
#ifndef TEXT_TEXT_MEMORY_H
#define TEXT_TEXT_MEMORY_H

#include "text/text_view.h"
#include "view/memory_view.h"

/* The answer to what M asks. */
void text_memory(struct text_view *v, const struct memory_view *m);

#endif
