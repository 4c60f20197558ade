/* cflags: -fno-builtin */
/* scope_throws.cc: allocate and free 1,000 blocks of 10 bytes in `rounds`. After half of them, make
 * a call that throws if libscope_throws.so is the allocator.
 *
 *     scope_throws malloc|calloc|realloc */
#include <string.h>

#include <new>

#include "scope.h"

extern "C" {
void *can_malloc(size_t) __asm__("malloc");
void *can_calloc(size_t, size_t) __asm__("calloc");
void *can_realloc(void *, size_t) __asm__("realloc");
}

static volatile size_t bad = 77777;

NOINLINE static int
rounds(char which)
{
    int caught = 0;

    for (int i = 0; i < 1000; i++) {
        void *p = kept(can_malloc(10));

        try {
            if (which == 'm')
                kept(can_malloc(bad));
            else if (which == 'c')
                kept(can_calloc(1, bad));
            else
                p = kept(can_realloc(p, bad));
        } catch (const std::bad_alloc &) {
            caught++;
        }
        free(p);
    }
    return caught;
}

int
main(int argc, char **argv)
{
    say("caught %d\n", rounds(argc > 1 ? argv[1][0] : 'm'));
    return 0;
}
