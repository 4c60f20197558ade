/* text_source.h: source files with the memory that each line allocated, as text. */
#ifndef TEXT_TEXT_SOURCE_H
#define TEXT_TEXT_SOURCE_H

#include "analyse/source.h"
#include "text/text_view.h"

struct source_text {
    const struct source *source;
    bool self; // Show values without callees.

    // Read the text of the file PATH into RET, which is empty. Return false if there is none.
    // Temporary data is from ARENA. The text may have any bytes: the shown part is cleaned.
    bool (*read)(void *arg, const char *path, struct arena *arena, struct strbuf *ret);
    void *read_arg;
};

/* Write the files of T, each line with its numbers. If a file has no text, write only the
 * numbers. */
void text_source(const struct text_view *v, const struct source_text *t);

#endif
