/* symcache.c: the symbol cache in memory and in its file.
 *
 * The file, all integers little-endian:
 *
 *     offset  0  8   magic "heaptaps"
 *             8  8   checksum of everything from offset 16 on (hash_bytes)
 *            16  4   version, FORMAT_VERSION
 *            20  4   detail (enum symbol_detail), bit 31: a debuginfod server was asked
 *            24  4   entries E
 *            28  4   frames F
 *            32  4   string bytes S
 *            36  4   build id bytes, at most 32
 *            40 32   build id, the rest zero
 *            72 16E  entries: u64 address, u32 number of frames, u32 into (symcache.h); addresses
 *                    rise
 *               20F  frames, those of entry 0 first: u32 function, linkage, file (offsets into the
 *                    strings), line, flags (bit 0: inlined, 1: local)
 *                S   strings, each ended by a NUL; the one at offset 0 is empty
 *
 * The file is read as a whole, and accepted only if the checksum is right and every number is
 * within its limit. The layout has no gaps, so the sizes must add up to the file's. Any change to
 * the meaning of a byte raises FORMAT_VERSION; old files are then replaced and not converted.
 *
 * The file is written under a temporary name and renamed, so readers see the old or the new one. If
 * two processes write at the same time, the later rename wins and the other's new entries are lost.
 * The loss is harmless, so there are no locks.
 *
 * Ownership. Another user can give a library the build id of libc. Therefore a cache is valid for
 * one path with one build id (its name has both), and the caller decides which entries may be
 * stored (object_may_be_cached). The parent directory, the directory and each file in it must
 * belong to us, and the directory must not be a symbolic link. Consequently root with a user's HOME
 * has no cache, because the user could fill or redirect it. */
#include "symbol/symcache.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "util/bytes.h"
#include "util/ensure.h"
#include "util/replace.h"

enum {
    FORMAT_VERSION = 3,
    ID_MAX = 32,
    HEAD_BYTES = 72,
    HASHED_FROM = 16,
    ENTRY_BYTES = 16,
    FRAME_BYTES = 20,
    FRAME_INLINED = 1,
    FRAME_LOCAL = 2,
    // Maximum length of a name, below 255 because replace_file appends a few bytes.
    NAME_BYTES_MAX = 240,
};

#define MAGIC "heaptaps"
#define ASKED_SERVER (UINT32_C(1) << 31)
#define FILE_BYTES_MAX (256 * MIB)

/* Parts of a file that is being parsed. */
struct parts {
    const uint8_t *entries, *frames;
    const char *strings;
    uint32_t entry_count, frame_count, string_bytes;
};

/* Check DATA, except its entries and frames, and set the parts in P. */
static bool
symcache_split(struct parts *p, const uint8_t *id, uint32_t id_bytes, const uint8_t *data,
               size_t size_bytes)
{
    uint8_t wanted_id[ID_MAX] = {0};
    uint64_t total;

    if (size_bytes < HEAD_BYTES || size_bytes > FILE_BYTES_MAX || id_bytes > ID_MAX)
        return false;
    memcpy(wanted_id, id, id_bytes);
    if (memcmp(data, MAGIC, 8) != 0 || get32(data + 16) != FORMAT_VERSION ||
        get32(data + 36) != id_bytes || memcmp(data + 40, wanted_id, ID_MAX) != 0)
        return false;
    p->entry_count = get32(data + 24);
    p->frame_count = get32(data + 28);
    p->string_bytes = get32(data + 32);
    total = HEAD_BYTES + (uint64_t)ENTRY_BYTES * p->entry_count +
            (uint64_t)FRAME_BYTES * p->frame_count + p->string_bytes;
    if (total != size_bytes || p->string_bytes == 0 ||
        (get32(data + 20) & ~ASKED_SERVER) > DETAIL_DEBUG)
        return false;
    p->entries = data + HEAD_BYTES;
    p->frames = p->entries + (size_t)ENTRY_BYTES * p->entry_count;
    p->strings = (const char *)p->frames + (size_t)FRAME_BYTES * p->frame_count;
    if (p->strings[0] != '\0' || p->strings[p->string_bytes - 1] != '\0')
        return false;
    return get64(data + 8) == hash_bytes(data + HASHED_FROM, size_bytes - HASHED_FROM);
}

