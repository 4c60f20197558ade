/* jitdump.c: read jit-PID.dump, where JIT compilers store their code for perf.
 *
 *     head     "DTiJ", version 1, its size, the machine, the process, a time, flags
 *     record   kind, its size, a time, then by kind
 *              0, code: process, thread, address (twice), size, number, name, the code itself
 *              1, moved: process, thread, address, old and new address, size, number
 *              2, lines; 3, the end; 4, unwind tables
 *
 * All numbers have the machine's byte order; files of the other order are rejected. perf finds the
 * file by a mapping that the runtime creates; this reader searches the directories that runtimes
 * use. perf separates replaced code by the times. Here the latest record wins, as in a perf map.
 *
 * The file is untrusted, may be large, and may end within a record if the process was killed. */
#include "symbol/perfmap.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "util/bytes.h"

enum {
    MAGIC = 0x4a695444,
    HEAD_BYTES = 40,
    RECORD_BYTES = 16,
    LOAD = 0,
    MOVE = 1,
    LOAD_NAME = RECORD_BYTES + 40,
    MOVE_BYTES = RECORD_BYTES + 48,
    STEPS_MAX = 50000000, // Limit of the search steps for moved code.
};

/* Functions read so far, by number. */
struct loaded {
    struct arena arena;
    struct numbered {
        uint64_t number;
        const char *name;
    } *v;
    size_t count, capacity;
    size_t steps;
};

static void
read_load(struct perfmap *m, struct loaded *l, const uint8_t *record, size_t size)
{
    const char *name = (const char *)record + LOAD_NAME;
    size_t length;

    if (size <= LOAD_NAME)
        return;
    length = strnlen(name, size - LOAD_NAME);
    if (length == size - LOAD_NAME)
        return;
    perfmap_add(m, get64(record + 32), get64(record + 40), name, length);
    arena_grow(&l->arena, &l->v, &l->capacity, l->count, sizeof *l->v);
    l->v[l->count++] = (struct numbered){get64(record + 48), name};
}

/* Add the function that RECORD moves, the latest one with its number, at the new address. */
static void
read_move(struct perfmap *m, struct loaded *l, const uint8_t *record, size_t size)
{
    uint64_t number;

    if (size < MOVE_BYTES)
        return;
    number = get64(record + 56);
    for (size_t i = l->count; i > 0 && l->steps < STEPS_MAX; i--, l->steps++)
        if (l->v[i - 1].number == number) {
            perfmap_add(m, get64(record + 40), get64(record + 48), l->v[i - 1].name,
                        strlen(l->v[i - 1].name));
            return;
        }
}

bool
jitdump_parse(struct perfmap *m, const uint8_t *data, size_t size, uint32_t pid)
{
    struct loaded l = {0};
    size_t at;

    if (size < HEAD_BYTES || get32(data) != MAGIC || get32(data + 4) != 1 ||
        get32(data + 12) != EM_X86_64 || get32(data + 20) != pid)
        return false;
    at = get32(data + 8);
    while (at >= HEAD_BYTES && at <= size && size - at >= RECORD_BYTES) {
        const uint8_t *record = data + at;
        uint32_t record_bytes = get32(record + 4);

        if (record_bytes < RECORD_BYTES || record_bytes > size - at)
            break;
        if (get32(record) == LOAD)
            read_load(m, &l, record, record_bytes);
        else if (get32(record) == MOVE)
            read_move(m, &l, record, record_bytes);
        at += record_bytes;
    }
    ranges_sort(&m->ranges, &m->arena);
    arena_release(&l.arena);
    return true;
}

void
jitdump_load(struct perfmap *m, const struct profile_process *process, const char *sysroot)
{
    struct arena scratch = {0};
    const char *places[3];
    size_t count = 0;

    if (sysroot != NULL) {
        places[count++] = arena_printf(&scratch, "%s/tmp", sysroot);
    } else {
        if (process->pid_here != 0) {
            places[count++] = arena_printf(&scratch, "/proc/%u/cwd", process->pid_here);
            places[count++] = arena_printf(&scratch, "/proc/%u/root/tmp", process->pid_here);
        } else {
            places[count++] = "/tmp";
        }
        places[count++] = ".";
    }
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_printf(&scratch, "%s/jit-%u.dump", places[i], process->pid);
        size_t size;
        char *bytes = perfmap_read(path, process, &size);
        bool done = bytes != NULL && jitdump_parse(m, (const uint8_t *)bytes, size, process->pid);

        free(bytes);
        if (done)
            break;
    }
    arena_release(&scratch);
}
