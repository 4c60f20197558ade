/* hook_stub.c: write a shared library of stubs, byte by byte.
 *
 * A preloaded library can define only names known when it was linked. So each run writes a library
 * for the names that its user chose. For each name it has a dynamic symbol and a stub, which passes
 * the address of its slot and jumps to the recorder's entry (base/hook_slot.h). It has two
 * segments:
 *
 *     code   header, program headers, names, hash table, relocation, stubs, resolvers, unwind data
 *     data   dynamic section, address of the recorder's table, symbols, slots
 *
 * A page behind the segments, which is not loaded, has the marks. One unwind table covers all
 * stubs: a stub has no frame, so a signal handler that interrupts it can unwind to its caller.
 *
 * The reference to the recorder's table is weak, because the loader ends a program that lacks a
 * strong one, and the recorder may fail to load where this library does not. To make that unlikely,
 * the file's permissions match the recorder's. */
#include "launch/hooks.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STUB_BYTES = HOOK_STUB_BYTES,
    BEGIN_BYTES = 64,
    PAGE_BYTES = 4096,
    SEGMENTS = 5,
    TABLE_SYMBOL = 1,
    FIRST_SYMBOL = 2,
};

/* The file being written, and the offset of each part. Offsets equal addresses. */
struct image {
    struct strbuf bytes;
    size_t names, names_end, hash, relocation, stubs, begin, unwind_header, unwind_header_bytes;
    size_t code_end, data, dynamic, table, symbols, slots, data_end, marks;
};

static void
add_bytes(struct image *i, const void *data, size_t size_bytes)
{
    strbuf_add(&i->bytes, data, size_bytes);
}

static void
add_u32(struct image *i, uint32_t n)
{
    add_bytes(i, &n, sizeof n);
}

static size_t
align_to(struct image *i, size_t align)
{
    while (i->bytes.length % align != 0)
        strbuf_char(&i->bytes, '\0');
    return i->bytes.length;
}

static void
hook_stub_put(struct image *i, size_t off, const void *data, size_t size_bytes)
{
    memcpy(i->bytes.text + off, data, size_bytes);
}

/* --- Names ------------------------------------------------------------------------------------ */

static uint32_t
hook_stub_hash_of(const char *name)
{
    uint32_t h = 0;

    for (; *name != '\0'; name++) {
        h = (h << 4) + (unsigned char)*name;
        h ^= (h & 0xf0000000) >> 24;
        h &= 0x0fffffff;
    }
    return h;
}

static void
add_names(struct image *i, const struct hook_list *list)
{
    i->names = i->bytes.length;
    strbuf_char(&i->bytes, '\0');
    add_bytes(i, HOOK_TABLE, sizeof HOOK_TABLE);
    for (size_t k = 0; k < list->count; k++)
        add_bytes(i, list->hooks[k].symbol, strlen(list->hooks[k].symbol) + 1);
    i->names_end = i->bytes.length;
}

static void
add_hash(struct image *i, const struct hook_list *list)
{
    uint32_t buckets = (uint32_t)list->count, count = FIRST_SYMBOL + (uint32_t)list->count;
    uint32_t *words = xmalloc((2 + buckets + count) * sizeof *words);

    memset(words, 0, (2 + buckets + count) * sizeof *words);
    words[0] = buckets;
    words[1] = count;
    for (uint32_t k = FIRST_SYMBOL; k < count; k++) {
        uint32_t *bucket =
            &words[2 + hook_stub_hash_of(list->hooks[k - FIRST_SYMBOL].symbol) % buckets];

        words[2 + buckets + k] = *bucket;
        *bucket = k;
    }
    i->hash = align_to(i, 8);
    add_bytes(i, words, (2 + buckets + count) * sizeof *words);
    free(words);
}

static size_t
hook_stub_name_of(const struct image *i, const struct hook_list *list, size_t index)
{
    size_t off = i->names + 1 + sizeof HOOK_TABLE;

    for (size_t k = 0; k < index; k++)
        off += strlen(list->hooks[k].symbol) + 1;
    return off;
}

/* --- Code ------------------------------------------------------------------------------------- */

static size_t
slot_of(const struct image *i, size_t index)
{
    return i->slots + index * sizeof(struct hook_slot);
}

/* Write stub POSITION, which jumps to ENTRY of the table with slot INDEX:
 * endbr64; lea SLOT(%rip),%r9; mov TABLE(%rip),%rax; jmp *8*ENTRY(%rax) */
