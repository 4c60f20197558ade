/* thread_frames.c: append frames of the process's threads to its profile, and find the frames whose
 * parts of stacks point to blocks.
 *
 * A profile does not list the recorder among the modules. A thread may be inside the recorder, so
 * its library is added first. */
#include "open/open_set.h"

#include <elf.h>
#include <string.h>

#include "image/module_end.h"
#include "open/symbolise.h"
#include "symbol/debug_dirs.h"
#include "symbol/dwfl.h"
#include "util/path.h"

/* Return true if the file of MAPPING is the recorder's library. */
static bool
is_recorder(const struct memory_mapping *mapping)
{
    return strncmp(path_basename(mapping->path), "libheaptap", strlen("libheaptap")) == 0;
}

uint32_t
thread_frames_add_recorder(struct profile *p, const struct memory *m)
{
    struct profile_module *v = arena_array(&p->arena, p->module_count + 1, sizeof *v);
    struct profile_module library = {0};

    for (size_t i = 0; i < m->mapping_count; i++) {
        const struct memory_mapping *mapping = &m->mappings[i];

        if (!is_recorder(mapping))
            continue;
        // It is linked at address 0.
        if (mapping->file_off == 0)
            library = (struct profile_module){
                .start = mapping->start, .bias = mapping->start, .path = mapping->path};
        library.end = mapping->end;
    }
    for (uint32_t i = 1; i < p->module_count; i++)
        if (p->modules[i].start == library.start)
            return i;
    if (library.path == NULL)
        return 0;
    memcpy(v, p->modules, p->module_count * sizeof *v);
    v[p->module_count++] = library;
    p->modules = v;
    return (uint32_t)p->module_count - 1;
}

/* Return true if MAPPING of M begins an ELF file. Set *RET_BIAS to the difference between addresses
 * in the process and in the file. */
