/* export.h: the formats of other tools. One file per format, one table of them all.
 *
 * Adding a format: write FORMAT.c with one export_fn, declare it below, and add a row to the table
 * in export.c. The command line, its help and `heaptap export --list` read the table.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "analyse/stacks.h"
#include "util/strbuf.h"

struct export_options {
    enum metric metric; // What single-valued formats show; the others carry all and start with it.
    bool inverted;      // Flame graph: root at the bottom, flames upwards.
    struct tag_roots roots; // What frames stand above the stacks; in exporters that can.
};

/* Append P's STACKS to OUT. P is symbolised. Returns 0 or a negative heaptap_errc. Exporters keep
 * no state between calls and write the same bytes for the same input. */
typedef int export_fn(const struct profile *p, const struct stacks *stacks,
                      const struct export_options *options, struct strbuf *out, struct err *err);

struct exporter {
    const char *name;
    const char *extensions; // Separated by blanks, each with its dot; the first is the usual one.
    const char *summary;    // One line, no full stop.
    bool binary;            // Not fit for a terminal.
    bool can_root;          // Knows options.roots.
    export_fn *write;
};

/* All of them, in the order in which they are listed; *RET_COUNT is how many. */
const struct exporter *export_list(size_t *ret_count);

/* The exporter called NAME, or NULL. */
const struct exporter *export_find(const char *name);

/* The exporter whose extension PATH ends in (the longest one wins), or NULL. */
const struct exporter *export_for_path(const char *path);

/* "", or a sentence that the values are estimates, how they came about, and how far the allocated
 * and the live bytes of STACKS may be off. For the places where a format has comments. */
const char *export_estimate(const struct profile *p, const struct stacks *stacks,
                            struct arena *arena);

export_fn export_collapsed;
export_fn export_flamegraph;
export_fn export_pprof;
export_fn export_pprof_text;

#endif
