/* process.c: facts that the kernel passed to this process at its start, read without libc.
 *
 * libc returns these facts through functions that the program may have replaced. A replacement
 * could take a lock and allocate while it holds the lock. Then the program and the recorder would
 * deadlock.
 *
 *     stack, upwards:  argc | arguments | 0 | environment | 0 | auxiliary vector | strings
 *
 * The vector follows the environment with which the process was started, and libc's pointer to that
 * environment is a plain variable. The vector is read there first, because a loader that was
 * started as a command corrects it only there. Before libc is initialised, the dynamic linker's
 * variable for the stack serves the same purpose (process_dynamic.c). If a program moves its
 * environment before the first event, the words after it are no vector. This is recognised because
 * the bytes of AT_RANDOM must be close above the vector. Then the kernel supplies the vector: by
 * prctl since Linux 6.4, before that through /proc.
 *
 * The vector leads to three objects. The first are the program's headers, for the unwinder. The
 * second is the kernel's own object (vdso), which reads the clock without a system call. The third
 * is libc, through the list of objects that the dynamic linker maintains for debuggers. libc is
 * loaded at the start, and that part of the list never shrinks; objects loaded later follow it.
 *
 * All values are process constants, the same for children. Threads that read them concurrently
 * store equal values. */
#include "platform/process.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/atomics.h"
#include "platform/sys.h"
#include "unwind/unwind.h"

enum {
    PAGE_BYTES = 4096,
    TYPES = 64,
    ENTRIES_MAX = 64,
    ABOVE_BYTES = 1 << 16, // Maximum distance in bytes from the vector up to its strings.
};

struct entry {
    uint64_t type, value;
};

static uint64_t values[TYPES]; // Atomic.
static uint32_t known;         // Atomic.
static uint64_t stack_start;   // Atomic: address of argc.
// The loaded libc; its segments are NULL if the search found none.
static struct unwind_object libc;

/* Return true if a complete vector is at V. Only its first word is known to be readable. */
static bool
is_vector(const struct entry *v)
{
    uint64_t random = 0, page_bytes = 0;

    for (uint32_t i = 0; i < ENTRIES_MAX; i++) {
        uint64_t at = (uint64_t)(uintptr_t)&v[i];

        // V is aligned to words, so either word of an entry may begin a page.
        if ((at % PAGE_BYTES == 0 && !sys_is_readable(at)) ||
            ((at + 8) % PAGE_BYTES == 0 && !sys_is_readable(at + 8)))
            return false;
        if (v[i].type == AT_NULL)
            return page_bytes == PAGE_BYTES && random - at < ABOVE_BYTES;
        if (v[i].type == AT_RANDOM)
            random = v[i].value;
        if (v[i].type == AT_PAGESZ)
            page_bytes = v[i].value;
    }
    return false;
}

static void
process_take(const struct entry *v, size_t count)
{
    for (size_t i = 0; i < count && v[i].type != AT_NULL; i++)
        if (v[i].type < TYPES)
            store_relaxed(&values[v[i].type], v[i].value);
}

char **
process_environment(void)
{
    // Use libc's internal name: an old program may define a variable "environ" that libc never
    // sets.
    char **e = __environ;

    return e != NULL ? e : process_first_environment();
}

/* Note the address of argc. ENVIRONMENT is the environment on the stack. The words below it are the
 * pointers to the arguments, in reverse, and argc. A loader that was started as a command may leave
 * an argc that counts its own arguments, so its value is not compared with their number. */
static void
note_stack_start(char **environment)
{
    const uint64_t *word = (const uint64_t *)(const void *)environment - 2; // Skip the 0 between.

    // A program may have set some of the pointers to 0.
    while (*word == 0 || *word > INT32_MAX)
        word--;
    store_relaxed(&stack_start, (uint64_t)(uintptr_t)word);
}

