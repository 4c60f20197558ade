/* cflags: -fno-builtin -O0 */
/* meddle.c: allocate, disturb the recorder by ACTION, and then make the profile grow.
 *
 *   meddle ACTION [PATH [PATH]]
 *
 *   none                 nothing
 *   descriptors          uses up all descriptors
 *   stderr PATH          closes stderr and opens PATH, which becomes descriptor 2
 *   remove PATH          removes PATH
 *   rename PATH PATH     gives PATH (a file or directory) another name
 *   file PATH            replaces PATH by another file
 *   symlink PATH PATH    replaces it by a symbolic link to the second PATH
 *   fifo PATH            replaces it by a FIFO
 *   lock FLAGS PATH      mlockall(FLAGS) if it can; afterwards PATH gets the resident KiB
 *   eat MIB              touches so much memory, 1 MiB at a time
 *   abort                aborts at the end
 *
 * Prints "sum N" and exits with 7, or with 1 if the action failed. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char *kept[4096];

static uint64_t left(int level, uint64_t path);

static uint64_t
leaf(uint64_t x)
{
    unsigned char *p = malloc(16 + x % 500);
    uint64_t sum;

    p[15] = (unsigned char)x;
    sum = p[15];
    free(p);
    return sum;
}

static uint64_t
right(int level, uint64_t path)
{
    return level == 0 ? leaf(path) + 1 : left(level - 1, path * 2) + right(level - 1, path * 2 + 1);
}

static uint64_t
left(int level, uint64_t path)
{
    return level == 0 ? leaf(path) + 2 : right(level - 1, path * 2) + left(level - 1, path * 2 + 1);
}

static int
use_up_descriptors(void)
{
    struct rlimit limit = {64, 64};

    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0)
        continue;
    return 0;
}

static int
replace_stderr(const char *path)
{
    close(2);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) != 2;
}

static int
replace_by_file(const char *path)
{
    char other[4096];
    int fd;

    snprintf(other, sizeof other, "%s.other", path);
    fd = open(other, O_WRONLY | O_CREAT, 0600);
    return fd < 0 || write(fd, "mine", 4) != 4 || close(fd) != 0 || rename(other, path) != 0;
}

static int
lock(const char *flags)
{
    return mlockall(atoi(flags)) != 0;
}

static int
eat(int mib)
{
    for (int i = 0; i < mib && i < 4096; i++) {
        kept[i] = malloc(1 << 20);
        memset(kept[i], i, 1 << 20);
    }
    return 0;
}

static int
act(const char *action, const char *first, const char *second)
{
    if (strcmp(action, "descriptors") == 0)
        return use_up_descriptors();
    if (strcmp(action, "stderr") == 0)
        return replace_stderr(first);
    if (strcmp(action, "remove") == 0)
        return unlink(first);
    if (strcmp(action, "rename") == 0)
        return rename(first, second);
    if (strcmp(action, "file") == 0)
        return replace_by_file(first);
    if (strcmp(action, "symlink") == 0)
        return unlink(first) || symlink(second, first);
    if (strcmp(action, "fifo") == 0)
        return unlink(first) || mkfifo(first, 0600);
    if (strcmp(action, "lock") == 0)
        return lock(first);
    if (strcmp(action, "eat") == 0)
        return eat(atoi(first));
    return 0;
}

static void *
work(void *sum)
{
    *(uint64_t *)sum = left(3, 1);
    return NULL;
}

/* Threads create rows and private memory. */
static uint64_t
run_threads(void)
{
    uint64_t sums[4] = {0};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, &sums[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return sums[0] + sums[1] + sums[2] + sums[3];
}

static void
write_resident(const char *path)
{
    char line[200];
    FILE *in = fopen("/proc/self/status", "r");
    FILE *out = fopen(path, "w");

    while (in != NULL && out != NULL && fgets(line, sizeof line, in) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            fprintf(out, "%d\n", atoi(line + 6));
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        fclose(out);
}

int
main(int argc, char **argv)
{
    const char *action = argc > 1 ? argv[1] : "none";
    char *before = malloc(1000);

    if (act(action, argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "") != 0)
        return 1;
    printf("sum %lu\n", (unsigned long)(left(9, 1) + run_threads()));
    fflush(stdout);
    free(before);
    if (strcmp(action, "lock") == 0 && argc > 3)
        write_resident(argv[3]);
    if (strcmp(action, "abort") == 0)
        abort();
    return 7;
}
