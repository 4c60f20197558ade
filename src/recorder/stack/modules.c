/* modules.c: assigns permanent ids to the objects that contain code.
 *
 * A module is an object that was loaded at one address. It is recorded, with its build id and path,
 * when its first frame is seen, so its frames can be resolved after it is unloaded. An object that
 * is loaded again at the same address gets its old id. So the table does not grow in a program that
 * loads and unloads an object in a loop.
 *
 * Unloading is noticed in three ways, each of which raises state->generation, so that every cached
 * rule and memo is stale:
 *
 *     dlclose returns .................... entry/unload.c sweeps
 *     dlopen is about to map an object ... entry/bypass_interposed.c sweeps
 *     a new module overlaps an old one ... so the old one was unloaded: modules_record
 *
 * The first alone comes too late if another thread maps an object where one was just unmapped, and
 * that thread has cached the old object's rules. The new link map may even have the old one's
 * address, so that the new object looks like the old. The second sweep is in time: its thread holds
 * the dynamic linker's lock. It also covers a dlclose that is not intercepted. Only the third
 * remains for an object that libc itself loads (for iconv, or names of hosts).
 *
 * Another thread may unload a library at any time. So a sweep asks the dynamic
 * linker only for the addresses of objects, and reads no object. A frame's object is read when the
 * frame's rule is compiled: its code is on the stack, so the program may not unload it. */
#include "stack/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "account/file.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "base/fmt.h"
#include "platform/host.h"
#include "platform/mem.h"
#include "platform/sys.h"
#include "stack/stack_state.h"

enum { PATH_BYTES = 4096, HEADERS_MAX = 64 };

bool
modules_start(void)
{
    stack_state()->modules = mem_private(sizeof(struct module_range) * LIMIT_MODULES);
    return stack_state()->modules != NULL && table_take(&state->tables[DISK_MODULES], 1) == 0;
}

static uint32_t
find_live(const struct unwind_object *o)
{
    uint32_t count = load_acquire(&stack_state()->module_count);

    for (uint32_t i = 1; i <= count; i++) {
        const struct module_range *m = &stack_state()->modules[i];

        if (m->start == o->start && m->end == o->end && m->link_map == o->link_map &&
            !load_relaxed(&m->gone))
            return i;
    }
    return 0;
}

/* Read the build id from the notes of the object mapped at O. Finds it only if its headers are in
 * the usual place. */
static void
read_build_id(const struct unwind_object *o, uint64_t bias, struct disk_module *m)
{
    const unsigned char *base = (const unsigned char *)(uintptr_t)o->start;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)base;
    const ElfW(Phdr) * segments;

    if (o->end - o->start < 4096 || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phnum > HEADERS_MAX || header->e_phoff % _Alignof(ElfW(Phdr)) != 0 ||
        header->e_phoff > 4096 - header->e_phnum * sizeof *segments)
        return;
    segments = (const ElfW(Phdr) *)(const void *)(base + header->e_phoff);
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        uint64_t note = segments[i].p_vaddr + bias;
        uint64_t end = note + segments[i].p_memsz;

        if (segments[i].p_type != PT_NOTE || end < note || end > unwind_readable_end(o, note) ||
            note % _Alignof(ElfW(Nhdr)) != 0)
            continue;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)(uintptr_t)note;
            uint64_t desc = note + sizeof *n + round_up(n->n_namesz, 4);

            if (n->n_descsz > end - note || desc + n->n_descsz > end)
                break;
            if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
                n->n_descsz <= DISK_BUILD_ID_MAX && memcmp(n + 1, "GNU", 4) == 0) {
                memcpy(m->build_id, (const void *)(uintptr_t)desc, n->n_descsz);
                m->build_id_bytes = n->n_descsz;
                return;
            }
            note = desc + round_up(n->n_descsz, 4);
        }
    }
}

/* Store the absolute path of the object, as the dynamic linker's link map gives it. */
static void
object_path(const struct link_map *map, char *ret_path, size_t path_bytes)
{
    struct fmt f = fmt_init(ret_path, path_bytes);
    const char *name = map->l_name ? map->l_name : "";

    if (*name == '\0') {
        const struct disk_string *program = &state->header->executable;

        if (program->bytes == 0 || program->bytes >= path_bytes) {
            host_executable(ret_path, path_bytes);
            return;
        }
        // Use the path recorded at the start, because the program may have been renamed since.
        memcpy(ret_path, table_record(&state->tables[DISK_STRINGS], program->off), program->bytes);
        ret_path[program->bytes] = '\0';
        return;
    }
    if (strncmp(name, "linux-vdso.so", 13) == 0 || strncmp(name, "linux-gate.so", 13) == 0) {
        fmt_str(&f, "[vdso]");
        return;
    }
    if (*name != '/' && sys_getcwd(ret_path, path_bytes) > 0) {
        f.length = strlen(ret_path);
        fmt_char(&f, '/');
    }
    fmt_str(&f, name);
}

