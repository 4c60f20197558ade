/* fuzz_wrappers.c: read any bytes as the file of a loaded object whose symbols name its wrappers.
 *
 * The recorder reads that file in the profiled process, inside malloc. The input begins with the
 * place of the file's path in the table of strings, which other processes can write (8 bytes), the
 * object's bias (8 bytes), and a limit of the bytes of a read (1 byte); the rest is the file.
 * Reading must end and stay in bounds, and all copies must be released. The answer for addresses at
 * the edges of functions must agree with a search of all symbols, one by one. */
/* covers: wrappers.c wrapper_name.c */
#include <stdlib.h>

#include "stack/wrappers.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MODULE = 3, HEAD_BYTES = 17, STRINGS_BYTES = 64, SYMBOLS_TRIED = 64 };

struct state *state;
static struct thread thread;
static const uint8_t *contents;
static size_t contents_bytes, read_bytes_max;
static unsigned mappings;
static bool is_open, is_blocked;

void *
mem_private(size_t size_bytes)
{
    return calloc(1, size_bytes);
}

/* Refuse much more than the file's size, as without memory: reading it would fail. */
void *
sys_mmap(void *address, size_t size_bytes, int protection, int flags, int fd, uint64_t off)
{
    (void)address;
    (void)protection;
    (void)flags;
    (void)fd;
    (void)off;
    if (size_bytes > contents_bytes + 4096)
        return (void *)-12;
    mappings++;
    return calloc(1, size_bytes);
}

int
sys_munmap(void *address, size_t size_bytes)
{
    (void)size_bytes;
    mappings--;
    free(address);
    return 0;
}

int
sys_open(const char *path, int flags, int mode)
{
    (void)flags;
    (void)mode;
    if (is_open || !is_blocked)
        abort();
    if (path[0] == '\0')
        return -2;
    is_open = true;
    return 5;
}

long
sys_pread(int fd, void *buffer, size_t size_bytes, uint64_t off)
{
    size_t got;

    (void)fd;
    if (off >= contents_bytes)
        return 0;
    got = contents_bytes - off < size_bytes ? contents_bytes - off : size_bytes;
    got = got < read_bytes_max ? got : read_bytes_max;
    memcpy(buffer, contents + off, got);
    return (long)got;
}

int
sys_close(int fd)
{
    if (fd != 5)
        abort();
    is_open = false;
    return 0;
}

uint64_t
sys_block_signals(void)
{
    is_blocked = true;
    return 0;
}

void
sys_unblock_signals(uint64_t mask)
{
    (void)mask;
    is_blocked = false;
}

/* Return true if SIZE_BYTES is not 0 and the file has so many bytes at OFF. */
static bool
has_bytes(uint64_t off, uint64_t size_bytes)
{
    return size_bytes > 0 && off <= contents_bytes && size_bytes <= contents_bytes - off;
}

/* Find the symbol table and its string table. Return false if the file has none. */
static bool
find_symbols(Elf64_Shdr *ret_symbols, Elf64_Shdr *ret_names)
{
    Elf64_Ehdr header;
    bool found = false, found_full = false;

    if (!has_bytes(0, sizeof header))
        return false;
    memcpy(&header, contents, sizeof header);
    if (memcmp(header.e_ident, "\177ELF", 4) != 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shnum > SECTIONS_MAX ||
        !has_bytes(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)))
        return false;
    for (size_t i = 0; i < header.e_shnum; i++) {
        const uint8_t *at = contents + header.e_shoff;
        Elf64_Shdr s;

        memcpy(&s, at + i * sizeof s, sizeof s);
        if (s.sh_link >= header.e_shnum ||
            !(s.sh_type == SHT_SYMTAB || (s.sh_type == SHT_DYNSYM && !found && !found_full)))
            continue;
        found = true;
        found_full |= s.sh_type == SHT_SYMTAB;
        *ret_symbols = s;
        memcpy(ret_names, at + s.sh_link * sizeof s, sizeof s);
    }
    return found && has_bytes(ret_symbols->sh_offset, ret_symbols->sh_size) &&
           has_bytes(ret_names->sh_offset, ret_names->sh_size);
}