static void
put_stub(struct image *i, size_t position, size_t index, enum hook_shape entry)
{
    static const unsigned char code[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x4c, 0x8d, 0x0d, 0,
                                         0,    0,    0,    0x48, 0x8b, 0x05, 0,    0,
                                         0,    0,    0xff, 0xa0, 0,    0,    0,    0};
    enum { LEA = 7, MOV = 14, JMP = 20 };
    size_t at = i->stubs + position * STUB_BYTES;
    int32_t slot = (int32_t)(slot_of(i, index) - (at + LEA + 4));
    int32_t table = (int32_t)(i->table - (at + MOV + 4));
    int32_t offset = (int32_t)(8 * entry);

    hook_stub_put(i, at, code, sizeof code);
    hook_stub_put(i, at + LEA, &slot, 4);
    hook_stub_put(i, at + MOV, &table, 4);
    hook_stub_put(i, at + JMP, &offset, 4);
}

/* Write the initialisation function:
 * endbr64; lea STUBS(%rip),%rdi; mov COUNT,%esi; lea SLOTS(%rip),%r9; mov TABLE(%rip),%rax;
 * test %rax,%rax; je to the ret; jmp *8*HOOK_BEGIN(%rax); ret */
static void
put_begin(struct image *i, uint32_t count)
{
    static const unsigned char code[] = {
        0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8d, 0x3d, 0,    0,    0,    0,    0xbe, 0, 0,
        0,    0,    0x4c, 0x8d, 0x0d, 0,    0,    0,    0,    0x48, 0x8b, 0x05, 0, 0,
        0,    0,    0x48, 0x85, 0xc0, 0x74, 0x06, 0xff, 0xa0, 0,    0,    0,    0, 0xc3};
    enum { STUBS = 7, COUNT = 12, SLOTS = 19, TABLE = 26, ENTRY = 37 };
    int32_t stubs = (int32_t)(i->stubs - (i->begin + STUBS + 4));
    int32_t slots = (int32_t)(i->slots - (i->begin + SLOTS + 4));
    int32_t table = (int32_t)(i->table - (i->begin + TABLE + 4));
    int32_t entry = 8 * HOOK_BEGIN;

    hook_stub_put(i, i->begin, code, sizeof code);
    hook_stub_put(i, i->begin + STUBS, &stubs, 4);
    hook_stub_put(i, i->begin + COUNT, &count, 4);
    hook_stub_put(i, i->begin + SLOTS, &slots, 4);
    hook_stub_put(i, i->begin + TABLE, &table, 4);
    hook_stub_put(i, i->begin + ENTRY, &entry, 4);
}

/* Add an FDE for all stubs, and the search table for unwinders. The return address is always on top
 * of the stack. */
static void
add_unwind(struct image *i, size_t count)
{
    // Length, CIE, version 1, "zR", factors 1 and -8, rip; pc-relative; CFA = rsp + 8, rip at -8.
    static const unsigned char cie[] = {20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                                        1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};
    size_t start, fde;

    i->unwind_header = align_to(i, 4);
    add_u32(i, 0x3b031b01); // Version, and encodings of the following fields.
    add_u32(i, 16);         // Distance from here to the CIE.
    add_u32(i, 1);
    add_u32(i, (uint32_t)(i->stubs - i->unwind_header));
    add_u32(i, (uint32_t)(20 + sizeof cie)); // The FDE, relative to the header.
    i->unwind_header_bytes = i->bytes.length - i->unwind_header;
    start = i->bytes.length;
    add_bytes(i, cie, sizeof cie);
    fde = i->bytes.length;
    add_u32(i, 16);
    add_u32(i, (uint32_t)(fde + 4 - start));
    add_u32(i, (uint32_t)(i->stubs - i->bytes.length));
    add_u32(i, (uint32_t)(2 * count * STUB_BYTES + BEGIN_BYTES));
    add_u32(i, 0); // No augmentation, and three DW_CFA_nop.
    add_u32(i, 0);
}

