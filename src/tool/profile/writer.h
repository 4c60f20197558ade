/* writer.h: packed files: the container and shared state of all writers. pack.c fills it with the
 * recorder's tables unchanged, write_model.c with tables made from a model.
 *
 * A failed writer ignores all further calls; write_finish returns the reason. */
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
    struct map known;      // Written strings by the address of their text,
    uint64_t *place_of;    // and by id: position plus 1; 0 = not written.
    struct strbuf frames, locations, types, site_types;
    struct disk_segment segment; // The open one.
    uint32_t segment_count;
    bool has_tags;    // Some nodes are tags.
    bool has_named;   // Some are named frames.
    bool has_columns; // Some segments are in columns.
    uint64_t memory_bytes; // Touched by the recorder, the file that was read included.
    void *zstd;         // Start of the open segment.
    const char *failed; // Why the writer failed; NULL = no failure.
};

/* Begin a file for P's symbols and types. P must not change until write_finish. */
void write_begin(struct writer *w, const struct profile *p);

/* Add TEXT to the table of strings, unless it is there. TEXT must not change until write_finish. */
struct disk_string write_text(struct writer *w, const char *text);

/* Write one table as a compressed segment; an empty one is left out. */
void write_table(struct writer *w, enum disk_kind kind, const void *bytes, size_t size_bytes,
                 uint32_t record_bytes);

/* Like write_table, in pieces of SIZE_BYTES in all. */
void write_table_begin(struct writer *w, enum disk_kind kind, size_t size_bytes,
                       uint32_t record_bytes);
void write_table_more(struct writer *w, const void *bytes, size_t size_bytes);
void write_table_end(struct writer *w);

/* Add the symbols and types of P and the strings, and put HEADER in front. Its state becomes
 * "packed", its recorder_bytes memory_bytes minus the size of this file. The file is in RET, which
 * must be empty. Releases W. Returns 0 or HEAPTAP_BUG with ERR set. */
int write_finish(struct writer *w, const struct disk_header *header, struct strbuf *ret,
                 struct err *err);

/* Check that PATH may be replaced. Returns 0, or with ERR set: HEAPTAP_BAD_INPUT if it is no
 * regular file or the profile of a living process, HEAPTAP_USAGE if it is a recorded profile that
 * is not packed. */
int write_check(const char *path, struct err *err);

/* Replace PATH by FILE atomically. A link is replaced, not followed. OWNER as in replace_file.
 * Returns 0 or HEAPTAP_BAD_INPUT with ERR set. */
int write_save(const struct strbuf *file, const char *path, const struct file_owner *owner,
               struct err *err);

/* Like write_save, for an output that the user named PATH: a link is followed, and its target
 * replaced. */
int write_output(const struct strbuf *file, const char *path, struct err *err);

#endif