/* Return true if a wrapper among the COUNT symbols at SYMBOLS has the code at INSIDE. */
static bool
slow_have(const uint8_t *symbols, size_t count, const char *names, size_t names_bytes,
          uint64_t inside)
{
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym s;

        memcpy(&s, symbols + i * sizeof s, sizeof s);
        if ((s.st_info & 15) == STT_FUNC && s.st_shndx != SHN_UNDEF && s.st_name < names_bytes &&
            s.st_value + s.st_size >= s.st_value && inside >= s.st_value &&
            inside - s.st_value < s.st_size && wrapper_symbol_is(names + s.st_name))
            return true;
    }
    return false;
}

/* Compare the answer for the code at INSIDE. */
static void
compare(const struct disk_module *m, const uint8_t *symbols, size_t count, const char *names,
        size_t names_bytes, uint64_t inside)
{
    uint64_t address = (inside + 1 + m->bias) & DISK_ADDRESS_MASK;
    const char *path = (const char *)state->tables[DISK_STRINGS].base + m->path.off;
    uint64_t end = m->path.off + (uint64_t)m->path.bytes;
    bool expected = false;

    inside = address - 1 - m->bias;
    if (m->path.bytes > 0 && end <= STRINGS_BYTES && path[0] != '\0')
        expected = memmem(path, strnlen(path, m->path.bytes), ADAPTERS, sizeof ADAPTERS - 1) != NULL
                       ? inside != UINT64_MAX
                       : slow_have(symbols, count, names, names_bytes, inside);
    if (wrappers_have(&thread, (uint64_t)MODULE << DISK_ADDRESS_BITS | address) != expected)
        abort();
    if (mappings != 0 || is_open || is_blocked)
        abort();
}

static void
compare_all(const struct disk_module *m)
{
    Elf64_Shdr symbols = {0}, names = {0};
    bool found = find_symbols(&symbols, &names);
    size_t names_bytes = found ? names.sh_size : 0;
    size_t count = found ? symbols.sh_size / sizeof(Elf64_Sym) : 0;
    uint8_t *table = malloc(count * sizeof(Elf64_Sym) + 1);
    char *text = malloc(names_bytes + 1);

    if (table == NULL || text == NULL)
        abort();
    if (found) {
        memcpy(table, contents + symbols.sh_offset, count * sizeof(Elf64_Sym));
        memcpy(text, contents + names.sh_offset, names_bytes);
        text[names_bytes - 1] = '\0';
    }
    compare(m, table, count, text, names_bytes, 0);
    for (size_t i = 0; i < count && i < SYMBOLS_TRIED; i++) {
        Elf64_Sym s;

        memcpy(&s, table + i * sizeof s, sizeof s);
        for (uint64_t near = 0; near < 3; near++) {
            compare(m, table, count, text, names_bytes, s.st_value + near - 1);
            compare(m, table, count, text, names_bytes, s.st_value + s.st_size + near - 1);
        }
    }
    free(table);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char strings[STRINGS_BYTES] = "/lib/libx.so\0/lib/libheaptap_lua.so\0/home/x/app";
    struct disk_module modules[MODULE + 1] = {{0}};
    struct wrappers *w;

    if (size < HEAD_BYTES)
        return 0;
    memcpy(&modules[MODULE].path, data, sizeof modules[MODULE].path);
    memcpy(&modules[MODULE].bias, data + 8, sizeof modules[MODULE].bias);
    read_bytes_max = data[16] * (size_t)16 + 1;
    contents = data + HEAD_BYTES;
    contents_bytes = size - HEAD_BYTES;
    state = calloc(1, sizeof *state);
    if (state == NULL || !wrappers_start())
        abort();
    state->tables[DISK_MODULES].base = (unsigned char *)modules;
    state->tables[DISK_MODULES].record_bytes = sizeof *modules;
    state->tables[DISK_STRINGS].base = malloc(STRINGS_BYTES);
    state->tables[DISK_STRINGS].mapped_bytes = STRINGS_BYTES;
    if (state->tables[DISK_STRINGS].base == NULL)
        abort();
    memcpy(state->tables[DISK_STRINGS].base, strings, STRINGS_BYTES);
    compare_all(&modules[MODULE]);
    w = stack_state()->wrappers[MODULE];
    if (w != &no_wrappers && w != &all_code)
        free(w);
    free(state->tables[DISK_STRINGS].base);
    free(stack_state()->wrappers);
    free(state);
    return 0;
}