static bool
parse_frames(struct symcache *c, const struct parts *p, const char *strings)
{
    c->frames = arena_array(&c->arena, p->frame_count, sizeof *c->frames);
    c->frame_count = c->frame_capacity = p->frame_count;
    for (size_t i = 0; i < p->frame_count; i++) {
        const uint8_t *at = p->frames + i * FRAME_BYTES;
        const char *texts[3];

        for (size_t k = 0; k < countof(texts); k++) {
            uint32_t offset = get32(at + 4 * k);

            if (offset >= p->string_bytes)
                return false;
            texts[k] = offset != 0 ? strings + offset : NULL;
        }
        if (get32(at + 16) > (FRAME_INLINED | FRAME_LOCAL))
            return false;
        c->frames[i] = (struct symbol_frame){
            .function = texts[0],
            .linkage = texts[1],
            .file = texts[2],
            .line = get32(at + 12),
            .inlined = (get32(at + 16) & FRAME_INLINED) != 0,
            .local = (get32(at + 16) & FRAME_LOCAL) != 0,
        };
    }
    return true;
}

static bool
parse_entries(struct symcache *c, const struct parts *p)
{
    uint64_t first = 0;

    c->entries = arena_array(&c->arena, p->entry_count, sizeof *c->entries);
    c->entry_count = c->entry_capacity = p->entry_count;
    for (size_t i = 0; i < p->entry_count; i++) {
        struct symcache_entry *e = &c->entries[i];

        e->address = get64(p->entries + i * ENTRY_BYTES);
        e->frame_count = get32(p->entries + i * ENTRY_BYTES + 8);
        e->into = get32(p->entries + i * ENTRY_BYTES + 12);
        e->first_frame = (uint32_t)first;
        first += e->frame_count;
        if (e->frame_count == 0 || e->frame_count > SYMBOL_FRAMES_MAX || first > p->frame_count ||
            (i > 0 && e->address <= e[-1].address))
            return false;
        *map_put(&c->by_address, e->address, NULL) = i;
    }
    return first == p->frame_count;
}

bool
symcache_parse(struct symcache *c, const uint8_t *id, uint32_t id_bytes, const void *data,
               size_t size_bytes)
{
    struct parts p;
    const uint8_t *bytes = data;
    char *strings;

    if (!symcache_split(&p, id, id_bytes, bytes, size_bytes))
        return false;
    strings = arena_alloc(&c->arena, p.string_bytes);
    memcpy(strings, p.strings, p.string_bytes);
    if (!parse_frames(c, &p, strings) || !parse_entries(c, &p)) {
        symcache_release(c);
        return false;
    }
    c->detail = get32(bytes + 20) & ~ASKED_SERVER;
    c->asked_server = (get32(bytes + 20) & ASKED_SERVER) != 0;
    ENSURE_VALID(symcache_is_valid(c));
    return true;
}

static int
symcache_compare_entries(const void *left, const void *right)
{
    const struct symcache_entry *a = left;
    const struct symcache_entry *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

/* Strings of a file that is being written: each once, with its offset. */
struct string_pool {
    struct strtab ids;
    struct map offsets; // Id to offset.
    struct strbuf text;
};

static uint32_t
pool_offset(struct string_pool *pool, const char *s)
{
    uint32_t id = strtab_id(&pool->ids, s);
    uint64_t *offset;
    bool is_new;

    if (id == 0)
        return 0;
    offset = map_put(&pool->offsets, id, &is_new);
    if (is_new) {
        *offset = pool->text.length;
        strbuf_add(&pool->text, s, strlen(s) + 1);
    }
    return (uint32_t)*offset;
}

static void
format_entries(const struct symcache *c, struct string_pool *pool, struct strbuf *entries,
               struct strbuf *frames)
{
    struct arena scratch = {0};
    struct symcache_entry *sorted = arena_array(&scratch, c->entry_count, sizeof *sorted);

    if (c->entry_count > 0) {
        memcpy(sorted, c->entries, c->entry_count * sizeof *sorted);
        qsort(sorted, c->entry_count, sizeof *sorted, symcache_compare_entries);
    }
    for (size_t i = 0; i < c->entry_count; i++) {
        put64(entries, sorted[i].address);
        put32(entries, sorted[i].frame_count);
        put32(entries, sorted[i].into);
        for (uint32_t k = 0; k < sorted[i].frame_count; k++) {
            const struct symbol_frame *f = &c->frames[sorted[i].first_frame + k];

            put32(frames, pool_offset(pool, f->function));
            put32(frames, pool_offset(pool, f->linkage));
            put32(frames, pool_offset(pool, f->file));
            put32(frames, f->line);
            put32(frames, (f->inlined ? FRAME_INLINED : 0) | (f->local ? FRAME_LOCAL : 0));
        }
    }
    arena_release(&scratch);
}

void
symcache_format(const struct symcache *c, const uint8_t *id, uint32_t id_bytes, struct strbuf *out)
{
    struct string_pool pool = {0};
    struct strbuf entries = {0};
    struct strbuf frames = {0};
    uint8_t id_field[ID_MAX] = {0};
    size_t start = out->length;
    uint64_t hash;

    ENSURE_VALID(symcache_is_valid(c));
    memcpy(id_field, id, id_bytes < ID_MAX ? id_bytes : ID_MAX);
    strbuf_add(&pool.text, "", 1);
    format_entries(c, &pool, &entries, &frames);
    strbuf_add(out, MAGIC, 8);
    put64(out, 0);
    put32(out, FORMAT_VERSION);
    put32(out, (uint32_t)c->detail | (c->asked_server ? ASKED_SERVER : 0));
    put32(out, (uint32_t)c->entry_count);
    put32(out, (uint32_t)(frames.length / FRAME_BYTES));
    put32(out, (uint32_t)pool.text.length);
    put32(out, id_bytes);
    strbuf_add(out, id_field, ID_MAX);
    strbuf_add(out, strbuf_text(&entries), entries.length);
    strbuf_add(out, strbuf_text(&frames), frames.length);
    strbuf_add(out, pool.text.text, pool.text.length);
    hash = htole64(hash_bytes(out->text + start + HASHED_FROM, out->length - start - HASHED_FROM));
    memcpy(out->text + start + 8, &hash, sizeof hash);
    strbuf_release(&entries);
    strbuf_release(&frames);
    strbuf_release(&pool.text);
    map_release(&pool.offsets);
    strtab_release(&pool.ids);
}

/* Open the directory NAME in the directory AT, and close AT if it is not negative. With MAKE,
 * create the directory first. Return -1 if there is none, if it does not belong to us, or if
 * everybody may write to it. */
static int
open_own(int at, const char *name, int flags, bool make)
{
    struct stat st;
    int fd;

    if (make)
        mkdirat(at, name, 0700);
    fd = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
    if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & S_IWOTH) != 0)) {
        close(fd);
        fd = -1;
    }
    if (at >= 0)
        close(at);
    return fd;
}