static bool
begins_object(const struct memory *m, const struct memory_mapping *mapping, uint64_t *ret_bias)
{
    Elf64_Ehdr header;

    if (mapping->file_off != 0 || mapping->path[0] != '/' ||
        memory_read(m, mapping->start, &header, sizeof header) < sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    *ret_bias = header.e_type == ET_EXEC ? 0 : mapping->start;
    return true;
}

void
thread_frames_add_modules(struct profile *p, const struct examined *e)
{
    const struct memory *m = &e->memory;
    size_t capacity = m->mapping_count + p->module_count + 1, count = p->module_count;
    struct profile_module *v = arena_array(&p->arena, capacity, sizeof *v);

    if (count > 0)
        memcpy(v, p->modules, count * sizeof *v);
    count = count > 0 ? count : 1;
    for (size_t i = 0; i < m->mapping_count; i++) {
        const struct memory_mapping *mapping = &m->mappings[i];
        uint64_t bias, end;

        if (!begins_object(m, mapping, &bias))
            continue;
        end = module_end(e, mapping);
        // Programs lie below their libraries.
        v[count] = (struct profile_module){
            .start = mapping->start, .bias = bias, .path = mapping->path,
            .end = end != UINT64_MAX ? end : mapping->end, .is_program = count == 1};
        count++;
    }
    p->modules = v;
    p->module_count = (uint32_t)count;
}

uint32_t
thread_frames_module(const struct profile *p, const struct thread_frame *frame)
{
    uint32_t module = 0;

    for (uint32_t i = 1; i < p->module_count; i++)
        if (!p->modules[i].unloaded && frame->address >= p->modules[i].start &&
            frame->address < p->modules[i].end)
            module = i;
    return module;
}

/* Append FRAME to P's locations, which have room. */
static void
thread_frames_append_one(struct profile *p, const struct thread_frame *frame)
{
    struct profile_location *l = &p->locations[p->location_count++];

    *l = (struct profile_location){.address = frame->address,
                                   .module = thread_frames_module(p, frame),
                                   .exact = frame->exact};
}

uint32_t
thread_frames_append(struct profile *p, const struct thread_frame *frames, size_t count)
{
    struct profile_location *v = arena_array(&p->arena, p->location_count + count, sizeof *v);
    uint32_t first = (uint32_t)p->location_count;

    memcpy(v, p->locations, p->location_count * sizeof *v);
    p->locations = v;
    for (size_t i = 0; i < count; i++)
        thread_frames_append_one(p, &frames[i]);
    p->symbolised = false;
    return first;
}

/* --- Frames that hold pointers ------------------------------------------------------------ */

struct holding {
    struct retain *retain;
    struct profile *p;
    struct arena *arena;
    size_t capacity; // Frames allocated in `retain`.
    struct thread_frame *kept; // Frames to append, by frame in `retain`.
    size_t kept_capacity;
};

static bool
holding_read_word(const void *memory, uint64_t address, uint64_t *ret)
{
    return retain_read_word(memory, address, ret);
}

/* Keep the COUNT FRAMES of T as far as they hold any of the words FIRST to END, which are all words
 * of a root. */
static void
keep_frames(struct holding *h, const struct memory_thread *t, const struct thread_frame *frames,
            size_t count, size_t first, size_t end)
{
    struct retain *r = h->retain;

    for (size_t i = 0; i < count; i++) {
        uint64_t start = i > 0 ? frames[i].sp : 0;
        uint64_t limit = i + 1 < count ? frames[i + 1].sp : 0;

        // The frame of the last function has no known end.
        while (first < end && r->roots.words[first].at < start)
            first++;
        if (limit <= frames[i].sp || first == end || r->roots.words[first].at >= limit)
            continue;
        arena_grow(h->arena, &r->frames, &h->capacity, r->frame_count, sizeof *r->frames);
        arena_grow(h->arena, &h->kept, &h->kept_capacity, r->frame_count, sizeof *h->kept);
        h->kept[r->frame_count] = frames[i];
        r->frames[r->frame_count++] = (struct retain_frame){t, start, limit, 0};
    }
}

/* Return true if the frames of the words FIRST to END, of one root, are needed: the words are on
 * the stack of a thread with known registers, and the path, if there is one, begins there. */
static bool
needs_frames(const struct retain *r, size_t first, size_t end)
{
    const struct scan_range *root = &r->roots.v[r->roots.words[first].root];
    const struct root_word *begin = r->path.root;

    if (root->kind != SCAN_STACK || root->is_tls || root->thread == NULL ||
        root->thread->register_count == 0)
        return false;
    if (r->target == NULL)
        return true;
    return begin != NULL && begin >= r->roots.words + first && begin < r->roots.words + end;
}

void
thread_frames_find(struct retain *r, struct profile *p, const struct symbol_choice *choice)
{
    struct symbol_options options = {.debug_dirs = symbolise_dirs(choice)};
    struct symbol_paths paths = object_paths(p, &options);
    struct holding h = {.retain = r, .p = p, .arena = &p->arena};
    struct thread_walker *walker = NULL;
    struct thread_frame frames[THREAD_FRAMES_MAX];
    uint32_t location;

    for (size_t first = 0, end; first < r->roots.word_count; first = end) {
        const struct memory_thread *t = r->roots.v[r->roots.words[first].root].thread;
        size_t count;

        end = first;
        while (end < r->roots.word_count &&
               r->roots.words[end].root == r->roots.words[first].root)
            end++;
        if (!needs_frames(r, first, end))
            continue;
        if (walker == NULL) {
            thread_frames_add_recorder(p, &r->e->memory);
            walker = thread_walker_open(p, &paths);
        }
        count = thread_walker_stack(walker, &(struct thread_state){
            .machine = r->e->memory.machine, .registers = t->registers,
            .register_count = t->register_count, .pc = t->pc, .sp = t->sp,
            .read_word = holding_read_word, .memory = r}, frames);
        keep_frames(&h, t, frames, count, first, end);
    }
    if (walker != NULL)
        thread_walker_close(walker);
    debug_dirs_free(options.debug_dirs);
    location = thread_frames_append(p, h.kept, r->frame_count);
    for (size_t i = 0; i < r->frame_count; i++)
        r->frames[i].location = location + (uint32_t)i;
}
