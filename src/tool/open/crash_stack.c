/* crash_stack.c: find the stack of the thread that died in a dump.
 *
 * A profile does not list the recorder among the modules. A thread that dies in malloc or free may
 * be inside the recorder, so its library is added first. */
#include "open/open_set.h"

#include <string.h>

#include "image/examined.h"
#include "open/symbolise.h"
#include "symbol/debug_dirs.h"
#include "symbol/dwfl.h"
#include "symbol/thread_stack.h"
#include "util/path.h"

static bool
crash_read_word(const void *memory, uint64_t address, uint64_t *ret)
{
    const struct memory *m = memory;

    return memory_word(m, address, m->word_bytes, ret);
}

/* Append FRAME to P's locations, which have room. */
static void
append(struct profile *p, const struct thread_frame *frame)
{
    struct profile_location *l = &p->locations[p->location_count++];

    *l = (struct profile_location){.address = frame->address, .exact = frame->exact};
    for (uint32_t i = 1; i < p->module_count; i++)
        if (!p->modules[i].unloaded && frame->address >= p->modules[i].start &&
            frame->address < p->modules[i].end)
            l->module = i;
}

/* Return true if the file of MAPPING is the recorder's library. */
static bool
is_recorder(const struct memory_mapping *mapping)
{
    return strncmp(path_basename(mapping->path), "libheaptap", strlen("libheaptap")) == 0;
}

/* Append the recorder's library in M to P's modules. It is linked at address 0. */
static void
add_recorder(struct profile *p, const struct memory *m)
{
    struct profile_module *v = arena_array(&p->arena, p->module_count + 1, sizeof *v);
    struct profile_module library = {0};

    for (size_t i = 0; i < m->mapping_count; i++) {
        const struct memory_mapping *mapping = &m->mappings[i];

        if (!is_recorder(mapping))
            continue;
        if (mapping->file_off == 0)
            library = (struct profile_module){
                .start = mapping->start, .bias = mapping->start, .path = mapping->path};
        library.end = mapping->end;
    }
    if (library.path == NULL)
        return;
    memcpy(v, p->modules, p->module_count * sizeof *v);
    v[p->module_count++] = library;
    p->modules = v;
}

void
crash_stack_add(struct examined *e, struct profile *p, const struct symbol_choice *choice)
{
    const struct memory_thread *t = e->memory.threads;
    struct symbol_options options = {0};
    struct symbol_paths paths;
    struct thread_frame frames[THREAD_FRAMES_MAX];
    struct profile_location *v;
    size_t count;

    if (e->memory.signal.number == 0 || e->memory.thread_count == 0 || t->register_count == 0)
        return;
    options.debug_dirs = symbolise_dirs(choice);
    paths = object_paths(p, &options);
    add_recorder(p, &e->memory);
    count = thread_stack(p, &paths, &(struct thread_state){
        .machine = e->memory.machine, .registers = t->registers,
        .register_count = t->register_count, .pc = t->pc, .sp = t->sp,
        .read_word = crash_read_word, .memory = &e->memory}, frames);
    debug_dirs_free(options.debug_dirs);
    v = arena_array(&p->arena, p->location_count + count, sizeof *v);
    memcpy(v, p->locations, p->location_count * sizeof *v);
    p->locations = v;
    e->crash = (struct crash_stack){(uint32_t)p->location_count, (uint32_t)count};
    for (size_t i = 0; i < count; i++)
        append(p, &frames[i]);
    p->symbolised = false;
}
