/* stub32.h: library that 32-bit programs load in place of the recorder. */
#ifndef LAUNCH_STUB32_H
#define LAUNCH_STUB32_H

#include "util/strbuf.h"

/* Append a shared object for i386 without code and symbols to OUT. */
void stub32_write(struct strbuf *out);

#endif
