/* libscribble.c: allocate while words of the interpreter are damaged, and restore the words before
 * other code than the recorder reads them. For Python programs, called through ctypes.PyDLL. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096 };

/* Set the BYTES at AT to VALUE, allocate a block of 300,000 bytes and an object, and restore the
 * bytes; repeat TIMES times. */
int
scribble(void *at, int bytes, uint64_t value, int times)
{
    volatile unsigned char *to = at;
    void *(*make)(size_t), (*release)(void *);
    void *volatile block; // Volatile keeps the compiler from removing both calls.
    uint64_t was = 0;

    *(void **)&make = dlsym(RTLD_DEFAULT, "PyObject_Malloc");
    *(void **)&release = dlsym(RTLD_DEFAULT, "PyObject_Free");
    for (int i = 0; i < bytes; i++) {
        was |= (uint64_t)to[i] << 8 * i;
        to[i] = (unsigned char)(value >> 8 * i);
    }
    for (int i = 0; i < times; i++) {
        block = malloc(300000);
        free(block);
        release(make(100));
    }
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(was >> 8 * i);
    return times;
}

/* Return the end of a page of zeros that unreadable memory follows. */
void *
edge(void)
{
    char *p = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0);

    munmap(p + PAGE_BYTES, PAGE_BYTES);
    return p + PAGE_BYTES;
}
