/* function_start.c: asks the unwind tables where functions begin.
 *
 * A stripped file has lost the names of its functions, but not the tables that exceptions and
 * unwinding need: an entry for each function, from its first address to its last. So calls in one
 * function can be told to be in one. A part that the compiler has moved away (.cold) has an entry
 * of its own and counts as a function.
 *
 * The tables are read by the recorder's own parser (unwind/cfi.h). It reads them as loaded: here
 * "loaded" is the one segment with the tables, where libelf has it. Offsets in it are relative to
 * themselves, so it may lie anywhere. What lies in other segments is not there and is not read. A
 * program whose tables have plain addresses, as no linker in use makes them, has no starts.
 */
#include "symbol/function_start.h"

#include <gelf.h>
#include <string.h>

#include "unwind/cfi.h"

/* A debug file has the headers of what it was split from, without the contents. */
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

/* Set *RET to the segment of ELF that has ADDRESS in the part that the file holds. */
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
    // A function that is said to go round the end of the address space is none.
    return f.begin - s->bias <= address ? f.begin - s->bias : 0;
}
