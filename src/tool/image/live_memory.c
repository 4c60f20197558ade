/* live_memory.c: a process that runs, by what /proc says of it.
 *
 * Its ranges are those of /proc/PID/maps at the time of opening, its bytes come by
 * process_vm_readv, which needs the right to trace it and does not stop it.
 */
#include "image/live_memory.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

static void
read_map(struct memory *m, size_t *region_capacity, size_t *mapping_capacity, char *line)
{
    uint64_t start, end, off, inode;
    char access[5];
    int path_at = 0;
    bool readable;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &start, &end,
               access, &off, &inode, &path_at) < 5)
        return;
    readable = access[0] == 'r' && strstr(line, "[vvar") == NULL;
    arena_grow(&m->arena, &m->regions, region_capacity, m->region_count, sizeof *m->regions);
    m->regions[m->region_count++] =
        (struct memory_region){.start = start,
                               .end = end,
                               .held_bytes = readable ? end - start : 0,
                               .access = (access[0] == 'r' ? (uint32_t)MEMORY_READ : 0) |
                                         (access[1] == 'w' ? (uint32_t)MEMORY_WRITE : 0) |
                                         (access[2] == 'x' ? (uint32_t)MEMORY_EXECUTE : 0)};
    if (inode == 0 || path_at == 0)
        return;
    arena_grow(&m->arena, &m->mappings, mapping_capacity, m->mapping_count, sizeof *m->mappings);
    m->mappings[m->mapping_count++] =
        (struct memory_mapping){start, end, off, arena_strdup(&m->arena, line + path_at)};
}

static int
read_maps(struct memory *m, struct err *err)
{
    const char *path = arena_printf(&m->arena, "/proc/%u/maps", m->pid);
    size_t region_capacity = 0, mapping_capacity = 0, line_bytes = 0;
    FILE *f = fopen(path, "re");
    char *line = NULL;

    if (f == NULL)
        return errno == ENOENT
                   ? err_set(err, HEAPTAP_BAD_INPUT, "there is no process %u", m->pid)
                   : err_errno(err, HEAPTAP_BAD_INPUT, "cannot look at process %u", m->pid);
    while (getline(&line, &line_bytes, f) > 0)
        read_map(m, &region_capacity, &mapping_capacity, line);
    free(line);
    fclose(f);
    memory_settle(m);
    if (m->region_count == 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has no memory that can be seen: it has ended, or is another's",
                       m->pid);
    return 0;
}

/* Whether we may read it at all: the errno if not. */
static int
probe(const struct memory *m)
{
    for (size_t i = 0; i < m->region_count; i++) {
        char byte;
        struct iovec here = {&byte, 1};
        struct iovec there = {(void *)(uintptr_t)m->regions[i].start, 1};

        if (m->regions[i].held_bytes == 0)
            continue;
        if (process_vm_readv((pid_t)m->pid, &here, 1, &there, 1, 0) == 1)
            return 0;
        if (errno == EPERM || errno == ESRCH)
            return errno;
    }
    return EFAULT;
}

int
live_memory_open(uint32_t pid, struct memory *ret, struct err *err)
{
    int r, error;

    *ret = (struct memory){
        .pid = pid, .lives = true, .word_bytes = 8, .machine = EM_X86_64, .program = ""};
    ret->name = arena_printf(&ret->arena, "process %u", pid);
    r = read_maps(ret, err);
    if (r == 0 && (error = probe(ret)) != 0)
        r = error == EPERM
                ? err_set(err, HEAPTAP_BAD_INPUT,
                          "process %u may not be looked into; run heaptap as its user or as root, "
                          "and see kernel.yama.ptrace_scope",
                          pid)
                : err_set(err, HEAPTAP_BAD_INPUT, "the memory of process %u cannot be read", pid);
    if (r != 0)
        memory_close(ret);
    else
        memory_watch(ret);
    return r;
}
