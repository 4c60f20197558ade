/* fuzz_target.c: read any bytes as a process to attach to: the files of /proc, the tables of
 * modules, its threads' control blocks and stacks, and the region of a recorder. All of these are
 * under the control of the process.
 *
 * The input begins with three 16-bit sizes: of the text of maps, of auxv, and of the text of a
 * status file. These parts follow. The rest is the memory from MEMORY_AT; all other addresses
 * cannot be read. Each search must stay in bounds and end (sanitizers, time). A found gap must be
 * free, the search for a mapping must agree with a linear one, and a found region must have counts
 * within its arrays. */
/* covers: target.c control_block.c region.c */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "refused.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_AT UINT64_C(0x10000)

enum { FD_AUXV = 1000, FD_PROGRAM, FD_MEMORY };

struct part {
    const uint8_t *bytes;
    size_t size_bytes;
};

static struct part maps, auxv, status, memory;
static size_t auxv_read;

static FILE *
fake_fopen(const char *path, const char *mode)
{
    const struct part *p = strstr(path, "/maps") != NULL ? &maps : &status;

    (void)mode;
    return p->size_bytes > 0 ? fmemopen((void *)(uintptr_t)p->bytes, p->size_bytes, "r") : NULL;
}

static int
fake_open(const char *path, int flags)
{
    (void)flags;
    auxv_read = 0;
    return strstr(path, "/auxv") != NULL ? FD_AUXV
           : strstr(path, "/exe") != NULL ? FD_PROGRAM
                                          : FD_MEMORY;
}

/* The program's file is the beginning of the memory. */
static ssize_t
fake_read(int fd, void *buffer, size_t size_bytes)
{
    const struct part *p = fd == FD_AUXV ? &auxv : &memory;
    size_t from = fd == FD_AUXV ? auxv_read : 0;
    size_t got = p->size_bytes - from < size_bytes ? p->size_bytes - from : size_bytes;

    memcpy(buffer, p->bytes + from, got);
    auxv_read += fd == FD_AUXV ? got : 0;
    return (ssize_t)got;
}

static ssize_t
fake_pread(int fd, void *buffer, size_t size_bytes, off_t off)
{
    uint64_t from = (uint64_t)off - MEMORY_AT;
    size_t got;

    (void)fd;
    if (from >= memory.size_bytes)
        return -1;
    got = memory.size_bytes - from < size_bytes ? memory.size_bytes - from : size_bytes;
    memcpy(buffer, memory.bytes + from, got);
    return (ssize_t)got;
}

static ssize_t
fake_pwrite(int fd, const void *bytes, size_t size_bytes, off_t off)
{
    (void)fd;
    (void)bytes;
    (void)off;
    return (ssize_t)size_bytes;
}

static int
fake_close(int fd)
{
    (void)fd;
    return 0;
}

static DIR *
fake_opendir(const char *path)
{
    (void)path;
    return NULL;
}

static long
fake_syscall(long number, ...)
{
    (void)number;
    return -1;
}

static uint32_t
fake_thread(uint32_t pid)
{
    return pid;
}

#define fopen fake_fopen
#define open fake_open
#define read fake_read
#define pread fake_pread
#define pwrite fake_pwrite
#define close fake_close
#define opendir fake_opendir
#define syscall fake_syscall
#define processes_thread fake_thread
#include "attach/target.c"
#undef fopen
#undef open
#undef read
#undef pread
#undef pwrite
#undef close
#undef opendir
#undef syscall
#undef processes_thread

#include "attach/control_block.c"
#include "attach/region.c"

#define ENSURE_HERE(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void
check_maps(const struct target *t, uint64_t address)
{
    const struct target_map *found = NULL;
    uint64_t gap;

    for (size_t i = 0; i < t->map_count; i++)
        if (t->maps[i].start <= address && address < t->maps[i].end)
            found = &t->maps[i];
    ENSURE_HERE(target_map_at(t, address) == found);
    gap = target_gap(t, address, address + PAGE_BYTES, (uint64_t)4 << 20);
    for (size_t i = 0; gap != 0 && i < t->map_count; i++)
        ENSURE_HERE(t->maps[i].end <= gap || t->maps[i].start >= gap + ((uint64_t)4 << 20));
}

static void
check_region(const struct target *t)
{
    static struct region region;

    if (region_find(t, &region) == 0)
        return;
    ENSURE_HERE(region.patch_count <= countof(region.patches));
    ENSURE_HERE(region.branch_count <= countof(region.branches));
    ENSURE_HERE(strnlen(region.profile, sizeof region.profile) < sizeof region.profile);
}

/* Check the control block and the stack of a thread with the first words of the memory as its
 * registers. */
static void
check_thread(struct target *t)
{
    struct region region = {.tls_bytes = PLAN_TLS_BYTES};
    struct plan plan = {.target = t, .region = &region, .owner_off = 8, .tid_off = 0x2d0};
    struct stopped stopped = {.tid = 1};
    struct threads one = {.target = t, .v = &stopped, .count = 1};
    const struct word_range range = {MEMORY_AT, MEMORY_AT + PAGE_BYTES};
    struct err err;

    stopped.registers.rip = target_word(t, MEMORY_AT);
    stopped.registers.rsp = target_word(t, MEMORY_AT + 8);
    stopped.registers.fs_base = target_word(t, MEMORY_AT + 16);
    control_block_check_all(&plan, &one, &err);
    threads_words_in(&one, &range, 1);
}

/* Store the next SIZE_BYTES in P. Return false if there are fewer. */
static bool
take(struct part *p, size_t size_bytes, const uint8_t **data, size_t *size)
{
    if (size_bytes > *size)
        return false;
    *p = (struct part){*data, size_bytes};
    *data += size_bytes;
    *size -= size_bytes;
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"malloc", "_dl_find_object", "_thread_db_pthread_tid", ""};
    struct target_symbol symbol;
    struct part sizes;
    struct target t;
    struct err err;
    uint16_t n[3];

    if (!take(&sizes, sizeof n, &data, &size))
        return REFUSED;
    memcpy(n, sizes.bytes, sizeof n);
    if (!take(&maps, n[0], &data, &size) || !take(&auxv, n[1], &data, &size) ||
        !take(&status, n[2], &data, &size))
        return REFUSED;
    memory = (struct part){data, size};
    if (target_open(1, &t, &err) != 0)
        return REFUSED;
    for (size_t i = 0; i < countof(names); i++)
        target_find(&t, names[i], &symbol);
    check_maps(&t, target_word(&t, MEMORY_AT));
    check_maps(&t, t.map_count > 0 ? t.maps[0].start : 0);
    check_region(&t);
    check_thread(&t);
    target_close(&t);
    return 0;
}
