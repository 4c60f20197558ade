/* ecl_code.c: which Lisp functions compiled code is.
 *
 * Compiled functions leave no trace in ECL's own list of frames, but each is a C function, and ECL
 * makes its function objects by ecl_make_cfun with the C function and the name: those of ECL itself
 * when it starts, those of a file when it is loaded. What a return address is in begins where the
 * unwind tables say; that is looked up here.
 *
 *     return address ─► heaptap_function_of ─► entry ─► id       (kept by return address)
 *
 * Functions of flet and labels and lambdas become static C functions of which ECL is told nothing.
 * Compiled files are not stripped, so their names are in the file's symbols: LC4inner and
 * LC2__lambda1. They are read when the first function of a file is made. That is before any of its
 * code runs, and
 * outside of all events, so it may open the file.
 *
 * Two tables with fixed places, written by compare and swap, read without a lock. A full one loses
 * names: then frames of C are shown.
 */
#include "language/ecl_code.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomics.h"
#include "heaptap/language.h"
#include "language/ecl_names.h"
#include "language/gc_record.h"

enum { ENTRIES = 1 << 16, PLACES = 1 << 16, WINDOW = 32, BLOCKS = 512, NAME_BYTES = 200 };

struct place {
    uint64_t address; // Atomic; 0 = free.
    uint32_t id;      // Atomic; 0 = none.
    uint32_t asof;    // Atomic: how many entries there were when it had none.
    uint64_t whole;   // Of an entry that is a part of a function: where that begins; else 0.
};

static struct place entries[ENTRIES], places[PLACES];
static uint32_t entry_count; // Atomic.

static size_t
hash(uint64_t address)
{
    return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* The place of ADDRESS in a table of COUNT, or a free one for it if MAKE; else NULL. */
static struct place *
place_of(struct place *table, size_t count, uint64_t address, bool make)
{
    for (size_t i = 0, at = hash(address); i < WINDOW; i++, at++) {
        struct place *p = &table[at % count];
        uint64_t there = load_acquire(&p->address);

        if (there == address)
            return p;
        if (there == 0 && !make)
            return NULL;
        if (there == 0 && (cas_acq_rel(&p->address, &there, address) || there == address))
            return p;
    }
    return NULL;
}

static void
add(uint64_t entry, unsigned id)
{
    struct place *p = place_of(entries, ENTRIES, entry, true);

    if (p == NULL || id == 0)
        return;
    // The first name of a function is its own; others are names that it was given later.
    if (load_relaxed(&p->id) == 0) {
        store_release(&p->id, id);
        add_relaxed(&entry_count, 1u);
    }
}

/* --- Symbols of compiled files ---------------------------------------------------------------- */

/* LC4make_tree is MAKE-TREE, and LC2__lambda1 a lambda. False: another name. */
static bool
local_name(const char *symbol, size_t max, char text[NAME_BYTES])
{
    size_t n = 0, i = 2;

    if (max < 4 || symbol[0] != 'L' || symbol[1] != 'C')
        return false;
    while (i < max && symbol[i] >= '0' && symbol[i] <= '9')
        i++;
    if (i == 2)
        return false;
    if (max - i >= 8 && memcmp(symbol + i, "__lambda", 8) == 0) {
        memcpy(text, "LAMBDA", 7);
        return true;
    }
    for (; i < max && symbol[i] != '\0' && symbol[i] != '.' && n < NAME_BYTES - 1; i++, n++) {
        char c = symbol[i];

        text[n] = (char)(c == '_' ? '-' : c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    text[n] = '\0';
    return n > 0;
}

/* The compiler may make two functions of one; L4make_tree.part.0 belongs to L4make_tree. */
static void
add_part(const Elf64_Sym *s, size_t count, size_t i, const char *texts, size_t text_bytes,
         uint64_t base)
{
    const char *name = texts + s[i].st_name;
    size_t max = text_bytes - s[i].st_name, n = 0;
    struct place *p;

    while (n < max && name[n] != '\0' && name[n] != '.')
        n++;
    if (n == 0 || n == max || name[n] != '.' || name[0] != 'L')
        return;
    for (size_t j = 0; j < count; j++) {
        if (s[j].st_name >= text_bytes || text_bytes - s[j].st_name <= n ||
            memcmp(texts + s[j].st_name, name, n) != 0 || texts[s[j].st_name + n] != '\0')
            continue;
        p = place_of(entries, ENTRIES, base + s[i].st_value, true);
        if (p != NULL)
            p->whole = base + s[j].st_value;
        return;
    }
}

/* The COUNT symbols at S, with names in TEXTS of TEXT_BYTES, of a file loaded at BASE. */
static void
read_symbols(const Elf64_Sym *s, size_t count, const char *texts, size_t text_bytes, uint64_t base)
{
    char text[NAME_BYTES];

    for (size_t i = 0; i < count; i++) {
        if (ELF64_ST_TYPE(s[i].st_info) != STT_FUNC || s[i].st_value == 0 ||
            s[i].st_name >= text_bytes)
            continue;
        if (local_name(texts + s[i].st_name, text_bytes - s[i].st_name, text))
            add(base + s[i].st_value, ecl_name_of_text(text));
        else
            add_part(s, count, i, texts, text_bytes, base);
    }
}

/* FILE of SIZE bytes is all there; nothing that it says is trusted. */
static void
read_file(const unsigned char *file, size_t size, uint64_t base)
{
    const Elf64_Ehdr *h = (const void *)file;
    const Elf64_Shdr *sections;

    if (size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
        h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_shoff > size || h->e_shoff % 8 != 0 ||
        (size - h->e_shoff) / sizeof *sections < h->e_shnum)
        return;
    sections = (const void *)(file + h->e_shoff);
    for (size_t i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i], *t;

        if (s->sh_type != SHT_SYMTAB || s->sh_link >= h->e_shnum)
            continue;
        t = &sections[s->sh_link];
        if (s->sh_offset > size || s->sh_size > size - s->sh_offset || s->sh_offset % 8 != 0 ||
            t->sh_offset > size || t->sh_size > size - t->sh_offset)
            continue;
        read_symbols((const void *)(file + s->sh_offset), s->sh_size / sizeof(Elf64_Sym),
                     (const char *)file + t->sh_offset, t->sh_size, base);
    }
}

static void
open_file(const char *name, uint64_t base)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *p;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) {
            read_file(p, (size_t)st.st_size, base);
            munmap(p, (size_t)st.st_size);
        }
    }
    close(fd);
}

