/* file.h: the profile file while it is being written, and its tables. */
#ifndef ACCOUNT_FILE_H
#define ACCOUNT_FILE_H

#include "account/account_state.h"
#include "base/base.h"
#include "platform/state.h"

#define TABLE_NONE UINT64_MAX

/* Create the profile and map its header and the first part of each table; with
 * account_state()->reserve_bytes, map all of it. Return 0, or a negative error number after undoing
 * everything. */
int file_create(void);

/* Open the file again and return a descriptor, which the caller closes with file_close. Return a
 * negative error number if the path leads to another file, or the file was cut short. */
int file_reopen(void);

/* Close FD if it still refers to the file: the program may have closed it and reused the number. */
void file_close(int fd);

/* Record that the file has END bytes or more. */
void file_note_size(uint64_t end);

/* Unmap the address space that tables have not used, except for a share of SPARE_BYTES for each.
 * Async-signal-safe; waits for threads that grow a table, up to a bound. */
void file_give_back(uint64_t spare_bytes);

/* Undo file_create. */
void file_remove(void);

/* Take COUNT records of table T and ensure that they are mapped. Return the index of the first, or
 * TABLE_NONE. The records are zero. Waits no longer than a bound for another thread that grows the
 * table, and gives up then. Async-signal-safe. */
uint64_t table_take(struct table *t, uint64_t count);

/* At the start, reserve the first COUNT records of T, so that table_take returns the records after
 * them. Maps nothing. */
void table_keep(struct table *t, uint64_t count);

/* Return the reserved record INDEX, which is zero until written; NULL without memory. Otherwise
 * like table_take. */
void *table_kept(struct table *t, uint64_t index);

/* Return the record INDEX, which table_take returned. */
static inline void *
table_record(const struct table *t, uint64_t index)
{
    return t->base + index * t->record_bytes;
}

/* Handle a fault at ADDRESS that found no page. If it lies in a mapping of the profile, map zeroed
 * memory there, mark the profile as failed and return true. Call from a signal handler. */
bool file_page_gone(uintptr_t address);

/* Append SIZE_BYTES of text to the strings; without room the result is empty. Async-signal-safe. */
struct disk_string file_string(const char *text, size_t size_bytes);

#endif