static void
add_code(struct image *i, const struct hook_list *list)
{
    Elf64_Rela empty = {0};

    strbuf_clear(&i->bytes);
    for (size_t k = 0; k < sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr); k++)
        strbuf_char(&i->bytes, '\0');
    add_names(i, list);
    add_hash(i, list);
    i->relocation = align_to(i, 8);
    add_bytes(i, &empty, sizeof empty);
    i->stubs = align_to(i, STUB_BYTES);
    i->begin = i->stubs + 2 * list->count * STUB_BYTES;
    for (size_t k = 0; k < 2 * list->count * STUB_BYTES + BEGIN_BYTES; k++)
        strbuf_char(&i->bytes, (char)0xcc);
    add_unwind(i, list->count);
    i->code_end = i->bytes.length;
}

/* --- Data ------------------------------------------------------------------------------------- */

/* Add the dynamic section. The table's address and the symbols follow directly. */
static void
add_dynamic(struct image *i)
{
    enum { ENTRIES = 12 };
    const Elf64_Dyn entries[ENTRIES] = {
        {DT_HASH, {i->hash}},
        {DT_STRTAB, {i->names}},
        {DT_SYMTAB, {i->data + ENTRIES * sizeof(Elf64_Dyn) + sizeof(uint64_t)}},
        {DT_STRSZ, {i->names_end - i->names}},
        {DT_SYMENT, {sizeof(Elf64_Sym)}},
        {DT_RELA, {i->relocation}},
        {DT_RELASZ, {sizeof(Elf64_Rela)}},
        {DT_RELAENT, {sizeof(Elf64_Rela)}},
        {DT_FLAGS, {DF_BIND_NOW}},
        {DT_FLAGS_1, {DF_1_NOW | DF_1_INITFIRST}},
        {DT_INIT, {i->begin}},
        {DT_NULL, {0}},
    };

    i->dynamic = i->bytes.length;
    add_bytes(i, entries, sizeof entries);
}

static void
add_data(struct image *i, const struct hook_list *list)
{
    Elf64_Sym none = {0};
    uint64_t table = 0;

    i->data = align_to(i, PAGE_BYTES);
    add_dynamic(i);
    i->table = i->bytes.length;
    add_bytes(i, &table, sizeof table);
    i->symbols = i->bytes.length;
    for (size_t k = 0; k < FIRST_SYMBOL + list->count; k++)
        add_bytes(i, &none, sizeof none);
    i->slots = i->bytes.length;
    i->data_end = i->slots + list->count * sizeof(struct hook_slot);
    i->marks = round_up(i->data_end, PAGE_BYTES);
    while (i->bytes.length < i->marks + HOOK_MARK_PAGE_BYTES)
        strbuf_char(&i->bytes, '\0');
}

/* --- Headers and symbols ---------------------------------------------------------------------- */

static void
put_headers(struct image *i)
{
    size_t data_bytes = i->data_end - i->data;
    const Elf64_Phdr segments[SEGMENTS] = {
        {PT_LOAD, PF_R | PF_X, 0, 0, 0, i->code_end, i->code_end, PAGE_BYTES},
        {PT_LOAD, PF_R | PF_W, i->data, i->data, i->data, data_bytes, data_bytes, PAGE_BYTES},
        {PT_DYNAMIC, PF_R | PF_W, i->dynamic, i->dynamic, i->dynamic, i->table - i->dynamic,
         i->table - i->dynamic, 8},
        {PT_GNU_EH_FRAME, PF_R, i->unwind_header, i->unwind_header, i->unwind_header,
         i->unwind_header_bytes, i->unwind_header_bytes, 4},
        {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16},
    };
    Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = SEGMENTS,
        .e_shentsize = sizeof(Elf64_Shdr),
    };

    hook_stub_put(i, 0, &header, sizeof header);
    hook_stub_put(i, sizeof header, segments, sizeof segments);
}

static void
hook_stub_put_symbol(struct image *i, const struct hook_list *list, size_t index)
{
    size_t name = hook_stub_name_of(i, list, index),
           at = i->symbols + (FIRST_SYMBOL + index) * sizeof(Elf64_Sym);
    size_t slot_at = slot_of(i, index);
    const Elf64_Sym symbol = {
        .st_name = (Elf64_Word)(name - i->names),
        .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
        .st_shndx = 1, // Any index but SHN_UNDEF means defined; there are no sections.
        .st_value = i->stubs + index * STUB_BYTES,
        // With any other size, the loader would copy code into a program's copy of a variable.
        .st_size = 0,
    };
    const struct hook_slot slot = {
        .name_off = (int64_t)name - (int64_t)slot_at,
        .symbol_off = (int64_t)at - (int64_t)slot_at,
        .mark_off = i->marks + index,
        .wanted = list->hooks[index].preset == NULL,
    };

    hook_stub_put(i, at, &symbol, sizeof symbol);
    hook_stub_put(i, slot_at, &slot, sizeof slot);
    put_stub(i, index, index, list->hooks[index].shape);
    put_stub(i, list->count + index, index, HOOK_BIND);
}

