/* dwfl.c: opens a module's ELF file, finds its debug information, and answers "which frames are
 * here?".
 *
 * Together with debuginfo.c the only user of elfutils. Two rules govern it:
 *
 * Right file or none. A recorded build id must equal the file's; names from a rebuilt program would
 * be plausible and wrong. The places asked are, in order, the recorded path, the same path below
 * the process's own root (containers; only as long as it runs), and the debug file of that build
 * id, which carries the symbol table and everything else needed.
 *
 * Nothing before it is needed. Opening reads the headers only; debug information (separate files,
 * .gnu_debuglink, .gnu_debugaltlink, .gnu_debugdata, and a server if DEBUGINFOD_URLS is set: all
 * libdwfl's doing) is looked for when the first frames are asked for, symbols when the first frame
 * lacks a name.
 *
 * Symbols: of those whose [value, value + size) covers the address the innermost, then the best
 * name. Assembler labels without size cover what lies between them and the next symbol of their
 * section. An address in no symbol gets no name, however near the next one is.
 */
#include "symbol/dwfl.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/debuginfo.h"
#include "symbol/demangle.h"
#include "symbol/ranges.h"
#include "util/map.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct symbol {
    const char *name;
    uint64_t low;
    bool sized;
    uint8_t rank; // Larger is better: binding and type.
};

struct object {
    struct arena arena;
    Dwfl *dwfl;
    Dwfl_Module *module;
    bool debug_loaded;           // debug, debug_bias and detail are set.
    struct debuginfo *debug;     // NULL if there is none.
    Dwarf_Addr debug_bias;       // Address in the file minus address in its DWARF.
    enum symbol_detail detail;
    bool symbols_loaded;
    struct symbol *symbols;
    size_t symbol_count, symbol_capacity;
    struct ranges symbol_ranges; // To indices of symbols.
    struct map names;            // Address of a linkage name to the demangled one's.
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

static struct object *open_file(const char *path, const struct profile_module *m,
                                struct object_failure *ret);
static char *debug_path(struct arena *arena, const struct profile_module *m);
static void load_debug(struct object *o);
static void load_symbols(struct object *o);
static const struct symbol *symbol_at(struct object *o, uint64_t address);
static const char *demangled(struct object *o, const char *linkage);

struct object *
object_open(const struct profile_module *m, uint32_t pid, struct object_failure *ret_failure)
{
    struct arena scratch = {0};
    struct object_failure ignored;
    struct object *o = open_file(m->path, m, ret_failure);

    if (o == NULL && m->build_id_bytes > 1) {
        if (pid != 0 && m->path[0] == '/')
            o = open_file(arena_printf(&scratch, "/proc/%u/root%s", pid, m->path), m, &ignored);
        if (o == NULL)
            o = open_file(debug_path(&scratch, m), m, &ignored);
    }
    if (o != NULL)
        *ret_failure = (struct object_failure){0};
    arena_release(&scratch);
    return o;
}

enum symbol_detail
object_detail(struct object *o)
{
    load_debug(o);
    return o->detail;
}

void
object_close(struct object *o)
{
    if (o == NULL)
        return;
    debuginfo_close(o->debug);
    dwfl_end(o->dwfl);
    map_release(&o->names);
    arena_release(&o->arena);
    free(o);
}

/* Complete frame RAW at the file's address RAW->entry, or ADDRESS if that is not known and
 * PHYSICAL. */
static void
finish_frame(struct object *o, const struct debug_frame *raw, uint64_t address,
             struct symbol_frame *frame)
{
    const struct symbol *s = NULL;
    const char *linkage;

    *frame = raw->frame;
    if (frame->linkage == NULL && (raw->entry != 0 || !frame->inlined))
        s = symbol_at(o, raw->entry != 0 ? raw->entry + o->debug_bias : address);
    if (frame->linkage == NULL && s == NULL) {
        frame->linkage = frame->function;
        return;
    }
    if (frame->linkage == NULL)
        frame->linkage = s->name;
    linkage = frame->linkage;
    // The parts the compiler made of one function are that function, where DWARF told so.
    if (frame->function != NULL && s != NULL)
        linkage = demangle_strip_clone(&o->arena, linkage);
    if (frame->function == NULL || strncmp(linkage, "_Z", 2) == 0)
        frame->function = demangled(o, linkage);
}

size_t
object_frames(struct object *o, uint64_t address, struct symbol_frame frames[SYMBOL_FRAMES_MAX])
{
    struct debug_frame raw[SYMBOL_FRAMES_MAX];
    size_t count = 0;

    load_debug(o);
    if (o->debug != NULL)
        count = debuginfo_frames(o->debug, address - o->debug_bias, raw);
    if (count == 0) {
        raw[0] = (struct debug_frame){0};
        count = 1;
    }
    for (size_t i = 0; i < count; i++)
        finish_frame(o, &raw[i], address, &frames[i]);
    return count;
}

/* The file PATH read-only, or -1 with *RET set. Never blocks on a FIFO and never opens a device's
 * data: a profile from elsewhere may name anything. */
static int
open_regular(const char *path, struct object_failure *ret)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    *ret = (struct object_failure){.state = OBJECT_UNREADABLE};
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            ret->state = OBJECT_MISSING;
        ret->reason = errno == EACCES ? "permission denied" : "it cannot be opened";
        return -1;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    ret->reason = "not a regular file";
    close(fd);
    return -1;
}

