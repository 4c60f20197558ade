/* annotated_leaves.h: the recorder's map of annotated blocks, in the memory of a process. */
#ifndef IMAGE_ANNOTATED_LEAVES_H
#define IMAGE_ANNOTATED_LEAVES_H

#include "format/core_record.h"
#include "image/memory.h"

/* Called with the ADDRESS of a live block and its BYTE of the map (enum core_annotated). */
typedef void annotated_fn(void *arg, uint64_t address, uint8_t byte);

/* Call FN for each live block in the map of record R in M. */
void annotated_leaves_each(const struct memory *m, const struct core_record *r, annotated_fn *fn,
                           void *arg);

#endif
