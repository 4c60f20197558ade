/* budget_file.h: files with the rules of a budget. */
#ifndef OPTION_BUDGET_FILE_H
#define OPTION_BUDGET_FILE_H

#include "analyse/budget_judge.h"
#include "util/strbuf.h"

/* Parse TEXT (LENGTH bytes, any content) of the file NAME into *RET, whose data is from ARENA.
 * Returns 0, or HEAPTAP_USAGE. Then ERRORS has a line for each error, "NAME:LINE:COLUMN: ...". */
int budget_file_parse(const char *text, size_t length, const char *name, struct arena *arena,
                      struct budget *ret, struct strbuf *errors);

/* Read and parse the file PATH. Returns as budget_file_parse, or HEAPTAP_BAD_INPUT with one line in
 * ERRORS if the file cannot be read. */
int budget_file_read(const char *path, struct arena *arena, struct budget *ret,
                     struct strbuf *errors);

#endif
