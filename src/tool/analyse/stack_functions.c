/* stack_functions.c: functions of a stack.
 *
 * The loader runs constructors on the first thread before main, and exit runs destructors after it.
 * Like main's, their stacks begin with _start or in the loader, but have no function named main.
 * Their outermost frames belong to the loader and the C library and mean nothing to readers. One
 * pseudo-function "(outside main)" replaces them, and the functions below keep their names. In a
 * stripped program main has no name, so an outermost frame of the executable without a name is
 * taken for main.
 *
 *     _dl_start_user > _dl_init > call_init > pool::pool      (outside main) > pool::pool
 *     _start > __libc_start_main > exit > flush               (outside main) > exit > flush
 *     _start > __libc_start_main > main > work                main > work
 *     clone3 > start_thread > worker                          worker
 *
 * A main that ends with a tail call (gcc -O2) is not on the stacks below it: its caller seems to
 * call the other function. This caller, glibc's __libc_start_call_main, calls nothing else except
 * exit, and __nptl_deallocate_tsd if the first thread ends alone. So any other function there was
 * called by main, or is a script's function with the interpreter's main folded away. In a C library
 * without symbols, __libc_start_call_main is the function without a name that __libc_start_main
 * calls: constructors run in __libc_start_main itself. glibc before 2.34 has no such function, so a
 * main with a tail call counts as "(outside main)" there.
 *
 *     _start > __libc_start_main > __libc_start_call_main > app         app
 *     _start > __libc_start_main > __libc_start_call_main > exit > f    (outside main) > exit > f
 *     _start > __libc_start_main > call_init > f                        (outside main) > ...
 *
 * The outer frames of a stack may be missing, because of `run --frames` or for lack of space. Its
 * callers are then unknown, unless the remaining frames contain start-up code or main. If they do,
 * no useful name is missing, and the stack is treated as complete. */
#include "analyse/totals.h"

#include <string.h>

#include "analyse/fold.h"
#include "analyse/frame_name.h"
#include "analyse/group.h"
#include "util/path.h"

void
functions_init(struct functions *f, const struct profile *p, struct arena *arena)
{
    *f = (struct functions){.p = p, .arena = arena, .count = FUNCTION_FIRST};
    f->by_frame = arena_array(arena, p->frame_count, sizeof *f->by_frame);
    f->capacity = FUNCTION_FIRST;
    f->v = arena_array(arena, f->capacity, sizeof *f->v);
}

void
functions_release(struct functions *f)
{
    map_release(&f->ids);
}

void
functions_by_lisp_class(struct functions *f)
{
    uint8_t *classes = arena_array(f->arena, f->p->heap_count, sizeof *classes);
    bool any = false;

    _Static_assert((int)LISP_CLASSES == (int)SIZE_CLASS_COUNT, "amounts have room for either");
    for (size_t i = 0; i < f->p->heap_count; i++) {
        enum lisp_class class = LISP_OTHER;

        any |= lisp_type(&f->p->heaps[i], &class) != NULL;
        classes[i] = (uint8_t)class;
    }
    f->heap_classes = any ? classes : NULL;
}

const char *
functions_class_letters(const struct functions *f)
{
    return f->heap_classes != NULL ? "cfso" : "smlx";
}

uint32_t
functions_of_frame(struct functions *f, uint32_t frame, uint32_t location)
{
    bool is_new;
    uint64_t *id;

    if (f->by_frame[frame] != 0)
        return f->by_frame[frame];
    id = map_put(&f->ids, group_function_key(f->p, frame, location), &is_new);
    if (is_new) {
        arena_grow(f->arena, &f->v, &f->capacity, f->count, sizeof *f->v);
        f->v[f->count] = (struct function){frame, location};
        *id = f->count++;
    }
    // Without a name, the location decides as well; in a damaged file two locations may share a
    // frame.
    if (f->p->frames[frame].function != 0)
        f->by_frame[frame] = (uint32_t)*id;
    return (uint32_t)*id;
}

static bool
is_in_loader(const struct profile *p, uint32_t frame)
{
    const char *name = path_basename(profile_code_of(p, &p->frames[frame]));

    return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld.so", 5) == 0;
}

