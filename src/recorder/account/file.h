/* file.h: creates the profile file, grows its tables, and writes them. */
#ifndef ACCOUNT_FILE_H
#define ACCOUNT_FILE_H

#include "account/account_state.h"
#include "base/base.h"
#include "platform/state.h"

#define TABLE_NONE UINT64_MAX

/* Create the profile. Map its header and the first segment of each table, or the whole profile if
 * account_state()->reserve_bytes is set. Return 0. On failure undo all steps and return a negative
 * error number. */
int file_create(void);

/* Open the file again and return a descriptor; the caller closes it with file_close. Return a
 * negative error number if the path leads to another file, or if the file was truncated. */
int file_reopen(void);

/* Close FD if it still refers to the file. The program may have closed it and reused the number. */
void file_close(int fd);

/* Record that the size of the file is at least END bytes. */
void file_note_size(uint64_t end);

/* Unmap the unused address space of all tables, except for a share of SPARE_BYTES for each table. A
 * reserve counts as used unless FROM_RESERVE. Return the address space that the tables keep.
 * Async-signal-safe. Waits for threads that grow a table, for a bounded time. */
uint64_t file_give_back(uint64_t spare_bytes, bool from_reserve);

/* Unmap the file, which is complete. */
void file_unmap(void);

/* Undo file_create. */
void file_remove(void);

/* Append COUNT records to table T and ensure that they are mapped. Return the index of the first
 * one, or TABLE_NONE. The records are zero. If another thread is growing the table, wait a bounded
 * time, then fail. Async-signal-safe. */
uint64_t table_take(struct table *t, uint64_t count);

/* Reserve the first COUNT records of T, so that table_take returns only later records. Does not map
 * memory. Call at the start. */
void table_keep(struct table *t, uint64_t count);

/* Return the reserved record INDEX, which is zero until written. Return NULL if memory is
 * exhausted. Waits like table_take. */
void *table_kept(struct table *t, uint64_t index);

/* Return the record at INDEX, which table_take returned. */
static inline void *
table_record(const struct table *t, uint64_t index)
{
    return t->base + index * t->record_bytes;
}

/* Handle a fault at ADDRESS, where no page was found. If ADDRESS is in a mapping of the profile,
 * map zeroed memory there, mark the profile as failed and return true. Call from a signal
 * handler. */
bool file_page_gone(uintptr_t address);

/* Append SIZE_BYTES of TEXT to the strings. Return an empty string if there is no room.
 * Async-signal-safe. */
struct disk_string file_string(const char *text, size_t size_bytes);

/* --- file_copy.c: copies a profile in memory (state->in_memory) to its file. Has no effect on
 * other profiles. */

/* Occasions for file_copy to update the file. */
enum file_copy { FILE_COPY_FIRST, FILE_COPY_DUE, FILE_COPY_LAST };

/* Update the file. FIRST: the first update. DUE: update if an update is due, possibly by only one
 * piece. LAST: the last update, which makes the file complete. Call in an event, from any
 * thread. */
void file_copy(enum file_copy when);

/* --- write.c: writes the profile to a descriptor, from within the profiled process. */

/* Write the profile to FD in FORMAT, "pprof" or "heaptap". Block while writing to FD blocks. Return
 * 0, or -1. Call in a thread that is in the recorder. Does not allocate. */
int write_profile(int fd, const char *format);

#endif
