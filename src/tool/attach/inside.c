/* inside.c: determine by unwinding whether a thread of another process is inside a region.
 *
 * A word on a stack may lead into the region although the call has returned long ago: it is left in
 * a part of a frame that the function has not written yet. Only the unwind tables show that. They
 * are read from the process's files by libdwfl. */
#include "attach/inside.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>

#include "util/arena.h"

enum { FRAMES_MAX = 4096 };

struct inside {
    Dwfl *dwfl;
};

static char *no_debug_files = "-:";

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .debuginfo_path = &no_debug_files,
};

struct inside *
inside_open(uint32_t pid)
{
    struct inside *w = xcalloc(1, sizeof *w);

    w->dwfl = dwfl_begin(&callbacks);
    if (w->dwfl != NULL && dwfl_linux_proc_report(w->dwfl, (pid_t)pid) == 0 &&
        dwfl_report_end(w->dwfl, NULL, NULL) == 0 &&
        dwfl_linux_proc_attach(w->dwfl, (pid_t)pid, true) == 0)
        return w;
    inside_close(w);
    return NULL;
}

void
inside_close(struct inside *w)
{
    if (w == NULL)
        return;
    if (w->dwfl != NULL)
        dwfl_end(w->dwfl);
    free(w);
}

struct walk {
    const struct word_range *ranges;
    size_t count;
    uint32_t frames;
    bool is_inside;
};

static int
look_at(Dwfl_Frame *frame, void *arg)
{
    struct walk *w = arg;
    Dwarf_Addr pc;

    if (!dwfl_frame_pc(frame, &pc, NULL) || ++w->frames > FRAMES_MAX) {
        w->is_inside = true; // Not known.
        return DWARF_CB_ABORT;
    }
    for (size_t i = 0; i < w->count; i++)
        w->is_inside |= pc >= w->ranges[i].low && pc < w->ranges[i].high;
    return w->is_inside ? DWARF_CB_ABORT : DWARF_CB_OK;
}

bool
inside_is_not(struct inside *w, uint32_t tid, const struct word_range *ranges, size_t count)
{
    struct walk walk = {.ranges = ranges, .count = count};

    return w != NULL && dwfl_getthread_frames(w->dwfl, (pid_t)tid, look_at, &walk) == 0 &&
           !walk.is_inside;
}
