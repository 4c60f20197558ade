/* unseen.c: keep an unused block of 5008 bytes, and a block of 6000 that is written and never read.
 * With USES, a libc function that is not counted uses the blocks. With an argument, the library of
 * that name is loaded and closed. */
#include <dlfcn.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static __attribute__((noinline)) char *
never(void)
{
    // Prevents a tail call, after which the caller's frame would be missing.
    char *volatile p = malloc(5008);

    return p;
}

static __attribute__((noinline)) char *
filled(void)
{
    char *volatile p = malloc(6000);

    return p;
}

int
main(int argc, char **argv)
{
    char *volatile p = never(), *volatile q = filled();
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
#ifdef USES
    char *from = (char *)"abc", *to = q;
    size_t from_bytes = 3, to_bytes = 6000;

    iconv(iconv_open("UTF-8", "UTF-8"), &from, &from_bytes, &to, &to_bytes);
#else
    if (read(STDIN_FILENO, q, 10) != 10)
        return 2;
#endif
    if (library != NULL)
        dlclose(library);
    free(p);
    free(q);
    return argc > 1 && library == NULL ? 3 : 0;
}
