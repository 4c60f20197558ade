/* wrappers.c: finds the code of allocation wrappers by the symbols of the loaded objects.
 *
 * An allocation inside xmalloc belongs to xmalloc's caller. The names decide
 * (wrapper/wrapper_name.h). They come from the object's file, because a symbol table is not loaded:
 * .symtab, else .dynsym. Each object is read once, when its first return address is examined. A
 * file that cannot be read, or has no symbols, has no wrappers: then sites end at its innermost
 * frames. A file that was replaced meanwhile may name wrong functions. Both change only how far out
 * a site reaches, never a sum. */
#include "stack/wrappers.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "account/file.h"
#include "base/atomics.h"
#include "platform/mem.h"
#include "platform/sys.h"
#include "stack/stack_state.h"
#include "wrapper/wrapper_name.h"

enum { SECTIONS_MAX = 4096 };

/* Larger tables are not read: they would take the program's time. */
#define SYMBOLS_BYTES_MAX ((uint64_t)256 << 20)

/* Offsets in an object's file, as in its symbols: [start, end). */
struct wrapper_range {
    uint64_t start, end;
};

/* The wrappers of a module, by `start`, without overlaps. */
struct wrappers {
    uint64_t count;
    struct wrapper_range ranges[];
};

static struct wrappers no_wrappers;

/* An adapter for a language allocates only for the runtime that calls it. */
#define ADAPTERS "/libheaptap_"
static struct wrappers all_code = {.count = 1, .ranges = {{0, UINT64_MAX}}};

static bool
is_adapter_path(const char *path)
{
    const char *name = strrchr(path, '/');

    return name != NULL && strncmp(name, ADAPTERS, sizeof ADAPTERS - 1) == 0;
}

/* A copy of a part of a file. */
struct wrappers_part {
    void *bytes; // NULL = not read.
    uint64_t size_bytes;
};

bool
wrappers_start(void)
{
    stack_state()->wrappers =
        mem_private(sizeof *stack_state()->wrappers * (size_t)LIMIT_MODULES);
    return stack_state()->wrappers != NULL;
}

static struct wrappers_part
read_part(int fd, uint64_t off, uint64_t size_bytes)
{
    struct wrappers_part part = {.size_bytes = size_bytes};
    void *bytes;

    if (size_bytes == 0 || size_bytes > SYMBOLS_BYTES_MAX)
        return part;
    bytes = sys_mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sys_failed(bytes))
        return part;
    for (uint64_t done = 0; done < size_bytes;) {
        long n = sys_pread(fd, (char *)bytes + done, size_bytes - done, off + done);

        if (n <= 0) {
            sys_munmap(bytes, size_bytes);
            return part;
        }
        done += (uint64_t)n;
    }
    part.bytes = bytes;
    return part;
}

static void
drop_part(const struct wrappers_part *part)
{
    if (part->bytes != NULL)
        sys_munmap(part->bytes, part->size_bytes);
}

/* Return the section of symbols among COUNT at SECTIONS: .symtab, which has most, else .dynsym.
 * Return NULL if there is none whose names are there. */
static const Elf64_Shdr *
symbol_section(const Elf64_Shdr *sections, uint32_t count)
{
    const Elf64_Shdr *found = NULL;

    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Shdr *s = &sections[i];

        if ((s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM) && s->sh_link < count &&
            (found == NULL || s->sh_type == SHT_SYMTAB))
            found = s;
    }
    return found;
}

/* Return true if S, with a name among NAMES, is a wrapper with a known size. */
static bool
is_wrapper_symbol(const Elf64_Sym *s, const struct wrappers_part *names)
{
    return ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF && s->st_size != 0 &&
           s->st_value <= UINT64_MAX - s->st_size && s->st_name < names->size_bytes &&
           wrapper_symbol_is((const char *)names->bytes + s->st_name);
}

static void
sift_down(struct wrapper_range *v, uint64_t i, uint64_t count)
{
    struct wrapper_range moved = v[i];

    for (uint64_t child; (child = 2 * i + 1) < count; i = child) {
        child += child + 1 < count && v[child + 1].start > v[child].start;
        if (v[child].start <= moved.start)
            break;
        v[i] = v[child];
    }
    v[i] = moved;
}

/* Sort COUNT ranges by their start, in place. */
static void
sort_ranges(struct wrapper_range *v, uint64_t count)
{
    for (uint64_t i = count / 2; i-- > 0;)
        sift_down(v, i, count);
    for (uint64_t i = count; i-- > 1;) {
        struct wrapper_range last = v[i];

        v[i] = v[0];
        v[0] = last;
        sift_down(v, 0, i);
    }
}

