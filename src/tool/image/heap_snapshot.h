/* heap_snapshot.h: profile of one moment, made from the memory of a process. */
#ifndef IMAGE_HEAP_SNAPSHOT_H
#define IMAGE_HEAP_SNAPSHOT_H

#include "image/blocks.h"
#include "profile/raw.h"
#include "util/strbuf.h"

/* Write a profile file of the live blocks B with the stacks of RAW to RET. Its only events are one
 * allocation for each block. NAME is the source of B, for a note in the file. ENDED: the process
 * has ended. Returns 0, or HEAPTAP_BUG with ERR set. */
int heap_snapshot_write(const struct raw_file *raw, const struct blocks *b, const char *name,
                        bool ended, struct strbuf *ret, struct err *err);

#endif
