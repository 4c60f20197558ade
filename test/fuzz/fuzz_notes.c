/* fuzz_notes.c: search for a build id in the headers of an object of any bytes, as the recorder
 * does.
 *
 * The input is the object as it is mapped; a header with the right magic is put in front, so that
 * the rest is reached. The object has exactly its size, so the address sanitizer reports reads
 * outside; the build id found must be inside the object. */
/* covers: modules.c */
#include <stdlib.h>
#include <string.h>

#include "stack/modules.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct state *state;

/* Further dependencies of modules.c, which this target never calls. */
uint64_t
table_take(struct table *t, uint64_t count)
{
    (void)t;
    (void)count;
    abort();
}

struct disk_string
file_string(const char *text, size_t size_bytes)
{
    (void)text;
    (void)size_bytes;
    abort();
}

void
thread_invalidate_all(void)
{
    abort();
}

void *
mem_private(size_t size_bytes)
{
    (void)size_bytes;
    abort();
}

long
sys_readlink(const char *path, char *buffer, size_t size_bytes)
{
    (void)path;
    (void)buffer;
    (void)size_bytes;
    abort();
}

int
sys_getcwd(char *buffer, size_t size_bytes)
{
    (void)buffer;
    (void)size_bytes;
    abort();
}

uint64_t
sys_block_signals(void)
{
    abort();
}

void
sys_unblock_signals(uint64_t mask)
{
    (void)mask;
    abort();
}

void
sys_wait(uint32_t attempt)
{
    (void)attempt;
    abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct disk_module module = {0};
    struct unwind_object object;
    uint8_t *bytes = malloc(size + !size);

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    memcpy(bytes, ELFMAG, size < SELFMAG ? size : SELFMAG);
    object = (struct unwind_object){.start = (uintptr_t)bytes, .end = (uintptr_t)bytes + size};
    read_build_id(&object, object.start, &module);
    if (module.build_id_bytes > DISK_BUILD_ID_MAX)
        abort();
    if (module.build_id_bytes > 0 &&
        memmem(bytes, size, module.build_id, module.build_id_bytes) == NULL)
        abort();
    free(bytes);
    return 0;
}
