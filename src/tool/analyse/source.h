/* source.h: the memory that each source line allocated. Finds the lines; the caller reads the
 * text. */
#ifndef ANALYSE_SOURCE_H
#define ANALYSE_SOURCE_H

#include "analyse/stacks.h"

struct source_line {
    uint32_t line;             // From 1.
    struct counters inclusive; // Stacks with a frame on this line, each counted once.
    struct counters self;      // Stacks whose innermost frame is on this line.
    struct errors inclusive_errors, self_errors;
};

struct source_file {
    const char *path;          // As in the debug information.
    struct source_line *lines; // In order; only lines with data.
    size_t line_count, line_capacity;
    uint32_t line_min, line_max;
};

struct source {
    struct source_file *files; // The file with the line that allocated most comes first.
    size_t file_count;
    const char **functions; // Names that matched; empty when WHAT named a file.
    size_t function_count;
    bool has_lines; // False: the match has no line information.
};

/* Find the lines of every file whose path is WHAT or ends in "/WHAT"; if there is none, those in
 * functions whose name contains WHAT. Everything in *RET is from ARENA. HEAPTAP_NOT_FOUND (ERR
 * unset) if nothing matches. */
int source_find(const struct profile *p, const struct stacks *stacks, const char *what,
                struct arena *arena, struct source *ret);

#endif
