/* walked_blocks.c: blocks of a process that was not recorded.
 *
 * glibc's heap is walked (image/glibc_heap.c). The walk finds the blocks in use and their usable
 * sizes. Stacks and requested sizes are unknown. Instead of a stack, a block has a name:
 *
 *     an object with virtual functions   the class, by the type information in front of the table
 *                                        of virtual functions; stripped programs have it
 *     any other                          the sizes that malloc rounds up to the size of the block
 *
 * Each class and each size is one frame of one site, so that all views work as usual. In a dump,
 * constants of programs are missing; they are read from the programs' files. */
#include "open/open_set.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "image/examined.h"
#include "image/glibc_heap.h"
#include "image/raw_sites.h"
#include "layout/annotated_profile.h"
#include "profile/pack.h"
#include "symbol/demangle.h"
#include "util/map.h"
#include "util/path.h"
#include "view/style.h"

enum {
    NAME_BYTES = 1024,
    EXACT_BYTES = 1032, // Larger blocks are grouped by quarters of powers of two.
    LEAST_BYTES = 24,   // Usable size of the smallest chunk.
    TABLE_TYPE_OFF = 8, // The type information and the offset to the whole object precede a table.
    TABLE_TOP_OFF = 16,
};

struct walk {
    struct examined *e;
    struct arena *arena;
    struct map class_of;   // Address of a table of virtual functions to a group plus 1; 0 = none.
    struct map size_of;    // Usable size, rounded, to a group plus 1.
    const char **names;    // By group.
    size_t count, capacity;
    struct map name_of;    // Id of a class in `classes` to a group plus 1.
    struct strtab classes;
    // Mapped file that was read last.
    const char *path;
    int fd;
};

