/* libnovdso.c: to be preloaded after the recorder, which then starts as on a kernel without a vDSO
 * (vdso=0): the constructor changes the vDSO address that the kernel passed to the process. */
#include <elf.h>
#include <stddef.h>

__attribute__((constructor)) static void
hide(int argc, char **argv, char **environment)
{
    Elf64_auxv_t *v;

    (void)argc;
    (void)argv;
    while (*environment != NULL)
        environment++;
    for (v = (Elf64_auxv_t *)(void *)(environment + 1); v->a_type != AT_NULL; v++)
        if (v->a_type == AT_SYSINFO_EHDR)
            v->a_type = AT_IGNORE;
}