static bool
same_object(const struct disk_module *a, const struct disk_module *b, const char *path)
{
    const struct table *strings = &state->tables[DISK_STRINGS];
    size_t path_bytes = strlen(path);

    return a->start == b->start && a->end == b->end && a->bias == b->bias &&
           a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, sizeof a->build_id) == 0 &&
           a->path.bytes == path_bytes &&
           // Other processes can write to the file: an offset must not lead outside the table.
           a->path.off + (uint64_t)path_bytes <= load_acquire(&strings->mapped_bytes) &&
           memcmp(strings->base + a->path.off, path, path_bytes) == 0;
}

/* Mark module ID as unloaded, in memory and in the file. */
static void
mark_gone(uint32_t id)
{
    struct disk_module *m = table_record(&state->tables[DISK_MODULES], id);

    store_release(&stack_state()->modules[id].gone, 1u);
    m->unloaded = load_relaxed(&state->generation) + 1;
}

static void
new_generation(void)
{
    add_relaxed(&state->generation, 1u);
    thread_invalidate_all();
}

/* Mark modules that overlap O as unloaded. */
static void
displace(const struct unwind_object *o)
{
    uint32_t count = stack_state()->module_count;
    bool any = false;

    for (uint32_t i = 1; i <= count; i++) {
        struct module_range *m = &stack_state()->modules[i];

        if (!m->gone && m->start < o->end && o->start < m->end) {
            mark_gone(i);
            any = true;
        }
    }
    if (any)
        new_generation();
}

/* Record O, or reuse the record of an unloaded module at its address. Return the id, or 0 if there
 * is no room. Only one thread at a time may call this. */
static uint32_t
modules_record(const struct unwind_object *o)
{
    const struct link_map *map = o->link_map;
    struct disk_module found = {.start = o->start, .end = o->end, .bias = map->l_addr};
    struct table *t = &state->tables[DISK_MODULES];
    static char path[PATH_BYTES]; // A buffer outside the stack, which may be a signal handler's
                                  // small one.
    uint64_t id;

    displace(o);
    object_path(map, path, sizeof path);
    read_build_id(o, found.bias, &found);
    for (id = 1; id <= stack_state()->module_count; id++) {
        struct disk_module *old = table_record(t, id);

        if (stack_state()->modules[id].gone && same_object(old, &found, path)) {
            stack_state()->modules[id].link_map = o->link_map;
            old->unloaded = 0;
            store_release(&stack_state()->modules[id].gone, 0u);
            return (uint32_t)id;
        }
    }
    if (stack_state()->module_count + 1 >= LIMIT_MODULES || (id = table_take(t, 1)) == TABLE_NONE ||
        id >= LIMIT_MODULES)
        return 0;
    found.path = file_string(path, strlen(path));
    found.loaded = load_relaxed(&state->generation);
    memcpy(table_record(t, id), &found, sizeof found);
    store_release(&((struct disk_module *)table_record(t, id))->id, (uint32_t)id);
    stack_state()->modules[id] = (struct module_range){o->start, o->end, o->link_map, 0};
    store_release(&stack_state()->module_count, (uint32_t)id);
    return (uint32_t)id;
}

/* Record OBJECT under the lock `modules_busy`, unless another thread has recorded it in the
 * meantime. */
static COLD uint32_t
record_alone(const struct unwind_object *object)
{
    uint64_t mask = sys_block_signals();
    uint32_t id = 0;
    bool done = false;

    for (uint32_t i = 0; !done && i < LIMIT_GROW_WAITS; i++) {
        uint32_t idle = 0;

        if (cas_acq_rel(&stack_state()->modules_busy, &idle, 1u)) {
            id = find_live(object);
            if (id == 0)
                id = modules_record(object);
            store_release(&stack_state()->modules_busy, 0u);
            done = true;
        } else {
            sys_wait(i);
            id = find_live(object);
            done = id != 0;
        }
    }
    sys_unblock_signals(mask);
    return id;
}

uint32_t
modules_id(const struct unwind_object *object)
{
    uint32_t id = find_live(object);

    if (unlikely(id == 0) && (id = record_alone(object)) == 0)
        add_relaxed(&state->header->losses.frames_without_module, UINT64_C(1));
    return id;
}

void
modules_sweep(void)
{
    uint32_t count = load_acquire(&stack_state()->module_count);
    bool any = false;

    for (uint32_t i = 1; i <= count; i++) {
        struct module_range *m = &stack_state()->modules[i];
        uint64_t start;

        // Do not read the object, because another thread may be unmapping it.
        if (load_relaxed(&m->gone) ||
            (unwind_identity(m->start, &start) == m->link_map && start == m->start))
            continue;
        mark_gone(i);
        any = true;
    }
    if (any)
        new_generation();
}
