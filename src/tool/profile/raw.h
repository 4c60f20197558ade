/* raw.h: the tables of a profile file, before any check of their contents. */
#ifndef PROFILE_RAW_H
#define PROFILE_RAW_H

#include "format/format.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/replace.h"

/* One table: its segments put together, expanded. Records lie record_bytes apart, at least as
 * many bytes as this version's struct has. */
struct raw_table {
    unsigned char *bytes; // Owned by the arena, unless they are in place.
    uint64_t size_bytes;
    uint32_t record_bytes;
    bool in_place;         // Part of the file as it is mapped, or mapped apart.
    uint64_t mapped_bytes; // 0 = not mapped apart.
};

struct raw_file {
    struct disk_header header;
    struct raw_table tables[DISK_KINDS];
    uint64_t file_bytes;
    struct file_owner owner; // Owner of the opened file; root for parsed bytes.
    void *mapped; // The mapped file, which has no writer any more; NULL = its contents were copied.
    uint32_t writer_pid; // The process that has these tables in its memory; 0 = they are a file's.
    uint64_t string_bytes; // Copied by raw_string so far.
    struct arena *arena;
    const char **notes; // Notes on skipped parts; from the arena.
    size_t note_count;
    size_t note_capacity;
    uint64_t needed_bytes;    // The file's size according to its directory.
    const char *first_damage; // From the arena; NULL = the file is whole.
    size_t damage_count;
};

/* Parse DATA, a copy of a whole profile file called NAME in messages. Everything is from ARENA.
 * Returns HEAPTAP_BAD_INPUT if it is no profile; damage beyond the header only makes notes. */
int raw_parse(const void *data, size_t size_bytes, const char *name, struct arena *arena,
              struct raw_file *ret, struct err *err);

/* Like raw_parse, for the open file FD, which has no writer any more. DATA is a private writable
 * mapping of it, which RET owns from now on. A table of one piece is used in place. Tables of whole
 * pages are mapped again instead of copied; changes to them are private. With FD -1 equal to
 * raw_parse. FD may be closed afterwards. The caller must call raw_release on RET, even after a
 * failure. */
int raw_parse_file(void *data, size_t size_bytes, int fd, const char *name, struct arena *arena,
                   struct raw_file *ret, struct err *err);

/* Unmap R, which may be {0}; its owner keeps the arena. */
void raw_release(struct raw_file *r);

/* Add a note, unless there are too many. raw_damage notes damage that makes numbers wrong. */
void raw_note(struct raw_file *r, const char *format, ...) PRINTF(2, 3);
void raw_damage(struct raw_file *r, const char *format, ...) PRINTF(2, 3);

/* Return all damage of R in one predicate, "is cut short: ..."; NULL = the file is whole. From
 * ARENA. */
const char *raw_damage_text(const struct raw_file *r, struct arena *arena);

/* Compute the check of the packed file DATA, whose size is at least a header's; never 0. Ignores
 * the header's field for the check. */
uint64_t raw_check(const void *data, size_t size_bytes);

/* Return the number of whole records in table KIND, and record I of it, which must be below that
 * number. */
size_t raw_count(const struct raw_file *r, enum disk_kind kind);

static inline const void *
raw_record(const struct raw_file *r, enum disk_kind kind, size_t i)
{
    return r->tables[kind].bytes + i * r->tables[kind].record_bytes;
}

/* Return record I of table KIND, to be changed. */
void *raw_change(struct raw_file *r, enum disk_kind kind, size_t i);

/* Return the name of ELF's machine NUMBER, and back; "unknown" and 0 for others. */
const char *raw_machine_name(uint32_t number);
uint32_t raw_machine_number(const char *name);

/* Return the string S, NUL-terminated, from ARENA of R; "" if it lies outside the strings. */
const char *raw_string(struct raw_file *r, struct disk_string s);

#endif
