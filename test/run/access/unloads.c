/* unloads.c: load and unload libraries in threads, a different one in each, all at once. The
 * arguments are the number of turns, then a library's path for each thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 8 };

static int turns;

static void *
take_turns(void *path)
{
    for (int i = 0; i < turns; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

        if (library == NULL || dlclose(library) != 0) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];

    if (argc < 3 || argc - 2 > THREADS_MAX)
        return 2;
    turns = atoi(argv[1]);
    for (int i = 2; i < argc; i++)
        pthread_create(&threads[i - 2], NULL, take_turns, argv[i]);
    for (int i = 2; i < argc; i++)
        pthread_join(threads[i - 2], NULL);
    return 0;
}