/* Read SIZE_BYTES at ADDRESS from the file that is mapped there. Return the number of bytes. */
static size_t
read_file(struct walk *w, uint64_t address, void *to, size_t size_bytes)
{
    const struct memory_mapping *map = memory_mapping_at(&w->e->memory, address);
    ssize_t got;

    if (map == NULL)
        return 0;
    if (size_bytes > map->end - address)
        size_bytes = (size_t)(map->end - address);
    if (w->path != map->path) {
        if (w->fd >= 0)
            close(w->fd);
        w->fd = open(map->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        w->path = map->path;
    }
    if (w->fd < 0)
        return 0;
    got = pread(w->fd, to, size_bytes, (off_t)(map->file_off + (address - map->start)));
    return got > 0 ? (size_t)got : 0;
}

static size_t
read_constant(struct walk *w, uint64_t address, void *to, size_t size_bytes)
{
    size_t got = memory_read(&w->e->memory, address, to, size_bytes);

    return got < size_bytes && !w->e->memory.lives && got == 0
               ? read_file(w, address, to, size_bytes)
               : got;
}

/* Return the word at ADDRESS; 0 if it cannot be read. */
static uint64_t
constant_word(struct walk *w, uint64_t address)
{
    uint64_t word;

    return address % sizeof word == 0 &&
                   read_constant(w, address, &word, sizeof word) == sizeof word
               ? word
               : 0;
}

/* Return true if ADDRESS lies in a program or library; with CODE, in its code. */
static bool
is_in_module(const struct walk *w, uint64_t address, bool code)
{
    const struct memory_region *r = memory_region_at(&w->e->memory, address);

    // Debuggers leave code and constants out of dumps, but list the mapped files.
    if (r == NULL)
        return memory_mapping_at(&w->e->memory, address) != NULL;
    return memory_is_variables(&w->e->memory, r) && (!code || (r->access & MEMORY_EXECUTE) != 0);
}

/* Return true if NAME may be the name of a type, as the C++ ABI encodes it. */
static bool
is_type_name(const char *name)
{
    size_t length = strlen(name);

    if (*name == '*') // Compared by address; not part of the name.
        name++;
    return length > 1 && length < NAME_BYTES - 1 && strchr("123456789NS", *name) != NULL &&
           name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")] ==
               '\0';
}

/* Return the class whose table of virtual functions is at TABLE, from W's arena; NULL if no table
 * is there. */
static const char *
class_at(struct walk *w, uint64_t table)
{
    static const char prefix[] = "typeinfo name for ";
    char name[NAME_BYTES] = "";
    uint64_t type, text;
    const char *source;

    if (table % sizeof table != 0 || !is_in_module(w, table, false))
        return NULL;
    type = constant_word(w, table - TABLE_TYPE_OFF);
    if (type == 0 || !is_in_module(w, type, false) ||
        constant_word(w, table - TABLE_TOP_OFF) != 0 ||
        !is_in_module(w, constant_word(w, table), true) ||
        !is_in_module(w, constant_word(w, type), false))
        return NULL;
    text = constant_word(w, type + sizeof type);
    if (text == 0 || read_constant(w, text, name, sizeof name - 1) == 0 || !is_type_name(name))
        return NULL;
    source = demangle(w->arena, arena_printf(w->arena, "_ZTS%s", *name == '*' ? name + 1 : name));
    return strncmp(source, prefix, strlen(prefix)) == 0 ? source + strlen(prefix) : NULL;
}

static uint64_t
add_group(struct walk *w, const char *name)
{
    arena_grow(w->arena, &w->names, &w->capacity, w->count, sizeof *w->names);
    w->names[w->count] = name;
    return ++w->count;
}

/* Return the group of the class of the object at ADDRESS plus 1; 0 if it has none. */
static uint64_t
class_group(struct walk *w, uint64_t address)
{
    uint64_t table, *known, *named;
    const char *class;
    bool new;

    if (!memory_word(&w->e->memory, address, sizeof table, &table) || table == 0)
        return 0;
    known = map_put(&w->class_of, table, &new);
    if (!new)
        return *known;
    class = class_at(w, table);
    if (class == NULL)
        return 0;
    // Each library may have a table of the class.
    named = map_put(&w->name_of, strtab_id(&w->classes, class), NULL);
    if (*named == 0)
        *named = add_group(w, arena_printf(w->arena, "[%s]", class));
    return *known = *named;
}

/* Return the group of blocks of USABLE_BYTES plus 1. */
static uint64_t
size_group(struct walk *w, uint64_t usable_bytes)
{
    uint64_t low = usable_bytes > LEAST_BYTES ? usable_bytes - 15 : 0, high = usable_bytes, *known;

    if (usable_bytes > EXACT_BYTES) {
        uint64_t power = UINT64_C(1) << (63 - __builtin_clzll(usable_bytes)), step = power / 4;

        low = usable_bytes / step * step;
        high = low + step - 1;
    }
    known = map_put(&w->size_of, high, NULL);
    if (*known == 0)
        *known = add_group(
            w, usable_bytes > EXACT_BYTES
                   ? arena_printf(w->arena, "[%s to %s]", style_bytes(w->arena, (int64_t)low),
                                  style_bytes(w->arena, (int64_t)high + 1))
               : low > 0 ? arena_printf(w->arena, "[%" PRIu64 " to %" PRIu64 " bytes]", low, high)
                         : arena_printf(w->arena, "[up to %" PRIu64 " bytes]", high));
    return *known;
}

/* Return the time at which M was read or, for a dump, written. */
static uint64_t
moment_of(const struct memory *m)
{
    struct timespec now;
    struct stat st;

    clock_gettime(CLOCK_REALTIME, &now);
    if (!m->lives && stat(m->name, &st) == 0)
        now = st.st_mtim;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Make an empty profile of E's process. Returns 0, or an error with ERR set. */
static int
make_profile(struct examined *e, struct err *err)
{
    static const struct annotated_memory none;
    const struct annotated_program program = {.machine = e->memory.machine};
    struct annotated_places places;
    struct profile *p =
        annotated_profile(&none, &program,
                          *e->memory.program != '\0' ? e->memory.program
                                                     : path_basename(e->memory.name),
                          0, &places);
    struct strbuf file = {0};
    int r = write_model(p, &file, err);

    if (r == 0) {
        char *kept = arena_alloc(&e->arena, file.length);

        memcpy(kept, file.text, file.length);
        r = raw_parse(kept, file.length, e->memory.name, &e->arena, &e->raw, err);
    }
    e->raw.header.pid = e->memory.pid;
    e->raw.header.start_unix_ns = moment_of(&e->memory);
    strbuf_release(&file);
    profile_free(p);
    return r;
}

/* Divide HEAP's blocks into groups, and store the group of each in GROUP_OF. */
static void
group_blocks(struct walk *w, const struct glibc_heap *heap, uint32_t *group_of)
{
    for (size_t i = 0; i < heap->count; i++) {
        uint64_t group = class_group(w, heap->v[i].address);

        if (group == 0)
            group = size_group(w, heap->v[i].usable_bytes);
        group_of[i] = (uint32_t)(group - 1);
    }
}

int
walked_blocks_read(struct examined *e, bool *ret_whole, struct err *err)
{
    struct walk w = {.e = e, .arena = &e->arena, .fd = -1};
    struct glibc_heap heap;
    uint32_t *group_of, site;
    int r;

    glibc_heap_read(&e->memory, &e->arena, &heap);
    *ret_whole = heap.whole;
    if (!heap.found)
        return HEAPTAP_NOT_FOUND;
    r = make_profile(e, err);
    if (r != 0)
        return r;
    e->record.usable = CORE_USABLE_GLIBC;
    group_of = arena_array(&e->arena, heap.count + 1, sizeof *group_of);
    group_blocks(&w, &heap, group_of);
    site = raw_sites_add(&e->raw, w.names, w.count);
    for (size_t i = 0; i < heap.count && site != 0; i++) {
        const struct glibc_block *b = &heap.v[i];

        blocks_add(&e->blocks, &e->arena,
                   (struct block){.address = b->address,
                                  .size_bytes = b->usable_bytes,
                                  .site = site + group_of[i] * DISK_SIZE_CLASSES +
                                          disk_size_class(b->usable_bytes),
                                  .slack_bytes = (uint8_t)b->head_bytes});
    }
    blocks_sort(&e->blocks);
    if (w.fd >= 0)
        close(w.fd);
    map_release(&w.class_of);
    map_release(&w.size_of);
    map_release(&w.name_of);
    strtab_release(&w.classes);
    return 0;
}