/* Whether the file's build id is the recorded one, or none was recorded. */
static bool
is_recorded_file(Dwfl_Module *module, const struct profile_module *m, struct object_failure *ret)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    const void *id = NULL;
    ssize_t bytes = elf != NULL ? dwelf_elf_gnu_build_id(elf, &id) : -1;

    if (m->build_id_bytes == 0)
        return true;
    if (bytes == (ssize_t)m->build_id_bytes && memcmp(id, m->build_id, (size_t)bytes) == 0)
        return true;
    *ret = (struct object_failure){.state = OBJECT_CHANGED};
    if (bytes > 0 && bytes <= PROFILE_BUILD_ID_MAX) {
        memcpy(ret->build_id, id, (size_t)bytes);
        ret->build_id_bytes = (uint32_t)bytes;
    }
    return false;
}

static struct object *
open_file(const char *path, const struct profile_module *m, struct object_failure *ret)
{
    int fd = open_regular(path, ret);
    Dwfl *dwfl;
    Dwfl_Module *module;
    struct object *o;

    if (fd < 0)
        return NULL;
    dwfl = dwfl_begin(&callbacks);
    module = dwfl != NULL ? dwfl_report_elf(dwfl, path, path, fd, 0, true) : NULL;
    if (module == NULL) {
        // The descriptor became libdwfl's only with success.
        close(fd);
        ret->reason = "not an ELF file";
    } else {
        dwfl_report_end(dwfl, NULL, NULL);
    }
    if (module == NULL || !is_recorded_file(module, m, ret)) {
        dwfl_end(dwfl);
        return NULL;
    }
    o = xmalloc(sizeof *o);
    *o = (struct object){.dwfl = dwfl, .module = module};
    return o;
}

/* Where distributions install the debug file of M's build id. */
static char *
debug_path(struct arena *arena, const struct profile_module *m)
{
    char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";

    for (uint32_t i = 1; i < m->build_id_bytes && i < PROFILE_BUILD_ID_MAX; i++)
        snprintf(hex + 2 * (i - 1), 3, "%02x", m->build_id[i]);
    return arena_printf(arena, DEBUG_ROOT "/.build-id/%02x/%s.debug", m->build_id[0], hex);
}

/* Whether ELF has a section of that NAME (NULL = any) and TYPE (0 = any). */
static bool
has_section(Elf *elf, const char *name, GElf_Word type)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *found;

        if (gelf_getshdr(section, &header) == NULL || (type != 0 && header.sh_type != type))
            continue;
        found = elf_strptr(elf, names, header.sh_name);
        if (name == NULL || (found != NULL && strcmp(found, name) == 0))
            return true;
    }
    return false;
}

static void
load_debug(struct object *o)
{
    Dwarf *dwarf;
    GElf_Addr bias;
    Elf *elf;

    if (o->debug_loaded)
        return;
    o->debug_loaded = true;
    dwarf = dwfl_module_getdwarf(o->module, &o->debug_bias);
    if (dwarf != NULL)
        o->debug = debuginfo_open(dwarf, &o->arena);
    elf = dwfl_module_getelf(o->module, &bias);
    if (o->debug != NULL && debuginfo_has_code(o->debug))
        o->detail = DETAIL_DEBUG;
    else if (elf != NULL && has_section(elf, NULL, SHT_SYMTAB))
        o->detail = DETAIL_SYMBOLS;
    else if (dwfl_module_getsymtab(o->module) > 1)
        o->detail = DETAIL_EXPORTS;
}

/* End of the section SHNDX of ELF in the main file's addresses; 0 if it is not a real section. */
static uint64_t
section_end(Elf *elf, GElf_Word shndx, uint64_t bias)
{
    GElf_Shdr header;
    Elf_Scn *section;

    if (elf == NULL || shndx == SHN_UNDEF || shndx >= SHN_LORESERVE)
        return 0;
    section = elf_getscn(elf, shndx);
    if (section == NULL || gelf_getshdr(section, &header) == NULL)
        return 0;
    return header.sh_addr + header.sh_size + bias;
}

