/* stub32.c: write an empty shared object for i386, byte by byte.
 *
 * LD_PRELOAD also reaches the 32-bit programs that a recorded program starts. Their dynamic linker
 * would print an error about a 64-bit library on the program's stderr. So the path of each
 * preloaded library contains $PLATFORM (recording.h), which leads a 32-bit dynamic linker to this
 * file.
 *
 * The build may lack a 32-bit compiler or linker, so the command writes the file. Its one segment
 * is
 *
 *     headers, names, hash table, symbol table with the null symbol, dynamic section
 *
 * The segment is writable because the dynamic linker relocates the dynamic section in place.
 * PT_GNU_STACK keeps the program's stack from becoming executable. */
#include "launch/launch.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { PAGE_BYTES = 4096, SEGMENTS = 3, ENTRIES = 7 };

static const char names[] = "\0libheaptap.so";

struct stub32 {
    Elf32_Ehdr header;
    Elf32_Phdr segments[SEGMENTS];
    char names[(sizeof names + 3) / 4 * 4];
    Elf32_Word hash[4]; // One bucket and one chain, both empty.
    Elf32_Sym null_symbol;
    Elf32_Dyn dynamic[ENTRIES];
};

#define AT(field) offsetof(struct stub32, field)

void
stub32_write(struct strbuf *out)
{
    struct stub32 stub = {
        .header =
            {
                .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                .e_type = ET_DYN,
                .e_machine = EM_386,
                .e_version = EV_CURRENT,
                .e_phoff = AT(segments),
                .e_ehsize = sizeof(Elf32_Ehdr),
                .e_phentsize = sizeof(Elf32_Phdr),
                .e_phnum = SEGMENTS,
                .e_shentsize = sizeof(Elf32_Shdr),
            },
        .segments =
            {
                {.p_type = PT_LOAD,
                 .p_filesz = sizeof stub,
                 .p_memsz = sizeof stub,
                 .p_flags = PF_R | PF_W,
                 .p_align = PAGE_BYTES},
                {.p_type = PT_DYNAMIC,
                 .p_offset = AT(dynamic),
                 .p_vaddr = AT(dynamic),
                 .p_paddr = AT(dynamic),
                 .p_filesz = sizeof stub.dynamic,
                 .p_memsz = sizeof stub.dynamic,
                 .p_flags = PF_R | PF_W,
                 .p_align = sizeof(Elf32_Word)},
                {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16},
            },
        .hash = {1, 1},
        .dynamic =
            {
                {DT_SONAME, {1}},
                {DT_HASH, {AT(hash)}},
                {DT_STRTAB, {AT(names)}},
                {DT_STRSZ, {sizeof names}},
                {DT_SYMTAB, {AT(null_symbol)}},
                {DT_SYMENT, {sizeof(Elf32_Sym)}},
                {DT_NULL, {0}},
            },
    };

    static_assert(sizeof stub == AT(dynamic) + sizeof stub.dynamic, "the file has no gaps");
    memcpy(stub.names, names, sizeof names);
    strbuf_add(out, (const char *)&stub, sizeof stub);
}
