/* exporters.h: the formats of other tools. Each format has its own file, and one table lists them
 * all.
 *
 * To add a format, write FORMAT.c and FORMAT.h with one export_fn, and add a row to the table in
 * exporters.c. The command line, its help and `heaptap export --list` read the table. */
#ifndef COMMAND_EXPORTERS_H
#define COMMAND_EXPORTERS_H

#include "export/exporter.h"

/* Return all formats, in the order of their listing, and their number in *RET_COUNT. */
const struct exporter *export_list(size_t *ret_count);

/* Return the exporter called NAME, or NULL. */
const struct exporter *export_find(const char *name);

/* export_knows returns true if E supports METRIC; export_needs_whole returns true if E needs values
 * that only whole runs have. */
bool export_knows(const struct exporter *e, enum metric metric);
bool export_needs_whole(const struct exporter *e);

/* Return the exporter with the longest extension that PATH ends in, or NULL. */
const struct exporter *export_for_path(const char *path);

#endif
