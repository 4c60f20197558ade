/* thread_stack.c: unwind a stopped thread with libdwfl.
 *
 * libdwfl gets the files that symbol.c uses for names (dwfl.h), at the addresses that the profile
 * recorded. The memory may be damaged, so the number of frames is limited: a cycle in the stack
 * would never end. The recorder's unwinder (unwind/unwind.h) would not do: it reads tables of
 * loaded objects in its own process, on its own processor. */
#include "symbol/thread_stack.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/dwfl.h"
#include "util/arena.h"

enum {
    // DWARF numbers.
    X86_64_SP = 7,
    X86_64_PC = 16,
    X86_64_REGISTERS = 17,
    AARCH64_LINK = 30,
    AARCH64_SP = 31,
    AARCH64_REGISTERS = 32, // Numbered as in the kernel's order.
    X86_64_PLACE_MAX = 19,
    THREAD_ID = 1, // libdwfl needs a number; any will do.
};

/* Place of each DWARF register of x86-64 in the kernel's order. */
static const uint8_t x86_64_places[X86_64_REGISTERS] = {10, 12, 11, 5, 13, 14, 4, 19, 9,
                                                        8,  7,  6,  3, 2,  1,  0, 16};

/* Find no debug file: the tables in the files themselves suffice. */
static int
find_nothing(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
             const char *file, const char *link, GElf_Word crc, char **ret_file)
{
    (void)module, (void)userdata, (void)name, (void)base, (void)file, (void)link, (void)crc;
    (void)ret_file;
    return -1;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_nothing,
    .section_address = dwfl_offline_section_address,
};

struct walk {
    const struct thread_state *t;
    uint64_t pc, sp; // Start of the walk.
    bool at_call;    // The start is a return address.
    struct thread_frame *frames;
    size_t count;
};

struct thread_walker {
    Dwfl *dwfl; // NULL = out of memory.
    bool attached;
    struct walk walk; // Walk in progress.
};

static pid_t
next_thread(Dwfl *dwfl, void *arg, void **cursor)
{
    (void)dwfl;
    if (*cursor != NULL)
        return 0;
    *cursor = arg;
    return 1;
}

static bool
read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
    const struct walk *w = arg;
    uint64_t word;

    (void)dwfl;
    if (!w->t->read_word(w->t->memory, address, &word))
        return false;
    *ret = word;
    return true;
}

static bool
set_registers(Dwfl_Thread *thread, void *arg)
{
    const struct walk *w = arg;
    const struct thread_state *t = w->t;
    Dwarf_Word registers[AARCH64_REGISTERS];

    if (t->machine == EM_AARCH64) {
        for (uint32_t i = 0; i < AARCH64_REGISTERS; i++)
            registers[i] = i == AARCH64_SP ? w->sp : t->registers[i];
        dwfl_thread_state_register_pc(thread, w->pc);
        return dwfl_thread_state_registers(thread, 0, AARCH64_REGISTERS, registers);
    }
    for (uint32_t i = 0; i < X86_64_REGISTERS; i++)
        registers[i] = t->registers[x86_64_places[i]];
    registers[X86_64_SP] = w->sp;
    registers[X86_64_PC] = w->pc;
    return dwfl_thread_state_registers(thread, 0, X86_64_REGISTERS, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

static int
add_frame(Dwfl_Frame *frame, void *arg)
{
    struct walk *w = arg;
    unsigned sp_number = w->t->machine == EM_AARCH64 ? AARCH64_SP : X86_64_SP;
    Dwarf_Addr pc;
    Dwarf_Word sp;
    bool exact;

    if (!dwfl_frame_pc(frame, &pc, &exact) || pc == 0)
        return DWARF_CB_ABORT;
    if (dwfl_frame_reg(frame, sp_number, &sp) != 0)
        sp = 0;
    w->frames[w->count++] = (struct thread_frame){pc, exact && !w->at_call, sp};
    w->at_call = false;
    return w->count < THREAD_FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* Return true if T has all registers of a known machine. */
static bool
is_known(const struct thread_state *t)
{
    return (t->machine == EM_X86_64 && t->register_count > X86_64_PLACE_MAX) ||
           (t->machine == EM_AARCH64 && t->register_count >= AARCH64_REGISTERS);
}

/* Report to DWFL the files of P's modules. */
static void
report_modules(Dwfl *dwfl, const struct profile *p, const struct symbol_paths *paths)
{
    struct object_failure ignored;

    for (uint32_t i = 1; i < p->module_count; i++) {
        const struct profile_module *m = &p->modules[i];
        struct object *o = m->unloaded ? NULL : object_open(m, paths, &ignored);

        if (o != NULL)
            object_report(o, dwfl, m->bias);
        object_close(o);
    }
    dwfl_report_end(dwfl, NULL, NULL);
}

/* Find the caller of W's thread, whose pc is in no module of DWFL: a call has just pushed the
 * return address, or stored it in the link register. */
static void
start_at_caller(Dwfl *dwfl, struct walk *w)
{
    const struct thread_state *t = w->t;
    uint64_t caller = 0;

    if (dwfl_addrmodule(dwfl, w->pc) != NULL)
        return;
    if (t->machine == EM_AARCH64)
        caller = t->registers[AARCH64_LINK];
    else if (t->read_word(t->memory, t->sp, &caller))
        w->sp += sizeof caller;
    if (dwfl_addrmodule(dwfl, caller) == NULL)
        return;
    w->frames[w->count++] = (struct thread_frame){w->pc, true, t->sp};
    w->pc = caller;
    w->at_call = true;
}

struct thread_walker *
thread_walker_open(const struct profile *p, const struct symbol_paths *paths)
{
    struct thread_walker *w = xcalloc(1, sizeof *w);

    w->dwfl = dwfl_begin(&callbacks);
    if (w->dwfl != NULL)
        report_modules(w->dwfl, p, paths);
    return w;
}

void
thread_walker_close(struct thread_walker *w)
{
    if (w->dwfl != NULL)
        dwfl_end(w->dwfl);
    free(w);
}

size_t
thread_walker_stack(struct thread_walker *w, const struct thread_state *t,
                    struct thread_frame ret[THREAD_FRAMES_MAX])
{
    struct walk *walk = &w->walk;

    *walk = (struct walk){.t = t, .pc = t->pc, .sp = t->sp, .frames = ret};
    if (w->dwfl != NULL && is_known(t)) {
        start_at_caller(w->dwfl, walk);
        if (!w->attached)
            w->attached = dwfl_attach_state(w->dwfl, NULL, THREAD_ID, &thread_callbacks, walk);
        if (w->attached)
            dwfl_getthread_frames(w->dwfl, THREAD_ID, add_frame, walk);
    }
    if (walk->count == 0)
        ret[walk->count++] = (struct thread_frame){t->pc, true, t->sp};
    return walk->count;
}

size_t
thread_stack(const struct profile *p, const struct symbol_paths *paths,
             const struct thread_state *t, struct thread_frame ret[THREAD_FRAMES_MAX])
{
    struct thread_walker *w = thread_walker_open(p, paths);
    size_t count = thread_walker_stack(w, t, ret);

    thread_walker_close(w);
    return count;
}
