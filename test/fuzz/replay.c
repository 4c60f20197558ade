/* replay.c: run a fuzz target over given files, without libFuzzer.
 *
 * Each argument is a file or a directory of files. A failed check of the target, or a sanitizer's
 * finding, ends the program. The name of the file is printed before it is run, unbuffered, so that
 * the last line names the culprit. An input that takes longer than INPUT_SECONDS, or more memory
 * than `make fuzz` allows, ends the program as well. The empty input is always run. If there are no
 * findings, the program prints "replayed N inputs" and exits with 0. It exits with 1 if the target
 * has refused all inputs of a directory, for targets that report refusals (refused.h). */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char *__asan_default_options(void);

enum { INPUT_SECONDS = 60 };

static size_t input_count, refused_count;

/* The address sanitizer reads this at start-up. */
const char *
__asan_default_options(void)
{
    return "hard_rss_limit_mb=2048";
}

static void
replay_fail(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(2);
}

/* Copy the bytes to a block of exactly their size, so that the address sanitizer reports a read
 * past the end. */
static void
replay_file(const char *path)
{
    struct stat st;
    FILE *f = fopen(path, "rb");

    if (f == NULL || fstat(fileno(f), &st) != 0)
        replay_fail(path);

    size_t size_bytes = (size_t)st.st_size;
    uint8_t *data = malloc(size_bytes != 0 ? size_bytes : 1);

    if (data == NULL || fread(data, 1, size_bytes, f) != size_bytes)
        replay_fail(path);
    fclose(f);
    printf("%s\n", path);
    alarm(INPUT_SECONDS);
    refused_count += LLVMFuzzerTestOneInput(data, size_bytes) < 0;
    alarm(0);
    free(data);
    input_count++;
}

static void
replay_directory(const char *path)
{
    struct dirent **entries;
    size_t inputs_before = input_count, refused_before = refused_count;
    int count = scandir(path, &entries, NULL, alphasort);

    if (count < 0)
        replay_fail(path);
    for (int i = 0; i < count; i++) {
        char name[4096];

        snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            replay_file(name);
        free(entries[i]);
    }
    free(entries);
    if (input_count > inputs_before &&
        refused_count - refused_before == input_count - inputs_before) {
        fprintf(stderr, "%s: all inputs are refused: their format is another\n", path);
        exit(1);
    }
}

int
main(int argc, char **argv)
{
    uint8_t *nothing = malloc(1);

    setvbuf(stdout, NULL, _IONBF, 0);
    if (nothing == NULL)
        replay_fail("malloc");
    LLVMFuzzerTestOneInput(nothing, 0);
    free(nothing);
    for (int i = 1; i < argc; i++) {
        struct stat st;

        if (stat(argv[i], &st) != 0)
            replay_fail(argv[i]);
        if (S_ISDIR(st.st_mode))
            replay_directory(argv[i]);
        else
            replay_file(argv[i]);
    }
    printf("replayed %zu inputs\n", input_count + 1);
    return 0;
}
