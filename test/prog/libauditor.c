/* libauditor.c: an auditor for LD_AUDIT, which examines each symbol and changes nothing. With an
 * auditor, the dynamic linker allocates before libc is initialised. */
#include <link.h>

unsigned int
la_version(unsigned int version)
{
    return version;
}

unsigned int
la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie)
{
    (void)map;
    (void)id;
    (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t
la_symbind64(Elf64_Sym *symbol, unsigned int index, uintptr_t *from, uintptr_t *to,
             unsigned int *flags, const char *name)
{
    (void)index;
    (void)from;
    (void)to;
    (void)flags;
    (void)name;
    return symbol->st_value;
}
