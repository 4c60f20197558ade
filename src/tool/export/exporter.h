/* exporter.h: interface of an export format. A format is a file with one export_fn, which its
 * header declares; command/exporters.c has the table of all formats. */
#ifndef EXPORT_EXPORTER_H
#define EXPORT_EXPORTER_H

#include "analyse/stacks.h"
#include "export/compressed.h"
#include "util/strbuf.h"

struct export_options {
    enum metric metric; // Metric of single-valued formats; the others show it first.
    bool inverted;      // Flame graph: root at the bottom, flames upwards.
    struct tag_roots roots; // Frames above the stacks, in formats that support them.
    enum compression compression; // In formats that support it.
    int64_t calls_max; // Lists of events: maximum number of calls; 0 = the format's own maximum.
};

/* Append P's STACKS to OUT. P is symbolised. Returns 0 or a negative heaptap_errc; HEAPTAP_USAGE if
 * the format cannot hold the requested data. Exporters keep no state between calls and write the
 * same bytes for the same input. */
typedef int export_fn(const struct profile *p, const struct stacks *stacks,
                      const struct export_options *options, struct strbuf *out, struct err *err);

struct exporter {
    const char *name;
    const char *extensions; // Separated by blanks, each with its dot; the usual one first; "" if
                            // another name of the format has them.
    const char *summary;    // One line, no full stop.
    bool binary;            // Not fit for a terminal.
    bool can_root;          // Knows options.roots.
    bool picture;           // Output is for people, so recursion is folded.
    bool in_time;            // Shows values over time, so it needs a session's history.
    bool needs_addresses;    // Has no room for names, so named frames are of no use.
    bool compresses;         // Supports options.compression, chosen by the end of the file's name.
    export_fn *write;
};

#endif
