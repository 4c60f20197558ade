/* exporter.h: interface of an export format. A format is a file with one export_fn, which its
 * header declares. command/exporters.c has the table of all formats. */
#ifndef EXPORT_EXPORTER_H
#define EXPORT_EXPORTER_H

#include "analyse/stacks.h"
#include "export/compressed.h"
#include "util/strbuf.h"

struct export_options {
    enum metric metric; // The metric of a format with one value per stack; other formats show it
                        // first.
    bool inverted;      // Flame graph: root at the bottom, flames upwards.
    struct tag_roots roots; // Frames to add above the stacks, if can_root.
    enum compression compression; // Set only if `compresses`.
    int64_t calls_max; // Maximum number of calls in a list of events; 0 = the format's own maximum.
};

/* Append P's STACKS to OUT. Requires P to be symbolised. Returns 0 or a negative heaptap_errc with
 * ERR set; HEAPTAP_USAGE if the format cannot hold the requested data. Exporters keep no state
 * between calls and write equal bytes for equal input. */
typedef int export_fn(const struct profile *p, const struct stacks *stacks,
                      const struct export_options *options, struct strbuf *out, struct err *err);

struct exporter {
    const char *name;
    const char *extensions; // Each with its dot, separated by blanks, the usual one first; "" if
                            // another name of the format has them.
    const char *summary;    // One line, no full stop.
    bool binary;            // Unfit for a terminal.
    bool can_root;          // Supports options.roots.
    bool picture;           // For people, so recursion is folded.
    bool in_time;            // Shows values over time, so it needs a session's history.
    bool needs_addresses;    // Has no room for names, so frames without an address are useless.
    bool compresses;         // Supports options.compression, selected by the extension of the file.
    export_fn *write;
};

#endif