static bool
is_in_executable(const struct profile *p, uint32_t frame)
{
    return profile_is_program(p, p->frames[frame].module);
}

/* Return true if FRAME is main, or a part of main that the compiler split off. */
static bool
is_main(const struct profile *p, uint32_t frame)
{
    const char *name = profile_string(p, p->frames[frame].function);

    if (*name == '\0')
        return is_in_executable(p, frame);
    return strncmp(name, "main", 4) == 0 && strchr("(. ", name[4]) != NULL;
}

static bool
is_in_libc(const struct profile *p, uint32_t frame)
{
    return strncmp(path_basename(profile_code_of(p, &p->frames[frame])), "libc.so.", 8) == 0;
}

/* Return true if FRAME may be of a function that __libc_start_call_main calls apart from main. */
static bool
is_end_of_main(const struct profile *p, uint32_t frame)
{
    const char *name = profile_string(p, p->frames[frame].function);

    if (p->frames[frame].language != 0)
        return false;
    if (*name == '\0')
        return is_in_libc(p, frame);
    name += fold_alias_length(name);
    return strcmp(name, "exit") == 0 || strcmp(name, "__nptl_deallocate_tsd") == 0;
}

/* Return true if frame I of S, the outermost useful one, is where main should be: main has ended by
 * a tail call. */
static bool
replaces_main(const struct profile *p, const struct stack *s, uint32_t i)
{
    const char *caller, *starter;

    if (i + 2 >= s->depth || is_end_of_main(p, s->frames[i]))
        return false;
    caller = profile_string(p, p->frames[s->frames[i + 1]].function);
    starter = profile_string(p, p->frames[s->frames[i + 2]].function);
    if (*caller != '\0')
        return strcmp(caller, "__libc_start_call_main") == 0;
    return is_in_libc(p, s->frames[i + 1]) && strcmp(starter, "__libc_start_main") == 0;
}

/* Return true if the outermost frames of S are start-up code, or main, which programs do not call.
 * The USEFUL innermost frames are shown. */
static bool
shows_beginning(const struct profile *p, const struct stack *s, uint32_t useful)
{
    uint32_t last = s->frames[s->depth - 1];

    return useful < s->depth || (p->frames[last].function != 0 && is_main(p, last));
}

/* Return true if S begins where a process begins: in the loader, or in the program's _start. */
static bool
begins_process(const struct profile *p, const struct stack *s, uint32_t useful)
{
    uint32_t last = s->frames[s->depth - 1];

    if (is_in_loader(p, last) || strcmp(profile_string(p, p->frames[last].function), "_start") == 0)
        return true;
    return useful < s->depth && p->frames[last].function == 0 && is_in_executable(p, last);
}

size_t
functions_of_stack(struct functions *f, const struct stack *s, const uint32_t **ret)
{
    const struct profile *p = f->p;
    uint32_t depth = s->depth ? stack_useful_depth(p, s) : 0, outermost = UINT32_MAX;
    uint32_t useful = depth;

    if (depth == 0) {
        outermost = FUNCTION_OTHER;
    } else if ((s->flags & (NODE_TRUNCATED | NODE_BROKEN | NODE_CALLERLESS)) &&
               !shows_beginning(p, s, depth)) {
        depth = s->depth;
        outermost = FUNCTION_UNKNOWN;
    } else if (begins_process(p, s, depth)) {
        while (depth > 1 && is_in_loader(p, s->frames[depth - 1]))
            depth--;
        if (!is_main(p, s->frames[depth - 1]) &&
            !(depth == useful && replaces_main(p, s, depth - 1)))
            outermost = FUNCTION_OUTSIDE_MAIN;
    }
    for (uint32_t i = 0; i < depth; i++) {
        arena_grow(f->arena, &f->stack, &f->stack_capacity, i + 1, sizeof *f->stack);
        f->stack[i] = functions_of_frame(f, s->frames[i], s->locations[i]);
    }
    if (outermost != UINT32_MAX) {
        arena_grow(f->arena, &f->stack, &f->stack_capacity, depth, sizeof *f->stack);
        f->stack[depth++] = outermost;
    }
    *ret = f->stack;
    return depth;
}

