/* moment.h: a profile of one moment, made from the memory of a process. */
#ifndef IMAGE_MOMENT_H
#define IMAGE_MOMENT_H

#include "image/blocks.h"
#include "profile/raw.h"
#include "util/strbuf.h"

/* Make a profile file of what lives in B: the stacks of RAW with nothing counted but those blocks,
 * as if they had been allocated just then and nothing else ever had. NAME is where B is from, for
 * the note that the profile gets; ENDED if the process has. Returns 0 or HEAPTAP_BUG with ERR set.
 * */
int moment_write(const struct raw_file *raw, const struct blocks *b, const char *name, bool ended,
                 struct strbuf *ret, struct err *err);

#endif
