/* symcache.h: cached frames of addresses, one file per build id and path.
 *
 * Addresses refer to the ELF file, so a cache is valid for every run and every load address. Files
 * are untrusted: a damaged file counts as absent, and so does a file of another user or version. */
#ifndef SYMBOL_SYMCACHE_H
#define SYMBOL_SYMCACHE_H

#include "symbol/symbol_frame.h"
#include "util/map.h"
#include "util/strbuf.h"

// Maximum length of a build id; files with longer ids are not cached.
enum { SYMCACHE_ID_MAX = 32 };

struct symcache_entry {
    uint64_t address;
    uint32_t first_frame; // Index into frames.
    uint32_t frame_count; // At least 1.
    uint32_t into; // Offset in an unsymbolized function, plus 1; 0 = unknown.
};

/* Cached frames of one file. {0} is empty. Strings belong to the cache or to the caller of
 * symcache_add. */
struct symcache {
    struct arena arena;
    struct symcache_entry *entries;
    size_t entry_count, entry_capacity;
    struct symbol_frame *frames;
    size_t frame_count, frame_capacity;
    struct map by_address;     // Address to index of entries.
    enum symbol_detail detail; // Level of detail of the module when the entries were made.
    bool asked_server;         // A debuginfod server was set at that time.
    bool changed;              // Entries were added since the file was read.
    int64_t written_unix_s;    // Time when the file was written; 0 for a new cache.
};

/* Read the SIZE_BYTES at DATA, the contents of a cache file, into the empty C. Return false, with C
 * still empty, unless DATA is exactly as symcache_format writes it, for the build id ID. */
bool symcache_parse(struct symcache *c, const uint8_t *id, uint32_t id_bytes, const void *data,
                    size_t size_bytes);

/* Append C, in the format of the file, to OUT. */
void symcache_format(const struct symcache *c, const uint8_t *id, uint32_t id_bytes,
                     struct strbuf *out);

/* Read the cache of the module at PATH with build id ID into the empty C. C stays empty if there is
 * no valid file. */
void symcache_load(struct symcache *c, const char *path, const uint8_t *id, uint32_t id_bytes);

/* Replace the module's cache file by C if C was changed. Failures are ignored, because the cache is
 * best effort. */
void symcache_store(const struct symcache *c, const char *path, const uint8_t *id,
                    uint32_t id_bytes);

/* Return the entry of ADDRESS, or NULL; valid until the next addition. Its frames are C->frames
 * from first_frame on. */
const struct symcache_entry *symcache_find(const struct symcache *c, uint64_t address);

/* Add the frames of ADDRESS, which must be new in C, and the entry's INTO. Strings must live as
 * long as C. */
void symcache_add(struct symcache *c, uint64_t address, const struct symbol_frame *frames,
                  size_t count, uint32_t into);

/* Read or write other data about a module, in a file beside the symbol cache whose name starts with
 * KIND. symcache_read returns the contents, which the caller frees, and sets *RET_SIZE_BYTES and
 * the time of writing; it returns NULL if there is no trusted file. symcache_write replaces the
 * contents with TEXT; failures are ignored. */
void *symcache_read(const char *kind, const char *path, const uint8_t *id, uint32_t id_bytes,
                    size_t *ret_size_bytes, int64_t *ret_written_unix_s);
void symcache_write(const char *kind, const char *path, const uint8_t *id, uint32_t id_bytes,
                    const struct strbuf *text);

/* Free all memory of C; C is empty ({0}) afterwards. */
void symcache_release(struct symcache *c);

/* Return true if C is consistent: each entry has frames and is found by its address. Only reads;
 * see util/ensure.h. */
bool symcache_is_valid(const struct symcache *c);

#endif