/* Join overlapping ranges of W, which is sorted. A symbol may lie in another, as an entry point of
 * assembler code does, and a search looks at one range only. */
static void
join_ranges(struct wrappers *w)
{
    uint64_t last = 0;

    for (uint64_t i = 1; i < w->count; i++) {
        if (w->ranges[i].start > w->ranges[last].end)
            w->ranges[++last] = w->ranges[i];
        else if (w->ranges[i].end > w->ranges[last].end)
            w->ranges[last].end = w->ranges[i].end;
    }
    w->count = last + 1;
}

/* Return the wrappers among SYMBOLS, with NAMES. */
static struct wrappers *
collect(const struct wrappers_part *symbols, const struct wrappers_part *names)
{
    const Elf64_Sym *s = symbols->bytes;
    uint64_t total = symbols->size_bytes / sizeof *s, count = 0;
    struct wrappers *w;

    ((char *)names->bytes)[names->size_bytes - 1] = '\0';
    for (uint64_t i = 0; i < total; i++)
        count += is_wrapper_symbol(&s[i], names);
    w = count > 0 ? mem_private(sizeof *w + count * sizeof *w->ranges) : NULL;
    if (w == NULL)
        return &no_wrappers;
    for (uint64_t i = 0; i < total && w->count < count; i++)
        if (is_wrapper_symbol(&s[i], names))
            w->ranges[w->count++] =
                (struct wrapper_range){s[i].st_value, s[i].st_value + s[i].st_size};
    sort_ranges(w->ranges, w->count);
    join_ranges(w);
    return w;
}

/* Return the wrappers of the object in the file FD. */
static struct wrappers *
read_object(int fd)
{
    struct wrappers_part header = read_part(fd, 0, sizeof(Elf64_Ehdr)), sections = {0};
    const Elf64_Ehdr *h = header.bytes;
    const Elf64_Shdr *table = NULL;
    struct wrappers *w = &no_wrappers;

    if (h != NULL && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
        h->e_shentsize == sizeof(Elf64_Shdr) && h->e_shnum <= SECTIONS_MAX)
        sections = read_part(fd, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr));
    if (sections.bytes != NULL)
        table = symbol_section(sections.bytes, h->e_shnum);
    if (table != NULL) {
        const Elf64_Shdr *text = (const Elf64_Shdr *)sections.bytes + table->sh_link;
        struct wrappers_part symbols = read_part(fd, table->sh_offset, table->sh_size);
        struct wrappers_part names = read_part(fd, text->sh_offset, text->sh_size);

        if (symbols.bytes != NULL && names.bytes != NULL)
            w = collect(&symbols, &names);
        drop_part(&symbols);
        drop_part(&names);
    }
    drop_part(&sections);
    drop_part(&header);
    return w;
}

/* Read the wrappers of module ID, with T's scratch text. */
static COLD struct wrappers *
read_module(struct thread *t, uint32_t id)
{
    const struct disk_module *m = table_record(&state->tables[DISK_MODULES], id);
    const struct table *strings = &state->tables[DISK_STRINGS];
    struct disk_string path = m->path;
    struct wrappers *none = NULL, *w = &no_wrappers;
    uint64_t mask;
    int fd;

    // The file is shared: an offset written by another process must not point outside the table.
    if (path.bytes > 0 && path.bytes < sizeof t->text &&
        path.off + (uint64_t)path.bytes <= load_acquire(&strings->mapped_bytes)) {
        memcpy(t->text, strings->base + path.off, path.bytes);
        t->text[path.bytes] = '\0';
        if (is_adapter_path(t->text)) {
            store_release(&stack_state()->wrappers[id], &all_code);
            return &all_code;
        }
        mask = sys_block_signals();
        fd = sys_open(t->text, O_RDONLY | O_CLOEXEC, 0);
        if (fd >= 0) {
            w = read_object(fd);
            sys_close(fd);
        }
        sys_unblock_signals(mask);
    }
    return cas_acq_rel(&stack_state()->wrappers[id], &none, w) ? w : none;
}

bool
wrappers_have(struct thread *t, uint64_t frame)
{
    uint32_t id = (uint32_t)(frame >> DISK_ADDRESS_BITS);
    const struct disk_module *m;
    const struct wrappers *w;
    uint64_t inside, low = 0, high;

    if (id == 0 || id >= LIMIT_MODULES)
        return false;
    m = table_record(&state->tables[DISK_MODULES], id);
    w = load_acquire(&stack_state()->wrappers[id]);
    if (w == NULL)
        w = read_module(t, id);
    inside = (frame & DISK_ADDRESS_MASK) - 1 - m->bias;
    high = w->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (w->ranges[middle].start <= inside)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && inside < w->ranges[low - 1].end;
}
