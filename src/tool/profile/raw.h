/* raw.h: the tables of a profile file, with unchecked contents. */
#ifndef PROFILE_RAW_H
#define PROFILE_RAW_H

#include "format/format.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/replace.h"

/* One table: its segments joined and expanded. Records are record_bytes apart, which is at least
 * the size of this version's struct. */
struct raw_table {
    unsigned char *bytes; // The arena owns the bytes, unless in_place.
    uint64_t size_bytes;
    uint32_t record_bytes;
    bool in_place;         // The bytes are in the mapped file itself, or in a separate mapping.
    uint64_t mapped_bytes; // Size of a separate mapping; 0 = none.
};

/* Parts of a file that may have other bytes than zero, in order of their offsets. */
struct file_part {
    uint64_t from, end;
};

struct file_parts {
    const struct file_part *v;
    size_t count;
    bool known; // False = all of the file.
};

struct raw_file {
    struct disk_header header;
    struct raw_table tables[DISK_KINDS];
    uint64_t file_bytes;
    struct file_owner owner; // Owner of the opened file; root for parsed bytes.
    void *mapped; // The mapped file, which no process writes; NULL = its contents were copied.
    uint32_t writer_pid; // Process whose memory holds the tables; 0 = a file holds them.
    uint64_t string_bytes; // Bytes copied by raw_string so far.
    struct arena *arena;
    const char **notes; // Notes on skipped parts, from the arena.
    size_t note_count;
    size_t note_capacity;
    uint64_t needed_bytes;    // Size of the file according to its directory.
    const char *first_damage; // The first damage as text, from the arena; NULL = the file is whole.
    size_t damage_count;
};

/* Parse DATA, a copy of a whole profile file, which messages call NAME. All memory is from ARENA.
 * Returns 0, or HEAPTAP_BAD_INPUT if it is not a profile; damage beyond the header only adds
 * notes. */
int raw_parse(const void *data, size_t size_bytes, const char *name, struct arena *arena,
              struct raw_file *ret, struct err *err);

/* Like raw_parse, for the open file FD, which no process writes. DATA is a private writable mapping
 * of the file, which RET then owns. A table of one piece is used in place. Tables of whole pages
 * are mapped separately instead of copied; changes to them are private. With FD -1, same as
 * raw_parse. Tables without an end of their own stop at the end of USED. The caller may close FD
 * afterwards. It must call raw_release on RET, even after a failure. */
int raw_parse_file(void *data, size_t size_bytes, int fd, const struct file_parts *used,
                   const char *name, struct arena *arena, struct raw_file *ret, struct err *err);

/* Unmap R, which may be {0}. The arena stays. */
void raw_release(struct raw_file *r);

/* Add a note, unless the limit of notes is reached. raw_damage does the same for damage that makes
 * numbers wrong. */
void raw_note(struct raw_file *r, const char *format, ...) PRINTF(2, 3);
void raw_damage(struct raw_file *r, const char *format, ...) PRINTF(2, 3);

/* Return all damage of R as one predicate, "is cut short: ..."; NULL = the file is whole. From
 * ARENA. */
const char *raw_damage_text(const struct raw_file *r, struct arena *arena);

/* Return the size that a file needs at least for its reader to accept tables of TABLES_BYTES. */
uint64_t raw_file_bytes_min(uint64_t tables_bytes);

/* Return the checksum of the packed file DATA, never 0. It counts the header's field `check` as 0.
 * Requires DATA to be at least as large as a header. */
uint64_t raw_check(const void *data, size_t size_bytes);

/* Return the number of whole records in table KIND; or return record I of it, which must be below
 * that number. */
size_t raw_count(const struct raw_file *r, enum disk_kind kind);

static inline const void *
raw_record(const struct raw_file *r, enum disk_kind kind, size_t i)
{
    return r->tables[kind].bytes + i * r->tables[kind].record_bytes;
}

/* Return record I of table KIND for modification. */
void *raw_change(struct raw_file *r, enum disk_kind kind, size_t i);

/* Return the name of the ELF machine NUMBER, or the number of a name; "unknown" and 0 if there is
 * none. */
const char *raw_machine_name(uint32_t number);
uint32_t raw_machine_number(const char *name);

/* Return the string S, NUL-terminated, from ARENA of R; "" if it lies outside the strings. */
const char *raw_string(struct raw_file *r, struct disk_string s);

#endif