static bool
take_from_stack(void)
{
    char **first = process_environment(), **e = first;

    if (e == NULL)
        return false;
    while (*e != NULL)
        e++;
    e++;
    if (!sys_is_readable((uint64_t)(uintptr_t)e) ||
        !is_vector((const struct entry *)(const void *)e))
        return false;
    process_take((const struct entry *)(const void *)e, ENTRIES_MAX);
    note_stack_start(first);
    return true;
}

/* Read the vector from the kernel. A separate function, because its large frame is rarely
 * needed. */
static COLD bool
take_from_kernel(void)
{
    struct entry v[ENTRIES_MAX];
    long bytes = sys_auxiliary(v, sizeof v);

    if (bytes <= 0)
        return false;
    process_take(v, bytes < (long)sizeof v ? (size_t)bytes / sizeof *v : ENTRIES_MAX);
    return true;
}

/* Set AT_SECURE, the only indispensable value, when there is no vector. */
static void
take_rights(void)
{
    store_relaxed(&values[AT_SECURE], (uint64_t)sys_has_more_rights());
}

/* Find the clock function of the vdso, if it exists. */
static void
find_clock(void)
{
    struct unwind_object vdso;

    if (image_at(load_relaxed(&values[AT_SYSINFO_EHDR]), &vdso))
        sys_use_clock((sys_clock_fn *)image_function(&vdso, "__vdso_clock_gettime"));
}

/* Return the list of objects that the dynamic linker maintains for debuggers; NULL in a static
 * program. */
static const struct r_debug *
find_list(void)
{
    const Elf64_Phdr *s = (const Elf64_Phdr *)(uintptr_t)load_relaxed(&values[AT_PHDR]);
    uint64_t count = load_relaxed(&values[AT_PHNUM]);
    const Elf64_Phdr *own = NULL, *dynamic = NULL;
    const Elf64_Dyn *d = NULL;

    for (uint64_t i = 0; s != NULL && i < count; i++) {
        if (s[i].p_type == PT_PHDR)
            own = &s[i];
        if (s[i].p_type == PT_DYNAMIC)
            dynamic = &s[i];
    }
    // A dynamically linked program has both headers. The address of the headers gives the load
    // bias.
    if (own != NULL && dynamic != NULL)
        d = (const Elf64_Dyn *)((uintptr_t)s - own->p_vaddr + dynamic->p_vaddr);
    for (; d != NULL && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_DEBUG)
            return (const struct r_debug *)(uintptr_t)d->d_un.d_ptr;
    return NULL;
}

static bool
is_libc(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    return slash != NULL && strcmp(slash + 1, "libc.so.6") == 0;
}

static void
find_libc(void)
{
    const struct r_debug *list = find_list();
    const struct link_map *m = list != NULL ? list->r_map : NULL;

    while (m != NULL && !is_libc(m->l_name))
        m = m->l_next;
    if (m != NULL)
        image_at(m->l_addr, &libc);
}

void *
process_libc_function(const char *name)
{
    process_learn();
    return libc.segments != NULL ? image_function(&libc, name) : NULL;
}

COLD void
process_learn(void)
{
    char **e;

    if (load_acquire(&known))
        return;
    if (!take_from_stack() && !take_from_kernel())
        take_rights();
    if (load_relaxed(&stack_start) == 0 && (e = process_first_environment()) != NULL)
        note_stack_start(e);
    find_clock();
    find_libc();
    unwind_begin(&(struct unwind_process){
        .headers = load_relaxed(&values[AT_PHDR]),
        .header_count = load_relaxed(&values[AT_PHNUM]),
        .vdso = load_relaxed(&values[AT_SYSINFO_EHDR]),
        .find_object = libc.segments != NULL ? (int (*)(void *, struct dl_find_object *))
                                                   image_function(&libc, "_dl_find_object")
                                             : NULL,
    });
    store_release(&known, 1u);
}

uint64_t
process_stack_start(void)
{
    return load_relaxed(&stack_start);
}

uint64_t
process_value(uint32_t type)
{
    if (unlikely(!load_acquire(&known)))
        process_learn();
    return load_relaxed(&values[type]);
}
