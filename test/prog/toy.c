/* cflags: -fno-builtin */
/* libs: -Lbuild/test/prog -ltoy -lpthread -Wl,-rpath,$ORIGIN */
/* toy.c SEED STEPS THREADS FILE [fork|late|crash|DEPTH [ADAPTER [FLAT]]]: run a made-up language
 * (libtoy.c) and write its allocations' chains of frames to FILE. With "late", the program
 * registers the language after a while, and FILE counts from then on. With "fork", a child
 * continues and writes FILE. With "crash", the program ends by SIGSEGV. A number is the depth of
 * calls. ADAPTER "placed" reports the addresses of frames once the C frames are known, "again" the
 * number of unchanged outer frames, and "placed_again" both. FLAT is the number of functions in a
 * program whose functions mostly share a C frame. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "toy.h"

static unsigned long seed, steps;
static unsigned depth, flat;

static enum toy_adapter
adapter_of(const char *name)
{
    if (strcmp(name, "placed_again") == 0)
        return TOY_PLACED_AGAIN;
    return strcmp(name, "placed") == 0 ? TOY_PLACED : TOY_AGAIN;
}

static void *
run(void *number)
{
    toy_run(seed * 1000 + (unsigned long)number, steps, depth, flat);
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t threads[16];
    int count = atoi(argv[3]), status = 0;
    enum toy_adapter adapter = TOY_PLAIN;
    FILE *to;

    seed = strtoul(argv[1], NULL, 10);
    steps = strtoul(argv[2], NULL, 10);
    if (argc > 5)
        depth = (unsigned)atoi(argv[5]);
    toy_keeps = argc > 5 && strcmp(argv[5], "crash") == 0;
    if (argc > 6)
        adapter = adapter_of(argv[6]);
    if (argc > 7)
        flat = (unsigned)atoi(argv[7]);
    free(malloc(100));
    if (toy_begin(adapter) != 0)
        fprintf(stderr, "no recorder\n");
    if (argc > 5 && strcmp(argv[5], "fork") == 0) {
        if (fork() != 0)
            return wait(&status) < 0 || status != 0;
    }
    for (int i = 0; i < count && i < 16; i++)
        pthread_create(&threads[i], NULL, run, (void *)(long)i);
    for (int i = 0; i < count && i < 16; i++)
        pthread_join(threads[i], NULL);
    if (count == 0)
        toy_run(seed, steps, depth, flat);
    to = fopen(argv[4], "w");
    if (to == NULL)
        return 1;
    toy_write(to);
    if (toy_keeps)
        raise(SIGSEGV);
    return fclose(to) != 0;
}
