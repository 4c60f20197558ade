/* ecl_code.c: maps compiled code to Lisp functions.
 *
 * Compiled functions are missing from ECL's own list of frames, but each is a C function. ECL makes
 * its function objects with ecl_make_cfun, which gets the C function and the name. It does so for
 * its own functions at the start, and for a file's functions when the file is loaded. A return
 * address is looked up by the unwind tables, which give the start of its function.
 *
 *     return address ─► heaptap_function_of ─► entry ─► id       (cached by return address)
 *
 * Functions of flet and labels, and lambdas, become static C functions that ECL does not register.
 * Compiled files are not stripped, so the file's symbols have their names (ecl_symbols.c). The
 * symbols are read when the first function of a file is made. At that time none of its code has run
 * and no event is in progress, so the file may be opened.
 *
 * There are two tables of fixed size, written by compare and swap, and read without a lock. When a
 * table is full, further names are lost, and reports show the C frames instead. */
#include "language/ecl_adapter.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomics.h"
#include "heaptap/language.h"
#include "language/gc_record.h"

enum { ENTRIES = 1 << 16, PLACES = 1 << 16, WINDOW = 32, BLOCKS = 512, FILE_BYTES = 1 << 28 };

struct place {
    uint64_t address; // Atomic; 0 = free.
    uint32_t id;      // Atomic; 0 = none.
    uint32_t asof;    // Atomic: value of entry_count when a search found no id.
    uint64_t whole;   // If the entry is a split-off part: start of its function; else 0.
};

static struct place entries[ENTRIES], places[PLACES];
static uint32_t entry_count; // Atomic.

static size_t
hash(uint64_t address)
{
    return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* Return the place of ADDRESS in a table of COUNT places. If the table lacks ADDRESS, return a free
 * place if MAKE, else NULL. */
static struct place *
ecl_code_place_of(struct place *table, size_t count, uint64_t address, bool make)
{
    for (size_t i = 0, at = hash(address); i < WINDOW; i++, at++) {
        struct place *p = &table[at % count];
        uint64_t current = load_acquire(&p->address);

        if (current == address)
            return p;
        if (current == 0 && !make)
            return NULL;
        if (current == 0 && (cas_acq_rel(&p->address, &current, address) || current == address))
            return p;
    }
    return NULL;
}

static void
ecl_code_add_one(uint64_t entry, unsigned id)
{
    struct place *p = ecl_code_place_of(entries, ENTRIES, entry, true);

    if (p == NULL || id == 0)
        return;
    // A function keeps its first name; later names are aliases.
    if (load_relaxed(&p->id) == 0) {
        store_release(&p->id, id);
        add_relaxed(&entry_count, 1u);
    }
}

/* --- Symbols of compiled files ---------------------------------------------------------------- */

static void
name_function(void *base, uint64_t value, const char *name)
{
    ecl_code_add_one(*(const uint64_t *)base + value, ecl_name_of_text(name));
}

static void
ecl_code_add_part(void *base, uint64_t value, uint64_t whole)
{
    struct place *p = ecl_code_place_of(entries, ENTRIES, *(const uint64_t *)base + value, true);

    if (p != NULL)
        p->whole = *(const uint64_t *)base + whole;
}

/* Return a copy of the file FD of SIZE bytes; NULL if the file is unreadable. Mapping the file
 * itself would be unsafe: if another process truncates the file, the mapping loses its pages. */
static void *
copy_of(int fd, size_t size)
{
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    ssize_t n = 0;

    if (p == MAP_FAILED)
        return NULL;
    for (size_t done = 0; done < size; done += (size_t)n) {
        n = pread(fd, p + done, size - done, (off_t)done);
        if (n <= 0) {
            munmap(p, size);
            return NULL;
        }
    }
    return p;
}

static void
ecl_code_open_file(const char *name, uint64_t base)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *p;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= FILE_BYTES) {
        p = copy_of(fd, (size_t)st.st_size);
        if (p != NULL) {
            ecl_symbols_read(p, (size_t)st.st_size, name_function, ecl_code_add_part, &base);
            munmap(p, (size_t)st.st_size);
        }
    }
    close(fd);
}

/* Read the symbols of the file that contains the function ENTRY, unless they were read before. */
static void
look_at_file(const void *entry)
{
    static uint64_t known[BLOCKS]; // Atomic: complemented load addresses of the files whose symbols
                                   // were read.
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
            ecl_code_open_file(info.dli_fname, base);
            break;
        }
    }
    errno = saved;
}

void
ecl_code_add(const void *entry, cl_object name, cl_object block)
{
    static cl_object latest; // Atomic: complemented block of the latest function. It saves most
                             // calls of look_at_file, because ECL makes the functions of one file
                             // in a row.
    cl_object hidden = (cl_object) ~(uintptr_t)block;

    if (!Null(block) && load_relaxed(&latest) != hidden) {
        store_relaxed(&latest, hidden);
        look_at_file(entry);
    }
    ecl_code_add_one((uintptr_t)entry, ecl_name_of(name));
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
    struct place *p = ecl_code_place_of(places, PLACES, pc, true), *entry;
    unsigned id = p != NULL ? load_acquire(&p->id) : 0;

    if (id != 0 || (p != NULL && load_relaxed(&p->asof) == count + 1))
        return id;
    entry = ecl_code_place_of(entries, ENTRIES,
                              (uintptr_t)heaptap_function_of((const void *)(pc - 1)), false);
    if (entry != NULL && entry->whole != 0)
        entry = ecl_code_place_of(entries, ENTRIES, entry->whole, false);
    id = entry != NULL ? load_acquire(&entry->id) : 0;
    if (p != NULL) {
        store_relaxed(&p->asof, count + 1);
        store_release(&p->id, id);
    }
    return id;
}