const char *
functions_name(const struct functions *f, uint32_t function)
{
    static const char *const names[] = {"(outside main)", "(unknown callers)", FRAME_NAME_OTHER};

    if (function < FUNCTION_FIRST)
        return names[function];
    return frame_name(f->p, f->v[function].frame, f->v[function].location, f->arena);
}

const char *
functions_module(const struct functions *f, uint32_t function)
{
    const char *path;

    if (function < FUNCTION_FIRST)
        return NULL;
    path = profile_code_of(f->p, &f->p->frames[f->v[function].frame]);
    return *path ? path : NULL;
}

const char *
functions_file(const struct functions *f, uint32_t function)
{
    const char *path;

    if (function < FUNCTION_FIRST)
        return NULL;
    path = profile_string(f->p, f->p->frames[f->v[function].frame].file);
    return *path ? path : NULL;
}

/* Find the places of functions that share a name. */
static void
place_functions(struct functions *f)
{
    struct path_owner *v = arena_array(f->arena, f->count, sizeof *v);

    for (uint32_t i = 0; i < f->count; i++) {
        const char *module = functions_module(f, i), *file = functions_file(f, i);

        module = module != NULL ? module : "";
        v[i] = (struct path_owner){functions_name(f, i), file != NULL ? file : module,
                                   path_basename(module)};
    }
    f->places = path_tails(f->arena, v, f->count);
    f->placed = f->count;
}

const char *
functions_place(struct functions *f, uint32_t function)
{
    if (f->placed != f->count)
        place_functions(f);
    return f->places[function];
}

const char *
functions_label(struct functions *f, uint32_t function)
{
    const char *name = functions_name(f, function), *place = functions_place(f, function);

    return *place == '\0' ? name : arena_printf(f->arena, "%s (%s)", name, place);
}

void
functions_init_labels(struct functions *f, const struct profile *p, const struct stacks *stacks,
                      struct arena *arena)
{
    functions_init(f, p, arena);
    for (size_t i = 0; i < stacks->count; i++)
        for (uint32_t k = 0; k < stacks->v[i].depth; k++)
            functions_of_frame(f, stacks->v[i].frames[k], stacks->v[i].locations[k]);
}

const char *
functions_frame_label(struct functions *f, uint32_t frame, uint32_t location)
{
    return functions_label(f, functions_of_frame(f, frame, location));
}

int64_t
amount_sum(const struct amount *a)
{
    int64_t sum = 0;

    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++)
        sum = counters_sum(sum, a->by_class[i]);
    return sum;
}

struct counters
amount_counters(const struct amount *a, enum metric metric)
{
    struct counters c = COUNTERS_ZERO;
    int64_t sum = amount_sum(a);

    switch (metric) {
    case METRIC_INUSE:
    case METRIC_ALLOC:
        c.allocated_bytes = sum;
        break;
    case METRIC_PEAK:
        c.peak_bytes = sum;
        break;
    case METRIC_TEMPORARY:
        c.temporary = sum;
        break;
    default:
        c.allocations = sum;
        break;
    }
    return c;
}

void
amount_add(struct amount *sum, const struct amount *a)
{
    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++)
        sum->by_class[i] = counters_sum(sum->by_class[i], a->by_class[i]);
    sum->calls = counters_sum(sum->calls, a->calls);
}

struct amount *
amounts_of_stacks(const struct functions *f, const struct stacks *stacks, enum metric metric,
                  struct arena *arena)
{
    struct amount *amounts = arena_array(arena, stacks->count, sizeof *amounts);

    for (size_t i = 0; i < f->p->site_count; i++) {
        const struct profile_site *s = &f->p->sites[i];
        uint32_t class = f->heap_classes != NULL ? f->heap_classes[s->heap] : s->size_class;
        uint32_t stack = stacks->site_stacks[i];
        struct amount a = {.calls = s->counters.allocations};

        if (stack == 0)
            continue;
        a.by_class[class % SIZE_CLASS_COUNT] = metric_value(&s->counters, metric);
        amount_add(&amounts[stack - 1], &a);
    }
    return amounts;
}
