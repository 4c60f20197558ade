/* writer.h: write packed files: the container, and the state that all writers share. pack.c adds
 * the recorder's tables unchanged, write_model.c adds tables made from a model.
 *
 * After an error, a writer ignores all further calls; write_finish returns the reason. */
#ifndef PROFILE_WRITER_H
#define PROFILE_WRITER_H

#include "format/format.h"
#include "profile/profile.h"
#include "util/replace.h"
#include "util/strbuf.h"

struct writer {
    const struct profile *p;
    struct strbuf strings; // The STRINGS table.
    struct strbuf out;     // The whole file.
    struct arena arena;    // For the writers.
    struct map known;      // Written strings by the address of their text.
    uint64_t *place_of;    // Written strings by id: position plus 1; 0 = not written.
    struct strbuf frames, locations, types, site_types;
    struct disk_segment segment; // Segment being written.
    uint32_t segment_count;
    bool has_tags;    // Some nodes are tags.
    bool has_named;   // Some are named frames.
    bool has_callers; // Some are tags with a share of callers.
    bool has_columns; // Some segments are in columns.
    uint64_t memory_bytes; // Memory touched by the recorder, including the file that was read.
    void *zstd;         // Start of the open segment.
    const char *failed; // Reason of the failure; NULL = none.
};

/* Begin a file for P's symbols and types. P must not change until write_finish. */
void write_begin(struct writer *w, const struct profile *p);

/* Add TEXT to the table of strings, if it is new, and return its place. TEXT must not change until
 * write_finish. */
struct disk_string write_text(struct writer *w, const char *text);

/* Write one table as a compressed segment; omit an empty table. */
void write_table(struct writer *w, enum disk_kind kind, const void *bytes, size_t size_bytes,
                 uint32_t record_bytes);

/* Like write_table, for a table of SIZE_BYTES that is written in pieces. */
void write_table_begin(struct writer *w, enum disk_kind kind, size_t size_bytes,
                       uint32_t record_bytes);
void write_table_more(struct writer *w, const void *bytes, size_t size_bytes);
void write_table_end(struct writer *w);

/* Complete the file: add P's symbols and types and the strings, and put HEADER in front. In the
 * header, set the state to "packed", and recorder_bytes to memory_bytes minus the size of this
 * file. Store the file in RET, which must be empty. Release W. Returns 0 or HEAPTAP_BUG with ERR
 * set. */
int write_finish(struct writer *w, const struct disk_header *header, struct strbuf *ret,
                 struct err *err);

/* Check that PATH may be replaced. Returns 0, or an error with ERR set: HEAPTAP_BAD_INPUT if PATH
 * is not a regular file, or is the profile of a living process; HEAPTAP_USAGE if PATH is an
 * unpacked recording. */
int write_check(const char *path, struct err *err);

/* Replace PATH by FILE atomically. If PATH is a symbolic link, the link itself is replaced. OWNER
 * as in replace_file. Returns 0 or HEAPTAP_BAD_INPUT with ERR set. */
int write_save(const struct strbuf *file, const char *path, const struct file_owner *owner,
               struct err *err);

/* Like write_save, for an output that the user called PATH: if PATH is a symbolic link, its target
 * is replaced. */
int write_output(const struct strbuf *file, const char *path, struct err *err);

#endif
