/* ecl_symbols.c: finds the names of local functions in a file that ECL has compiled.
 *
 * ECL's compiler translates Lisp to C and compiles that to a library. Functions of flet, labels and
 * lambda become static C functions there, listed in the file's symbol table:
 *
 *     LC4make_tree            the local function MAKE-TREE, the fourth of the file
 *     LC2__lambda1            a lambda
 *     L4make_tree.part.0      a part of the function L4make_tree, made by the C compiler
 *
 * ECL itself registers all other functions (ecl_code.c). The C name loses information: a lower-case
 * letter may have been upper-case, and an underscore may have been any other character. Most
 * underscores were hyphens.
 *
 * The file is untrusted: each offset is checked against the file's size before it is followed,
 * names need not be terminated, and the search for the function of a part has a limit. */
#include "language/ecl_adapter.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

enum { NAME_BYTES = 200, COMPARED_MAX = 1 << 22 };

/* A symbol table, and the string table with its names. */
struct symbols {
    const Elf64_Sym *v;
    size_t count;
    const char *texts;
    size_t text_bytes;
    size_t compared; // Number of names compared so far to find the functions of parts.
};

/* Return the name of symbol S, which has at most *RET_MAX bytes; NULL if it is outside the
 * names. */
static const char *
ecl_symbols_name_of(const struct symbols *all, const Elf64_Sym *s, size_t *ret_max)
{
    if (s->st_name >= all->text_bytes)
        return NULL;
    *ret_max = all->text_bytes - s->st_name;
    return all->texts + s->st_name;
}

/* Convert the symbol of a local function: LC4make_tree becomes MAKE-TREE, LC2__lambda1 a lambda.
 * Return false for any other name. */
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

/* Return true if NAME, of at most MAX bytes, has the prefix of ECL's functions and a dot. *RET_SIZE
 * is the length up to the dot. */
static bool
ecl_symbols_is_part(const char *name, size_t max, size_t *ret_size)
{
    size_t n = 0;

    while (n < max && name[n] != '\0' && name[n] != '.')
        n++;
    *ret_size = n;
    return n > 0 && n < max && name[n] == '.' && name[0] == 'L';
}

/* Return the symbol whose name is the SIZE bytes at NAME; NULL if there is none. */
static const Elf64_Sym *
ecl_symbols_find(struct symbols *all, const char *name, size_t size)
{
    for (size_t i = 0; i < all->count && all->compared < COMPARED_MAX; i++, all->compared++) {
        size_t max = 0;
        const char *other = ecl_symbols_name_of(all, &all->v[i], &max);

        if (other != NULL && max > size && other[size] == '\0' && memcmp(other, name, size) == 0)
            return &all->v[i];
    }
    return NULL;
}

static void
ecl_symbols_read_symbols(struct symbols *all, ecl_symbols_function *function,
                         ecl_symbols_part *part, void *arg)
{
    char text[NAME_BYTES];

    for (size_t i = 0; i < all->count; i++) {
        const Elf64_Sym *s = &all->v[i], *whole;
        size_t max = 0, size;
        const char *name = ecl_symbols_name_of(all, s, &max);

        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_value == 0 || name == NULL)
            continue;
        if (local_name(name, max, text)) {
            function(arg, s->st_value, text);
        } else if (ecl_symbols_is_part(name, max, &size)) {
            whole = ecl_symbols_find(all, name, size);
            if (whole != NULL)
                part(arg, s->st_value, whole->st_value);
        }
    }
}

static bool
ecl_symbols_is_inside(const Elf64_Shdr *s, size_t size)
{
    return s->sh_offset <= size && s->sh_size <= size - s->sh_offset;
}

void
ecl_symbols_read(const void *file, size_t size, ecl_symbols_function *function,
                 ecl_symbols_part *part, void *arg)
{
    const unsigned char *bytes = file;
    const Elf64_Ehdr *h = file;
    const Elf64_Shdr *sections;

    if (size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
        h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_shentsize != sizeof *sections ||
        h->e_shoff > size || h->e_shoff % 8 != 0 ||
        (size - h->e_shoff) / sizeof *sections < h->e_shnum)
        return;
    sections = (const void *)(bytes + h->e_shoff);
    for (size_t i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        struct symbols all = {.compared = 0};

        if (s->sh_type != SHT_SYMTAB || s->sh_link >= h->e_shnum ||
            !ecl_symbols_is_inside(s, size) || s->sh_offset % 8 != 0 ||
            !ecl_symbols_is_inside(&sections[s->sh_link], size))
            continue;
        all.v = (const void *)(bytes + s->sh_offset);
        all.count = s->sh_size / sizeof *all.v;
        all.texts = (const char *)bytes + sections[s->sh_link].sh_offset;
        all.text_bytes = sections[s->sh_link].sh_size;
        ecl_symbols_read_symbols(&all, function, part, arg);
        return; // A file has only one symbol table.
    }
}
