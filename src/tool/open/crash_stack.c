/* crash_stack.c: find the stack of the thread that died in a dump.
 *
 * A profile does not list the recorder among the modules. A thread that dies in malloc or free may
 * be inside the recorder, so its library is added first. The recorder's frames are then left out:
 * a function of the real allocator inside and the program's caller outside say all that a reader
 * needs. If the innermost frame is the recorder's, they stay, because the recorder itself may be
 * wrong. */
#include "open/open_set.h"

#include "image/examined.h"
#include "open/symbolise.h"
#include "symbol/debug_dirs.h"
#include "symbol/dwfl.h"
#include "symbol/thread_stack.h"

static bool
crash_read_word(const void *memory, uint64_t address, uint64_t *ret)
{
    const struct memory *m = memory;

    return memory_word(m, address, m->word_bytes, ret);
}

/* Remove the frames of MODULE from the COUNT FRAMES; 0 = none. Return the number of others. */
static size_t
leave_out(const struct profile *p, uint32_t module, struct thread_frame *frames, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (module == 0 || thread_frames_module(p, &frames[i]) != module)
            frames[kept++] = frames[i];
    return kept;
}

void
crash_stack_add(struct examined *e, struct profile *p, const struct symbol_choice *choice)
{
    const struct memory_thread *t = e->memory.threads;
    struct symbol_options options = {0};
    struct symbol_paths paths;
    struct thread_frame frames[THREAD_FRAMES_MAX];
    size_t count;
    uint32_t recorder;

    if (e->memory.signal.number == 0 || e->memory.thread_count == 0 || t->register_count == 0)
        return;
    options.debug_dirs = symbolise_dirs(choice);
    paths = object_paths(p, &options);
    recorder = thread_frames_add_recorder(p, &e->memory);
    count = thread_stack(p, &paths, &(struct thread_state){
        .machine = e->memory.machine, .registers = t->registers,
        .register_count = t->register_count, .pc = t->pc, .sp = t->sp,
        .read_word = crash_read_word, .memory = &e->memory}, frames);
    debug_dirs_free(options.debug_dirs);
    if (count > 0 && thread_frames_module(p, &frames[0]) != recorder)
        count = leave_out(p, recorder, frames, count);
    e->crash = (struct crash_stack){thread_frames_append(p, frames, count), (uint32_t)count};
}
