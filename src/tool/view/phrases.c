/* phrases.c: terms that all views share. */
#include "view/phrases.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "view/style.h"

const char *const timeline_by_names[] = {"live", "growth", "allocated", "calls", NULL};

const char *
phrase_metric_column(const struct profile *p, enum metric metric)
{
    static const char *const titles[] = {
        [METRIC_INUSE] = "live",            [METRIC_PEAK] = "at peak", [METRIC_ALLOC] = "allocated",
        [METRIC_TEMPORARY] = "short-lived", [METRIC_COUNT] = "calls",
    };

    return metric == METRIC_TEMPORARY && p->totals.lifetimes_unknown ? "temporary" : titles[metric];
}

const char *
phrase_short_lived_title(const struct counters *c)
{
    return c->lifetimes_unknown ? "Temporary" : "Short-lived";
}

const char *
phrase_short_lived(const struct counters *c)
{
    return c->lifetimes_unknown ? "died before the next allocation" : "died within 16 allocations";
}

const char *
phrase_live(const struct profile *p)
{
    if (p->extent != EXTENT_WHOLE)
        return p->extent == EXTENT_BETWEEN ? "Growth of live" : "Live then";
    return p->process.ended ? "Still live at end" : "Live now";
}

const char *
phrase_signal(struct arena *arena, uint32_t number)
{
    const char *name = number < 64 ? sigabbrev_np((int)number) : NULL;

    return name != NULL ? arena_printf(arena, "SIG%s", name)
                        : arena_printf(arena, "signal %u", number);
}

bool
phrase_is_crash(uint32_t number)
{
    static const int errors[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP};

    for (size_t i = 0; i < countof(errors); i++)
        if ((uint32_t)errors[i] == number)
            return true;
    return false;
}

const char *
phrase_end(struct arena *arena, const struct profile_process *pr)
{
    if (pr->end_kind == END_NO_MEMORY)
        return ", killed: out of memory";
    if (pr->end_kind != END_KILLED)
        return "";
    return arena_printf(arena, ", killed by %s", phrase_signal(arena, pr->end_value));
}

const char *
phrase_blocks(struct arena *arena, int64_t blocks, int64_t bytes)
{
    return blocks == 0 && bytes > 0 ? "<1 block" : style_plural(arena, blocks, "block");
}

const char *
phrase_size(struct arena *a, uint64_t bytes)
{
    if (bytes >= MIB && bytes % MIB == 0)
        return arena_printf(a, "%" PRIu64 " MiB", bytes / MIB);
    if (bytes >= KIB && bytes % KIB == 0)
        return arena_printf(a, "%" PRIu64 " KiB", bytes / KIB);
    return arena_printf(a, "%" PRIu64 " B", bytes);
}

/* Return the last two components of PATH, which suffice to identify the file. */
static const char *
path_tail(const char *path)
{
    const char *s = path_basename(path);

    for (const char *k = s - 1; k > path; k--)
        if (k[-1] == '/')
            return k;
    return s > path && s - 1 > path ? path : s;
}

const char *
phrase_file(const struct profile *p, uint32_t frame, bool full)
{
    const struct profile_frame *f = &p->frames[frame];
    const char *file = profile_string(p, f->file), *module = p->modules[f->module].path;

    if (f->file == 0)
        return full ? module : path_basename(module);
    return full ? file : path_tail(file);
}

const char *
phrase_place(const struct profile *p, uint32_t frame, bool full, struct arena *arena)
{
    const struct profile_frame *f = &p->frames[frame];
    const char *file = phrase_file(p, frame, full);

    if (f->file == 0)
        return file;
    return f->line ? arena_printf(arena, "%s:%" PRIu32, file, f->line) : file;
}

const char *
phrase_more_lines(size_t count, struct arena *arena)
{
    if (count == 0)
        return "";
    return arena_printf(arena, " and %s", style_plural(arena, (int64_t)count, "more line"));
}

const char *
phrase_call_site(const struct profile *p, const struct path *path, uint32_t i, uint32_t function,
                 struct arena *arena)
{
    const struct stack *s = path->stack;
    const struct profile_frame *f;
    const struct profile_location *l;

    if (function < FUNCTION_FIRST)
        return "";
    f = &p->frames[s->frames[i]];
    l = &p->locations[s->locations[i]];
    if (f->file && f->line)
        return arena_printf(arena, "%s:%" PRIu32, path_basename(profile_string(p, f->file)),
                            f->line);
    return arena_printf(arena, "%s+0x%" PRIx64, path_basename(p->modules[l->module].path),
                        location_pc(l) - p->modules[l->module].bias);
}
