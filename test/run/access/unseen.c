/* unseen.c: an unused block of 5008 bytes, and a block of 6000 that is written and never read; with
 * USES, by a function of libc that is not counted. With an argument, the library of that name is
 * loaded and closed. */
#include <dlfcn.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static __attribute__((noinline)) char *
never(void)
{
    char *volatile p = malloc(5008); // No tail call: the caller's frame would be missing.

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
