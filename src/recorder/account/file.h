/* file.h: the profile file while it is being written, and the tables in it. */
#ifndef ACCOUNT_FILE_H
#define ACCOUNT_FILE_H

#include "base/base.h"
#include "platform/state.h"

#define TABLE_NONE UINT64_MAX

/* Create the profile and map its header and the first part of each table; all of it when
 * state->reserve_bytes says so. 0, or a negative error number: then nothing is left of it. */
int file_create(void);

/* Open the file again, which is ours to close by file_close; a negative error number if it is not
 * the same any more. */
int file_reopen(void);

/* Close FD if it still is the file: the program may have closed it and taken the number. */
void file_close(int fd);

/* Note that the file has END bytes or more. */
void file_note_size(uint64_t end);

/* Unmap the address space that tables have not used, except for a share of SPARE_BYTES for each.
 * Signal-safe; waits a bounded while for threads that grow a table. */
void file_give_back(uint64_t spare_bytes);

/* Undo file_create. */
void file_remove(void);

/* Take COUNT records of table T and see that they are mapped: the index of the first, or
 * TABLE_NONE. The records are zero. Never blocks for long: gives up when another thread does not
 * finish growing. Signal-safe. */
uint64_t table_take(struct table *t, uint64_t count);

/* At the start: keep the first COUNT records of T back, so that table_take gives those that come
 * after them. Nothing is mapped for them. */
void table_keep(struct table *t, uint64_t count);

/* The record INDEX of those that were kept back, zero unless somebody has written it; NULL if there
 * is no memory for it. Like table_take otherwise. */
void *table_kept(struct table *t, uint64_t index);

/* The record INDEX, which table_take gave. */
static inline void *
table_record(const struct table *t, uint64_t index)
{
    return t->base + index * t->record_bytes;
}

/* A store to ADDRESS found no page. If it is in a mapping of the profile, put zeroed memory there,
 * mark the profile as failed and return true. To be called from a signal handler. */
bool file_page_gone(uintptr_t address);

/* Append SIZE_BYTES of text to the strings; without room the result is empty. Signal-safe. */
struct disk_string file_string(const char *text, size_t size_bytes);

#endif
