/* crash_stack.c: find the stack of the thread that died in a dump.
 *
 * A profile does not list the recorder among the modules. A thread that dies in malloc or free may
 * be inside the recorder, so its library is added first. The recorder's frames are then left out:
 * a function of the real allocator inside and the program's caller outside say all that a reader
 * needs. If the innermost frame is the recorder's, they stay, because the recorder itself may be
 * wrong. */
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

/* Return the module of FRAME; 0 if there is none. */
static uint32_t
module_of(const struct profile *p, const struct thread_frame *frame)
{
    uint32_t module = 0;

    for (uint32_t i = 1; i < p->module_count; i++)
        if (!p->modules[i].unloaded && frame->address >= p->modules[i].start &&
            frame->address < p->modules[i].end)
            module = i;
    return module;
}

/* Return true if the file of MAPPING is the recorder's library. */
static bool
is_recorder(const struct memory_mapping *mapping)
{
    return strncmp(path_basename(mapping->path), "libheaptap", strlen("libheaptap")) == 0;
}

/* Append the recorder's library in M to P's modules. It is linked at address 0. Return its id; 0 if
 * M has none. */
static uint32_t
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
        return 0;
    memcpy(v, p->modules, p->module_count * sizeof *v);
    v[p->module_count++] = library;
    p->modules = v;
    return (uint32_t)p->module_count - 1;
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
    uint32_t recorder, hidden;

    if (e->memory.signal.number == 0 || e->memory.thread_count == 0 || t->register_count == 0)
        return;
    options.debug_dirs = symbolise_dirs(choice);
    paths = object_paths(p, &options);
    recorder = add_recorder(p, &e->memory);
    count = thread_stack(p, &paths, &(struct thread_state){
        .machine = e->memory.machine, .registers = t->registers,
        .register_count = t->register_count, .pc = t->pc, .sp = t->sp,
        .read_word = crash_read_word, .memory = &e->memory}, frames);
    debug_dirs_free(options.debug_dirs);
    v = arena_array(&p->arena, p->location_count + count, sizeof *v);
    memcpy(v, p->locations, p->location_count * sizeof *v);
    p->locations = v;
    hidden = count > 0 && module_of(p, &frames[0]) != recorder ? recorder : 0;
    e->crash.first_location = (uint32_t)p->location_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t module = module_of(p, &frames[i]);

        if (module == 0 || module != hidden)
            p->locations[p->location_count++] = (struct profile_location){
                .address = frames[i].address, .module = module, .exact = frames[i].exact};
    }
    e->crash.location_count = (uint32_t)p->location_count - e->crash.first_location;
    p->symbolised = false;
}
