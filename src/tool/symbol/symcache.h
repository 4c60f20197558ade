/* symcache.h: cached frames of addresses, one file per build id and path.
 *
 * Addresses refer to the ELF file, so a cache serves every run and every load address. Files are
 * untrusted: a damaged or foreign file, or one of another version, counts as absent. */
#ifndef SYMBOL_SYMCACHE_H
#define SYMBOL_SYMCACHE_H

#include "symbol/symbol_frame.h"
#include "util/map.h"
#include "util/strbuf.h"

enum { SYMCACHE_ID_MAX = 32 }; // Bytes of a build id; files with longer ones are not cached.

struct symcache_entry {
    uint64_t address;
    uint32_t first_frame; // Index into frames.
    uint32_t frame_count; // At least 1.
    uint32_t into; // Offset in a unsymbolized function, plus 1; 0 = unknown.
};

/* Starts as {0}, which is an empty cache. Strings are the cache's own or those given to
 * symcache_add. */
struct symcache {
    struct arena arena;
    struct symcache_entry *entries;
    size_t entry_count, entry_capacity;
    struct symbol_frame *frames;
    size_t frame_count, frame_capacity;
    struct map by_address;     // To index of entries.
    enum symbol_detail detail; // Level of detail of the module when the entries were made.
    bool asked_server;         // A debuginfod server was configured then.
    bool changed;              // Entries were added since it was read.
    int64_t written_unix_s;    // When the file was written; 0 for a new cache.
};

/* Read SIZE_BYTES of DATA, which must be the cache of the build id ID, into the empty C. False, and
 * C still empty, if any byte is not as symcache_format would write it. */
bool symcache_parse(struct symcache *c, const uint8_t *id, uint32_t id_bytes, const void *data,
                    size_t size_bytes);

/* Append the file for C to OUT. */
void symcache_format(const struct symcache *c, const uint8_t *id, uint32_t id_bytes,
                     struct strbuf *out);

/* Read the cache of the module at PATH with build id ID into the empty C, which stays empty if
 * there is no good file. */
void symcache_load(struct symcache *c, const char *path, const uint8_t *id, uint32_t id_bytes);

/* Write C in place of the cache of that module if it changed. Failure is silent: a cache is no
 * promise. */
void symcache_store(const struct symcache *c, const char *path, const uint8_t *id,
                    uint32_t id_bytes);

/* Entry of ADDRESS, or NULL; valid until the next addition. Its frames are C->frames from
 * first_frame on. */
const struct symcache_entry *symcache_find(const struct symcache *c, uint64_t address);

/* Add the frames of an ADDRESS that is not yet in C, and the entry's INTO. Strings must live as
 * long as C. */
void symcache_add(struct symcache *c, uint64_t address, const struct symbol_frame *frames,
                  size_t count, uint32_t into);

/* Other data about a module, stored beside its frames in a file whose name starts with KIND.
 * symcache_read returns its contents, *RET_SIZE_BYTES, which the caller frees, and when it was
 * written; NULL if there is no trusted file. symcache_write replaces it with TEXT, or fails
 * silently. */
void *symcache_read(const char *kind, const char *path, const uint8_t *id, uint32_t id_bytes,
                    size_t *ret_size_bytes, int64_t *ret_written_unix_s);
void symcache_write(const char *kind, const char *path, const uint8_t *id, uint32_t id_bytes,
                    const struct strbuf *text);

/* C is empty ({0}) afterwards. */
void symcache_release(struct symcache *c);

/* Return true if the invariants above hold. Only reads; see util/ensure.h. */
bool symcache_is_valid(const struct symcache *c);

#endif