static bool
names_code(unsigned type, const char *name)
{
    if (name == NULL || name[0] == '\0')
        return false;
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static void
add_symbol(struct object *o, int index)
{
    GElf_Sym sym = {0};
    GElf_Addr low = 0;
    GElf_Word shndx = SHN_UNDEF;
    Elf *elf = NULL;
    Dwarf_Addr bias = 0;
    const char *name = dwfl_module_getsym_info(o->module, index, &sym, &low, &shndx, &elf, &bias);
    struct symbol s = { .name = name, .low = low, .sized = sym.st_size != 0 };
    unsigned type = GELF_ST_TYPE(sym.st_info);

    if (!names_code(type, name) || shndx == SHN_UNDEF)
        return;
    s.rank = (uint8_t)((type != STT_NOTYPE) << 2);
    if (GELF_ST_BIND(sym.st_info) == STB_GLOBAL)
        s.rank |= 2;
    else if (GELF_ST_BIND(sym.st_info) == STB_WEAK)
        s.rank |= 1;
    ranges_add(&o->symbol_ranges, &o->arena, low,
               s.sized ? low + sym.st_size : section_end(elf, shndx, bias),
               (uint32_t)o->symbol_count);
    arena_grow(&o->arena, &o->symbols, &o->symbol_capacity, o->symbol_count, sizeof *o->symbols);
    o->symbols[o->symbol_count++] = s;
}

/* A label without size reaches to the next symbol at most. */
static void
clip_labels(struct object *o)
{
    struct ranges *r = &o->symbol_ranges;
    uint64_t next = UINT64_MAX; // Low of the nearest range that begins above the current one.

    for (size_t i = r->count; i-- > 0;) {
        if (i + 1 < r->count && r->v[i + 1].low > r->v[i].low)
            next = r->v[i + 1].low;
        if (!o->symbols[r->v[i].id].sized && r->v[i].high > next)
            r->v[i].high = next;
    }
}

static void
load_symbols(struct object *o)
{
    int count;

    if (o->symbols_loaded)
        return;
    o->symbols_loaded = true;
    count = dwfl_module_getsymtab(o->module);
    for (int i = 1; i < count; i++)
        add_symbol(o, i);
    ranges_sort(&o->symbol_ranges, &o->arena);
    clip_labels(o);
    ranges_sort(&o->symbol_ranges, &o->arena);
}

/* Whether A is a better name than B for an address both cover. */
static bool
is_better(const struct symbol *a, const struct symbol *b)
{
    size_t underscores_a = strspn(a->name, "_");
    size_t underscores_b = strspn(b->name, "_");

    if (a->sized != b->sized)
        return a->sized;
    if (a->low != b->low)
        return a->low > b->low;
    if (a->rank != b->rank)
        return a->rank > b->rank;
    if (underscores_a != underscores_b)
        return underscores_a < underscores_b;
    return strcmp(a->name, b->name) < 0;
}

static const struct symbol *
symbol_at(struct object *o, uint64_t address)
{
    const struct symbol *best = NULL;
    const struct range *r;
    size_t cursor;

    load_symbols(o);
    cursor = ranges_start(&o->symbol_ranges, address);
    while ((r = ranges_next(&o->symbol_ranges, address, &cursor)) != NULL) {
        const struct symbol *s = &o->symbols[r->id];

        if (best == NULL || is_better(s, best))
            best = s;
    }
    return best;
}

/* LINKAGE demangled, once for each place it stands at. */
static const char *
demangled(struct object *o, const char *linkage)
{
    bool is_new;
    uint64_t *name = map_put(&o->names, (uintptr_t)linkage, &is_new);

    if (is_new)
        *name = (uintptr_t)demangle(&o->arena, linkage);
    return (const char *)(uintptr_t)*name;
}

static bool
exists(const char *path)
{
    return access(path, R_OK) == 0;
}

/* Whether the file that ELF's .gnu_debuglink names is in one of the usual places for PATH. */
static bool
debug_link_exists(Elf *elf, const char *path)
{
    struct arena scratch = {0};
    GElf_Word crc;
    const char *link = dwelf_elf_gnu_debuglink(elf, &crc);
    const char *slash = strrchr(path, '/');
    bool found = false;

    if (link != NULL && slash != NULL) {
        int length = (int)(slash - path);

        found = exists(arena_printf(&scratch, "%.*s/%s", length, path, link))
                || exists(arena_printf(&scratch, "%.*s/.debug/%s", length, path, link))
                || exists(arena_printf(&scratch, DEBUG_ROOT "%.*s/%s", length, path, link));
    }
    arena_release(&scratch);
    return found;
}

bool
object_debug_exists(const struct profile_module *m)
{
    struct object_failure ignored;
    struct arena scratch = {0};
    bool found = m->build_id_bytes > 1 && exists(debug_path(&scratch, m));
    struct object *o = found ? NULL : open_file(m->path, m, &ignored);

    if (o != NULL) {
        GElf_Addr bias;
        Elf *elf = dwfl_module_getelf(o->module, &bias);

        found = elf != NULL && (has_section(elf, ".debug_info", 0)
                                || has_section(elf, ".zdebug_info", 0)
                                || debug_link_exists(elf, m->path));
    }
    object_close(o);
    arena_release(&scratch);
    return found;
}
