/* exporter.h: interface of an export format. A format is a file with one export_fn, which its
 * header declares. command/exporters.c has the table of all formats. */
#ifndef EXPORT_EXPORTER_H
#define EXPORT_EXPORTER_H

#include "analyse/stacks.h"
#include "util/err.h"
#include "util/strbuf.h"

/* --- estimate.c: sentence about estimates, for formats without a place for errors. */

/* Return "" if the values are exact, else a sentence for the comments of a format. It names the
 * recording mode and the error bounds of the allocated and live bytes of STACKS. From ARENA. */
const char *export_estimate(const struct profile *p, const struct stacks *stacks,
                            struct arena *arena);

/* --- titles.c: titles of a file for another tool, and of its values. */

/* Return the version that recorded P: "heaptap 1.0". From ARENA. */
const char *title_exporter(const struct profile *p, struct arena *arena);

/* Return the program of P: "prog", "merged from 2 processes of prog", or the path of the profile if
 * the program is unknown. A damaged profile adds "(damaged profile)". From ARENA. */
const char *title_program(const struct profile *p, struct arena *arena);

/* Return the origin of P: "prog --test (pid 4711)". A damaged profile adds "(damaged profile)", and
 * estimates add the sentence of export_estimate. From ARENA. */
const char *title_profile(const struct profile *p, const struct stacks *stacks,
                          struct arena *arena);

/* Return the name of METRIC's values: "bytes in use", "bytes in use at 64.0 s", "calls, estimated".
 * LEFT_OUT, if not 0, is the sum of the values that the format cannot hold: "bytes in use, without
 * -12 of stacks below zero". From ARENA. */
const char *title_metric(const struct profile *p, enum metric metric, int64_t left_out,
                         struct arena *arena);

/* --- compressed.c: compress output while it is written. */

enum compression { COMPRESSION_NONE = 0, COMPRESSION_GZIP, COMPRESSION_ZSTD };

struct compressed {
    enum compression compression;
    struct strbuf plain; // Input to compress next.
    struct strbuf *to;
    void *stream;    // The library's stream.
    const char *why; // The first failure, or NULL.
};

/* Return the compression for a file called PATH: ".gz" and ".zst" select one. */
enum compression compression_for_path(const char *path);

/* Return a buffer whose contents go to TO in compressed form; TO itself if COMPRESSION is none. */
struct strbuf *compressed_begin(struct compressed *c, enum compression compression,
                                struct strbuf *to);

/* Compress and write the remaining contents. Returns 0, or HEAPTAP_BUG with ERR set. */
int compressed_end(struct compressed *c, struct err *err);

struct export_options {
    // The metric of a format with one value per stack; other formats show this metric first.
    enum metric metric;
    bool inverted;      // Flame graph: root at the bottom, flames upwards.
    struct tag_roots roots; // Frames to add above the stacks, if can_root.
    enum compression compression; // Set only if `compresses`.
    bool signed_values; // The stacks are a difference, so pprof's values may be negative.
    int64_t calls_max; // Maximum number of calls in a list of events; 0 = the format's own maximum.
};

/* Append P's STACKS to OUT. Requires P to be symbolised. Returns 0 or a negative heaptap_errc with
 * ERR set; HEAPTAP_USAGE if the format cannot hold the requested data. Exporters keep no state
 * between calls and write equal bytes for equal input. */
typedef int export_fn(const struct profile *p, const struct stacks *stacks,
                      const struct export_options *options, struct strbuf *out, struct err *err);

struct exporter {
    const char *name;
    // The extensions, each with its dot, separated by blanks, the usual one first; "" if another
    // format has them.
    const char *extensions;
    const char *summary;    // One line, no full stop.
    bool binary;            // Unfit for a terminal.
    bool can_root;          // Supports options.roots.
    bool picture;           // For people, so recursion is folded.
    bool in_time;            // The format shows values over time, so it needs a session's history.
    // The format has no room for names, so frames without an address are useless.
    bool needs_addresses;
    // The format has no place for the name of stack_root.
    bool unnamed_roots;
    // The format supports options.compression, which the extension of the file selects.
    bool compresses;
    export_fn *write;
};

/* --- utf8.c: untrusted text (symbols, paths, command lines) for formats that require valid
 * UTF-8. */

/* Return the number of bytes of the character at S, 1 to 4, or 0 if it is not valid UTF-8. S must
 * not be empty. */
size_t utf8_size(const char *s);

/* Return the number of characters of S. Each byte of invalid UTF-8 counts as one. */
size_t utf8_count(const char *s);

/* Append S with U+FFFD for each byte of invalid UTF-8. */
void utf8_add(struct strbuf *out, const char *s);

/* Append S as XML character data, which may also be an attribute in double quotes. Tabs and line
 * feeds are kept. Other characters that control the display (character_drives), invalid UTF-8, and
 * characters that XML 1.0 forbids become U+FFFD. */
void utf8_add_xml(struct strbuf *out, const char *s);

/* Append S as a JavaScript string with its quotes, safe inside a script element and a CDATA
 * section. Characters that control the display and invalid UTF-8 become U+FFFD. */
void utf8_add_script(struct strbuf *out, const char *s);

#endif
