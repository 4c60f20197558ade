/* exporters.h: the formats of other tools: one file per format, one table of them all.
 *
 * Adding a format: write FORMAT.c and FORMAT.h with one export_fn, and add a row to the table in
 * exporters.c. The command line, its help and `heaptap export --list` read the table.
 */
#ifndef COMMAND_EXPORTERS_H
#define COMMAND_EXPORTERS_H

#include "export/exporter.h"

/* All of them, in the order in which they are listed; *RET_COUNT is how many. */
const struct exporter *export_list(size_t *ret_count);

/* The exporter called NAME, or NULL. */
const struct exporter *export_find(const char *name);

/* Whether E has room for METRIC, and whether it needs what is known of whole runs alone. */
bool export_knows(const struct exporter *e, enum metric metric);
bool export_needs_whole(const struct exporter *e);

/* The exporter whose extension PATH ends in (the longest one wins), or NULL. */
const struct exporter *export_for_path(const char *path);

#endif