static void
hook_stub_put_rest(struct image *i, const struct hook_list *list)
{
    const Elf64_Rela table = {i->table, ELF64_R_INFO(TABLE_SYMBOL, R_X86_64_GLOB_DAT), 0};
    const Elf64_Sym symbol = {.st_name = 1, .st_info = ELF64_ST_INFO(STB_WEAK, STT_OBJECT)};

    put_headers(i);
    hook_stub_put(i, i->relocation, &table, sizeof table);
    hook_stub_put(i, i->symbols + TABLE_SYMBOL * sizeof symbol, &symbol, sizeof symbol);
    put_begin(i, (uint32_t)list->count);
    for (size_t k = 0; k < list->count; k++)
        hook_stub_put_symbol(i, list, k);
}

/* --- The file --------------------------------------------------------------------------------- */

/* Return true if everybody may read the file at PATH and search its parent directories. */
static bool
hook_stub_is_public(const char *path)
{
    char part[PATH_MAX];
    struct stat st;

    if (realpath(path, part) == NULL || stat(part, &st) < 0 || (st.st_mode & S_IROTH) == 0)
        return false;
    for (char *slash = strrchr(part, '/'); slash != NULL && slash != part;
         slash = strrchr(part, '/')) {
        *slash = '\0';
        if (stat(part, &st) < 0 || (st.st_mode & S_IXOTH) == 0)
            return false;
    }
    return true;
}

/* Write DATA to a new file in DIRECTORY and store its name in *RET_PATH. Return false, without a
 * file, if it cannot be written or its code cannot be mapped. */
static bool
write_in(const char *directory, const struct strbuf *data, mode_t mode, struct arena *arena,
         const char **ret_path)
{
    char *path = arena_printf(arena, "%s/heaptap-hooks-XXXXXX", directory);
    void *mapped = MAP_FAILED;
    bool done;
    int fd;

    // LD_PRELOAD cannot contain these characters.
    if (directory[0] != '/' || strpbrk(directory, " :$") != NULL)
        return false;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return false;
    done = write(fd, data->text, data->length) == (ssize_t)data->length && fchmod(fd, mode) == 0;
    if (done)
        mapped = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) {
        unlink(path);
        return false;
    }
    munmap(mapped, PAGE_BYTES);
    *ret_path = path;
    return true;
}

static int
write_somewhere(const struct strbuf *data, mode_t mode, const char *last, struct arena *arena,
                const char **ret_path, struct err *err)
{
    const char *wanted = getenv("TMPDIR");
    const char *places[] = {wanted != NULL ? wanted : "/tmp", "/tmp", "/var/tmp", NULL};
    char absolute[PATH_MAX];

    places[countof(places) - 1] = realpath(last, absolute) != NULL ? absolute : "";
    for (size_t k = 0; k < countof(places); k++)
        if (write_in(places[k], data, mode, arena, ret_path))
            return 0;
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "no place for the small library that --hook needs: %s, /var/tmp and %s cannot "
                   "be written and run from; set TMPDIR",
                   places[0], last);
}

int
hook_stub_write(const struct hook_list *list, const char *library, const char *directory,
                struct arena *arena, const char **ret_path, struct err *err)
{
    mode_t mode = hook_stub_is_public(library) ? 0644 : 0600;
    struct image i = {.marks = 0};
    int r;

    add_code(&i, list);
    add_data(&i, list);
    hook_stub_put_rest(&i, list);
    r = write_somewhere(&i.bytes, mode, directory, arena, ret_path, err);
    strbuf_release(&i.bytes);
    return r;
}

bool
hook_stub_read(const char *path, size_t count, uint8_t *ret_called)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    bool done;

    if (fd < 0)
        return false;
    done = fstat(fd, &st) == 0 && st.st_size >= HOOK_MARK_PAGE_BYTES &&
           pread(fd, ret_called, count, st.st_size - HOOK_MARK_PAGE_BYTES) == (ssize_t)count;
    close(fd);
    return done;
}
