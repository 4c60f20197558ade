/* function_start.c: find the start of functions in unwind tables.
 *
 * A stripped file lacks the names of its functions, but keeps the tables for exceptions and
 * unwinding. These have an entry with the address range of each function, and so show which calls
 * are in the same function. A part that the compiler moved away (.cold) has a separate entry and
 * counts as a function.
 *
 * The recorder's parser (unwind/cfi.h) reads the tables. It expects them at their loaded addresses;
 * here they are in the segment as libelf mapped it. Offsets in the tables are self-relative, so any
 * address works. Other segments are not mapped, and the parser does not read them. If a program's
 * tables have absolute addresses, which no current linker writes, no starts are found. */
#include "symbol/function_start.h"

#include <gelf.h>
#include <string.h>

#include "unwind/cfi.h"

/* Return true if the file has contents. A debug file has the headers of its original without the
 * contents. */
static bool
has_contents(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL && (header.sh_flags & SHF_EXECINSTR) != 0 &&
            header.sh_type == SHT_NOBITS)
            return false;
    return true;
}

/* Set *RET to the segment whose file-backed part contains ADDRESS. Return false if there is
 * none. */
static bool
find_segment(Elf *elf, size_t count, uint64_t address, GElf_Phdr *ret)
{
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, ret) != NULL && ret->p_type == PT_LOAD &&
            address >= ret->p_vaddr && address - ret->p_vaddr < ret->p_filesz)
            return true;
    return false;
}

void
function_starts_open(Elf *elf, struct function_starts *ret)
{
    GElf_Phdr tables = {0}, segment;
    Elf_Data *data;
    size_t count;

    *ret = (struct function_starts){0};
    if (elf == NULL || elf_getphdrnum(elf, &count) != 0 || !has_contents(elf))
        return;
    for (size_t i = 0; i < count && tables.p_type != PT_GNU_EH_FRAME; i++)
        if (gelf_getphdr(elf, (int)i, &tables) == NULL)
            return;
    if (tables.p_type != PT_GNU_EH_FRAME || !find_segment(elf, count, tables.p_vaddr, &segment))
        return;
    data = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz, ELF_T_BYTE);
    if (data == NULL || data->d_buf == NULL)
        return;
    ret->object.start = (uint64_t)(uintptr_t)data->d_buf;
    ret->object.end = ret->object.start + data->d_size;
    ret->object.eh_frame_hdr =
        (const uint8_t *)data->d_buf + (size_t)(tables.p_vaddr - segment.p_vaddr);
    ret->bias = ret->object.start - segment.p_vaddr;
}

uint64_t
function_start(const struct function_starts *s, uint64_t address)
{
    struct cfi_function f;

    if (s->object.eh_frame_hdr == NULL ||
        cfi_find(address + s->bias, &s->object, &f) != CFI_FOUND)
        return 0;
    // A damaged entry may wrap around the end of the address space.
    return f.begin - s->bias <= address ? f.begin - s->bias : 0;
}
