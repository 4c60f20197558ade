/* text_core.h: the memory of a process as text. */
#ifndef TEXT_TEXT_CORE_H
#define TEXT_TEXT_CORE_H

#include "analyse/block_stacks.h"
#include "image/examined.h"
#include "text/text_view.h"

/* Write the origin of V, the end of the process and, if the memory shows it, the cause. */
void text_core_head(struct text_view *v, const struct examined *e);

/* Describe ADDRESS and its allocation. */
void text_core_place(struct text_view *v, const struct examined *e, uint64_t address);

/* Write the stack of SITE, an id of the file. */
void text_core_site(struct text_view *v, const struct examined *e, uint32_t site);

/* Write the first stacks by live bytes, with the sizes and some addresses of their blocks. */
void text_core_stacks(struct text_view *v, const struct block_stacks *b);

#endif