/* Open the cache directory; return -1 if there is none. */
static int
open_directory(bool make)
{
    const char *base = getenv("XDG_CACHE_HOME");
    int fd = -1;

    if (base != NULL && base[0] == '/') {
        if (make)
            mkdir(base, 0700);
        fd = open_own(-1, base, 0, false);
    } else if ((base = getenv("HOME")) != NULL && base[0] == '/') {
        fd = open_own(-1, base, 0, false);
        if (fd >= 0)
            fd = open_own(fd, ".cache", 0, make);
    }
    return fd >= 0 ? open_own(fd, "heaptap", O_NOFOLLOW, make) : -1;
}

/* Return the cache directory, which stays open; -1 if there is none. A short program has a dozen
 * cache files, and finding the directory again for each takes as many system calls as the file
 * itself. */
static int
cache_directory(bool make)
{
    static int fd = -1;
    static char *found_by; // XDG_CACHE_HOME and HOME at that time.
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct strbuf by = {0};
    struct stat st;

    strbuf_fmt(&by, "%s\n%s", base != NULL ? base : "", home != NULL ? home : "");
    if (fd >= 0 && (strcmp(found_by, strbuf_text(&by)) != 0 || fstat(fd, &st) != 0 ||
                    st.st_nlink == 0)) { // The directory has been removed.
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        fd = open_directory(make);
    free(found_by);
    found_by = by.text;
    return fd;
}

/* Return the file name of the cache of ID and PATH: KIND, the id in hex, then the path with '+' for
 * '/'. Return NULL if PATH cannot have a cache. */
static char *
cache_name(struct arena *arena, const char *kind, const char *path, const uint8_t *id,
           uint32_t id_bytes)
{
    static const char digits[] = "0123456789abcdef";
    size_t room = strlen(kind) + 2 * (size_t)id_bytes + 2 * strlen(path) + 1;
    char *name, *end;

    if (id_bytes == 0 || id_bytes > ID_MAX)
        return NULL;
    name = arena_alloc(arena, room);
    end = stpcpy(name, kind);
    for (uint32_t i = 0; i < id_bytes; i++) {
        *end++ = digits[id[i] >> 4];
        *end++ = digits[id[i] & 15];
    }
    for (; *path != '\0'; path++) {
        if (*path == '+' || *path == '%')
            *end++ = '%';
        *end++ = (char)(*path == '/' ? '+' : *path);
    }
    *end = '\0';
    return end - name <= NAME_BYTES_MAX ? name : NULL;
}

/* Read SIZE_BYTES from FD into DATA. Return false if the file is shorter. */
static bool
symcache_read_all(int fd, uint8_t *data, size_t size_bytes)
{
    size_t done = 0;

    while (done < size_bytes) {
        ssize_t n = read(fd, data + done, size_bytes - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Return the contents of the cache file FD with status ST; NULL if it cannot be read. */
static void *
symcache_read_file(int fd, const struct stat *st)
{
    size_t size_bytes = (size_t)st->st_size;
    uint8_t *data = xmalloc(size_bytes);

    if (symcache_read_all(fd, data, size_bytes))
        return data;
    free(data);
    return NULL;
}

void *
symcache_read(const char *kind, const char *path, const uint8_t *id, uint32_t id_bytes,
              size_t *ret_size_bytes, int64_t *ret_written_unix_s)
{
    struct arena scratch = {0};
    const char *name = cache_name(&scratch, kind, path, id, id_bytes);
    int directory = name != NULL ? cache_directory(false) : -1;
    int fd = -1;
    void *data = NULL;
    struct stat st;

    if (directory >= 0)
        fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0) {
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
            st.st_size > 0 && (uint64_t)st.st_size <= FILE_BYTES_MAX) {
            data = symcache_read_file(fd, &st);
            *ret_size_bytes = (size_t)st.st_size;
            *ret_written_unix_s = st.st_mtime;
        }
        close(fd);
    }
    arena_release(&scratch);
    return data;
}

void
symcache_write(const char *kind, const char *path, const uint8_t *id, uint32_t id_bytes,
               const struct strbuf *text)
{
    struct arena scratch = {0};
    const char *name =
        text->length <= FILE_BYTES_MAX ? cache_name(&scratch, kind, path, id, id_bytes) : NULL;
    int directory = name != NULL ? cache_directory(true) : -1;

    if (directory >= 0) {
        // A failure only costs the next reader time.
        replace_file(arena_printf(&scratch, "/proc/self/fd/%d/%s", directory, name), NULL,
                     text->text, text->length);
    }
    arena_release(&scratch);
}

void
symcache_load(struct symcache *c, const char *path, const uint8_t *id, uint32_t id_bytes)
{
    int64_t written_unix_s;
    size_t size_bytes;
    void *data = symcache_read("", path, id, id_bytes, &size_bytes, &written_unix_s);

    if (data != NULL && symcache_parse(c, id, id_bytes, data, size_bytes))
        c->written_unix_s = written_unix_s;
    free(data);
}

void
symcache_store(const struct symcache *c, const char *path, const uint8_t *id, uint32_t id_bytes)
{
    struct strbuf text = {0};

    if (!c->changed)
        return;
    symcache_format(c, id, id_bytes, &text);
    symcache_write("", path, id, id_bytes, &text);
    strbuf_release(&text);
}

const struct symcache_entry *
symcache_find(const struct symcache *c, uint64_t address)
{
    const uint64_t *index = map_get(&c->by_address, address);

    return index != NULL ? &c->entries[*index] : NULL;
}

void
symcache_add(struct symcache *c, uint64_t address, const struct symbol_frame *frames, size_t count,
             uint32_t into)
{
    *map_put(&c->by_address, address, NULL) = c->entry_count;
    arena_grow(&c->arena, &c->entries, &c->entry_capacity, c->entry_count, sizeof *c->entries);
    c->entries[c->entry_count++] = (struct symcache_entry){
        .address = address,
        .first_frame = (uint32_t)c->frame_count,
        .frame_count = (uint32_t)count,
        .into = into,
    };
    for (size_t i = 0; i < count; i++) {
        arena_grow(&c->arena, &c->frames, &c->frame_capacity, c->frame_count, sizeof *c->frames);
        c->frames[c->frame_count++] = frames[i];
    }
    c->changed = true;
}

void
symcache_release(struct symcache *c)
{
    map_release(&c->by_address);
    arena_release(&c->arena);
    *c = (struct symcache){0};
}

bool
symcache_is_valid(const struct symcache *c)
{
    VALID(c->detail <= DETAIL_DEBUG);             // This is the largest value that a file can have.
    VALID(c->by_address.count == c->entry_count); // Each address is added once.
    for (size_t i = 0; i < c->entry_count; i++) {
        const struct symcache_entry *e = &c->entries[i];
        const uint64_t *known = map_get(&c->by_address, e->address);

        VALID(e->frame_count >= 1 &&
              e->frame_count <= SYMBOL_FRAMES_MAX);               // Readers reject larger counts.
        // The subtraction in the next line must not wrap.
        VALID(e->frame_count <= c->frame_count);
        VALID(e->first_frame <= c->frame_count - e->frame_count); // The entry's frames exist.
        // A search by address finds the entry.
        VALID(known != NULL && *known == i);
    }
    return true;
}