/* ENTRY is the first function that is known of a file: which one is it? */
static void
look_at_file(const void *entry)
{
    static uint64_t known[BLOCKS]; // Atomic: complemented addresses of files.
    int saved = errno;
    Dl_info info;

    if (dladdr(entry, &info) != 0 && info.dli_fname != NULL) {
        uint64_t base = (uintptr_t)info.dli_fbase;

        for (size_t i = 0; i < BLOCKS; i++) {
            uint64_t none = 0;

            if (load_relaxed(&known[i]) == ~base)
                break;
            if (load_relaxed(&known[i]) != 0 || !cas_acq_rel(&known[i], &none, ~base))
                continue;
            gc_runtime_code(entry, NULL);
            open_file(info.dli_fname, base);
            break;
        }
    }
    errno = saved;
}

void
ecl_code_add(const void *entry, cl_object name, cl_object block)
{
    static cl_object latest; // Atomic, complemented: mostly they come file by file.
    cl_object hidden = (cl_object) ~(uintptr_t)block;

    if (!Null(block) && load_relaxed(&latest) != hidden) {
        store_relaxed(&latest, hidden);
        look_at_file(entry);
    }
    add((uintptr_t)entry, ecl_name_of(name));
}

bool
ecl_code_begun(void)
{
    return load_acquire(&entry_count) != 0;
}

/* --- Looking up ------------------------------------------------------------------------------- */

unsigned
ecl_code_of(unsigned long pc)
{
    uint32_t count = load_acquire(&entry_count);
    struct place *p = place_of(places, PLACES, pc, true), *entry;
    unsigned id = p != NULL ? load_acquire(&p->id) : 0;

    if (id != 0 || (p != NULL && load_relaxed(&p->asof) == count + 1))
        return id;
    entry = place_of(entries, ENTRIES, (uintptr_t)heaptap_function_of((const void *)(pc - 1)),
                     false);
    if (entry != NULL && entry->whole != 0)
        entry = place_of(entries, ENTRIES, entry->whole, false);
    id = entry != NULL ? load_acquire(&entry->id) : 0;
    if (p != NULL) {
        store_relaxed(&p->asof, count + 1);
        store_release(&p->id, id);
    }
    return id;
}
