/* object_static.c: find the object that covers an address, in a program without a dynamic linker.
 *
 * A static executable is one object, and the kernel's vdso is the other. The kernel passes their
 * addresses at the start (AT_PHDR, AT_SYSINFO_EHDR), so this file needs no libc and serves both
 * glibc and musl. It replaces object_dynamic.c of the preloaded recorder.
 *
 * Invariant: the results never change, so two threads that initialise them concurrently store equal
 * words.
 *
 * Does not cover objects that a static program loads by dlopen (glibc does so for user and host
 * names and for character sets): such code counts as code without an object. It uses a separate
 * libc, whose malloc is not intercepted either.
 *
 * PT_GNU_EH_FRAME locates the unwind tables. A static link creates it only on request; the link
 * options for libheaptap_static.a request it.
 *
 * Signal-safe. */
#include "unwind/object.h"

#include <elf.h>
#include <link.h>


/* Both objects, with the names that the dynamic linker gives them. */
static char program_name[] = "", vdso_name[] = "linux-vdso.so.1";
static struct link_map maps[2] = {{.l_name = program_name}, {.l_name = vdso_name}};
static struct unwind_object objects[2];

/* Return the load bias of the object with COUNT program headers at HEADERS. The headers either
 * contain their own linked address, or follow the file's header in the first segment. */
static uint64_t
object_bias_of(const Elf64_Phdr *headers, uint64_t count)
{
    uint64_t at = (uint64_t)(uintptr_t)headers;
    uint64_t bias = 0;

    for (uint64_t i = 0; i < count; i++) {
        if (headers[i].p_type == PT_PHDR)
            return at - headers[i].p_vaddr;
        if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0)
            bias = at - sizeof(Elf64_Ehdr) - headers[i].p_vaddr;
    }
    return bias;
}

static void
object_describe(uint32_t index, const Elf64_Phdr *headers, uint64_t count)
{
    uint64_t bias = object_bias_of(headers, count);
    struct unwind_object o = {
        .start = UINT64_MAX,
        .link_map = &maps[index],
        .segments = headers,
        .segment_count = (uint32_t)count,
        .bias = bias,
    };

    for (uint64_t i = 0; i < count; i++) {
        uint64_t start = headers[i].p_vaddr + bias;

        if (headers[i].p_type == PT_GNU_EH_FRAME)
            o.eh_frame_hdr = (const uint8_t *)(uintptr_t)start;
        if (headers[i].p_type != PT_LOAD)
            continue;
        if (round_down(start, 4096) < o.start)
            o.start = round_down(start, 4096);
        if (start + headers[i].p_memsz > o.end)
            o.end = start + headers[i].p_memsz;
    }
    maps[index].l_addr = bias;
    objects[index] = o;
}

void
unwind_begin(const struct unwind_process *p)
{
    const Elf64_Phdr *headers = (const Elf64_Phdr *)(uintptr_t)p->headers;
    const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)(uintptr_t)p->vdso;

    if (headers != NULL)
        object_describe(0, headers, p->header_count);
    if (vdso != NULL)
        object_describe(1, (const Elf64_Phdr *)((uintptr_t)vdso + vdso->e_phoff), vdso->e_phnum);
}

bool
unwind_find_object(uint64_t address, struct unwind_object *ret_object)
{
    for (uint32_t i = 0; i < countof(objects); i++) {
        if (address >= objects[i].start && address < objects[i].end) {
            *ret_object = objects[i];
            return true;
        }
    }
    return false;
}

const void *
unwind_identity(uint64_t address, uint64_t *ret_start)
{
    struct unwind_object o;

    if (!unwind_find_object(address, &o))
        return NULL;
    *ret_start = o.start;
    return o.link_map;
}
