/* source.h: memory allocated by each source line. It finds the lines; the caller reads the text. */
#ifndef ANALYSE_SOURCE_H
#define ANALYSE_SOURCE_H

#include "analyse/stacks.h"

struct source_line {
    uint32_t line;             // Number of the line, from 1.
    struct counters inclusive; // Stacks with a frame on this line, each counted once.
    struct counters self;      // Stacks whose innermost frame is on this line.
    struct errors *inclusive_errors, *self_errors; // NULL = exact.
};

struct source_file {
    const char *path;          // As in the debug information.
    struct source_line *lines; // Lines by rising number; only lines with counts.
    size_t line_count, line_capacity;
    uint32_t line_min, line_max;
};

struct source {
    struct source_file *files; // Files, beginning with the file whose line allocated most.
    size_t file_count;
    const char **functions; // Names that matched; empty if WHAT named a file.
    size_t function_count;
    bool has_lines; // False if the matching frames have no line.
};

/* Find the lines of every file whose path is WHAT or ends in "/WHAT". If there is none, find the
 * lines of functions whose name contains WHAT. Everything in *RET is from ARENA. Returns 0, or
 * HEAPTAP_NOT_FOUND (ERR unset) if nothing matches. */
int source_find(const struct profile *p, const struct stacks *stacks, const char *what,
                struct arena *arena, struct source *ret);

#endif
