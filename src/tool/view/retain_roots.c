/* retain_roots.c: divide the words of roots by variable, function or thread.
 *
 * Words are ordered by address within each range of memory. So the words of a variable follow each
 * other, and its name is looked up once. All calls of a function on any stack are one group, and so
 * are the instances of a thread-local variable: a program may have hundreds of equal threads. All
 * mapped memory is one group, because nothing names its parts. */
#include "view/retain_roots.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/fields.h"
#include "analyse/frame_name.h"
#include "image/saved_registers.h"
#include "symbol/demangle.h"
#include "symbol/elf_names.h"
#include "util/path.h"
#include "view/phrases.h"
#include "view/style.h"

const char *
retain_kind_name(enum retain_kind kind)
{
    static const char *const names[RETAIN_KINDS] = {
        [RETAIN_VARIABLE] = "variable", [RETAIN_LOCAL] = "thread_local",
        [RETAIN_FRAME] = "frame",       [RETAIN_STACK] = "stack",
        [RETAIN_REGISTER] = "register", [RETAIN_MAPPED] = "mapped",
        [RETAIN_SEVERAL] = "several",   [RETAIN_LOST] = "lost",
    };

    return names[kind];
}

// The owner of all roots of threads.
#define THREADS "threads"

/* The symbols of a module. */
struct root_module {
    const char *path;
    struct variables *variables;
    uint32_t owner;
};

struct grouping {
    const struct view *v;
    const struct retain *r;
    struct root_groups *out;
    struct root_module *modules;
    size_t module_count, module_capacity;
    const struct memory_thread *thread; // Owner of the words of the present root, and its frames.
    size_t first_frame, end_frame;
    struct root_module *module;
    uint64_t module_start; // Address of the first byte of the module's file.
    struct variables *program; // Variables of the program; NULL = not known.
    uint32_t group;        // Group of the last variable, and the variable's end.
    uint64_t group_end;
};

static uint32_t
owner_called(struct grouping *g, const char *name)
{
    struct root_groups *out = g->out;

    for (size_t i = 0; i < out->owner_count; i++)
        if (out->owners[i].name == name ||
            (name != NULL && out->owners[i].name != NULL &&
             strcmp(out->owners[i].name, name) == 0))
            return (uint32_t)i;
    arena_grow(g->v->arena, &out->owners, &out->owner_capacity, out->owner_count,
               sizeof *out->owners);
    out->owners[out->owner_count].name = name;
    return (uint32_t)out->owner_count++;
}

static uint32_t
add_group(struct grouping *g, struct root_group group)
{
    struct root_groups *out = g->out;

    arena_grow(g->v->arena, &out->v, &out->capacity, out->count, sizeof *out->v);
    out->v[out->count] = group;
    return (uint32_t)out->count++;
}

/* Return the group of KIND, OWNER and SYMBOL (or NULL), which is made with NAME if it is missing.
 * NAME is NULL for groups of threads. */
static uint32_t
group_called(struct grouping *g, enum retain_kind kind, uint32_t owner, const char *symbol,
             const char *name)
{
    for (size_t i = 0; i < g->out->count; i++) {
        const struct root_group *known = &g->out->v[i];

        if (known->kind == kind && known->owner == owner && known->start == 0 &&
            (known->symbol == symbol ||
             (symbol != NULL && known->symbol != NULL && strcmp(known->symbol, symbol) == 0)))
            return (uint32_t)i;
    }
    return add_group(
        g, (struct root_group){.kind = kind, .name = name, .owner = owner, .symbol = symbol});
}

/* --- Variables ---------------------------------------------------------------------------- */

static struct root_module *
module_of_mapping(struct grouping *g, const struct memory_mapping *mapping)
{
    struct arena *arena = g->v->arena;
    struct profile_module module;
    struct root_module *m;

    for (size_t i = 0; i < g->module_count; i++)
        if (strcmp(g->modules[i].path, mapping->path) == 0)
            return &g->modules[i];
    arena_grow(arena, &g->modules, &g->module_capacity, g->module_count, sizeof *g->modules);
    m = &g->modules[g->module_count++];
    module = memory_view_module(g->v->p, mapping);
    m->path = mapping->path;
    m->variables = variables_open(g->v->p, &module);
    m->owner = owner_called(g, path_basename(style_clean(arena, mapping->path)));
    return m;
}

/* Prepare a root with variables, whose first word is at AT. */
static void
begin_variables(struct grouping *g, uint64_t at)
{
    struct place place = place_of(g->r->e, at);

    g->module = NULL;
    if (place.kind != PLACE_MODULE)
        return;
    g->module = module_of_mapping(g, place.mapping);
    g->module_start = at - place.off;
}

/* Return the name of VARIABLE for people, from ARENA. */
static const char *
variable_text(struct arena *arena, const struct variable *variable)
{
    return style_clean(arena, arena_strdup(arena, demangle(arena, variable->name)));
}

static uint32_t
variable_group(struct grouping *g, uint64_t at)
{
    struct arena *arena = g->v->arena;
    const struct variable *found;
    const char *name, *owner;

    if (g->module == NULL)
        return group_called(g, RETAIN_VARIABLE, owner_called(g, "a module"), NULL, "variables");
    if (at < g->group_end)
        return g->group;
    owner = g->out->owners[g->module->owner].name;
    found = variables_at(g->module->variables, at - g->module_start);
    if (found == NULL)
        return group_called(g, RETAIN_VARIABLE, g->module->owner, NULL,
                            arena_printf(arena, "variables without names in %s", owner));
    name = variable_text(arena, found);
    g->group_end = g->module_start + found->start + found->size_bytes;
    g->group = add_group(g, (struct root_group){
        .kind = RETAIN_VARIABLE, .owner = g->module->owner, .symbol = name,
        .name = arena_printf(arena, "%s in %s", name, owner),
        .start = g->module_start + found->start});
    return g->group;
}

/* --- Threads ------------------------------------------------------------------------------ */

static const char *
thread_name(struct arena *arena, const struct memory_thread *t)
{
    if (t == NULL)
        return "the first thread";
    if (t->name == NULL || *t->name == '\0')
        return arena_printf(arena, "thread %" PRIu32, t->tid);
    return arena_printf(arena, "thread %" PRIu32 " (%s)", t->tid, style_clean(arena, t->name));
}

/* Return the name of a group of KIND and SYMBOL that belongs to the threads WHICH: "thread 12", or
 * with MANY "3 threads". */
static const char *
thread_group_name(struct arena *arena, enum retain_kind kind, const char *symbol,
                  const char *which, bool many)
{
    switch (kind) {
    case RETAIN_LOCAL:
        if (symbol == NULL)
            return arena_printf(arena, "libc's record of %s", which);
        return *symbol != '\0' ? arena_printf(arena, "%s, thread-local in %s", symbol, which)
                               : arena_printf(arena, "thread-local variables of %s", which);
    case RETAIN_FRAME:
        return arena_printf(arena, "%s on the stack%s of %s", symbol, many ? "s" : "", which);
    case RETAIN_REGISTER:
        return arena_printf(arena, "registers of %s", which);
    default:
        return arena_printf(arena, "stack or variables of %s", which);
    }
}

/* Return the thread-local variable at AT, NULL if there is none. */
static const struct variable *
local_at(const struct grouping *g, uint64_t at, uint64_t *ret_off)
{
    return g->thread != NULL && g->program != NULL && at < g->thread->pointer
               ? variables_local_at(g->program, g->thread->pointer - at, ret_off)
               : NULL;
}

/* Return the function whose part of the stack has the word at AT; NULL if it is unknown. */
static const char *
function_at(const struct grouping *g, uint64_t at)
{
    const struct profile *p = g->v->p;

    for (size_t i = g->first_frame; i < g->end_frame; i++) {
        const struct retain_frame *f = &g->r->frames[i];
        const struct profile_location *l = &p->locations[f->location];

        // The outermost function is the one whose frame it is; the others are inlined.
        if (at >= f->start && at < f->end && l->frame_count > 0)
            return style_clean(g->v->arena,
                               frame_name(p, l->first_frame + l->frame_count - 1, f->location,
                                          g->v->arena));
    }
    return NULL;
}

static uint32_t
stack_group(struct grouping *g, const struct scan_range *root, uint64_t at)
{
    uint32_t owner = owner_called(g, THREADS);
    const struct variable *local;
    const char *function;
    uint64_t off;

    if (g->thread != NULL && g->thread->pointer != 0 &&
        at - g->thread->pointer < SCAN_CONTROL_BYTES)
        return group_called(g, RETAIN_LOCAL, owner, NULL, NULL);
    local = local_at(g, at, &off);
    if (local != NULL)
        return group_called(g, RETAIN_LOCAL, owner, variable_text(g->v->arena, local), NULL);
    function = function_at(g, at);
    if (function != NULL)
        return group_called(g, RETAIN_FRAME, owner, function, NULL);
    return root->is_tls ? group_called(g, RETAIN_LOCAL, owner, "", NULL)
                        : group_called(g, RETAIN_STACK, owner, NULL, NULL);
}

/* Prepare a root that belongs to thread T. */
static void
begin_thread(struct grouping *g, const struct memory_thread *t)
{
    const struct retain *r = g->r;

    g->thread = t;
    for (g->first_frame = 0; g->first_frame < r->frame_count; g->first_frame++)
        if (r->frames[g->first_frame].thread == t)
            break;
    for (g->end_frame = g->first_frame; g->end_frame < r->frame_count; g->end_frame++)
        if (r->frames[g->end_frame].thread != t)
            break;
}

/* Name the groups of threads. */
static void
name_thread_groups(struct grouping *g)
{
    struct arena *arena = g->v->arena;

    for (size_t i = 0; i < g->out->count; i++) {
        struct root_group *group = &g->out->v[i];
        bool many = group->threads > 1;

        if (group->name == NULL)
            group->name = thread_group_name(
                arena, group->kind, group->symbol,
                many ? style_plural(arena, group->threads, "thread")
                     : thread_name(arena, group->thread),
                many);
    }
}

/* --- All ---------------------------------------------------------------------------------- */

static uint32_t
group_of_word(struct grouping *g, const struct root_word *word)
{
    const struct scan_range *root = &g->r->roots.v[word->root];

    switch (root->kind) {
    case SCAN_VARIABLE:
        return variable_group(g, word->at);
    case SCAN_STACK:
        return stack_group(g, root, word->at);
    case SCAN_REGISTER:
        return group_called(g, RETAIN_REGISTER, owner_called(g, THREADS), NULL, NULL);
    case SCAN_MAPPED:
        break;
    }
    return group_called(g, RETAIN_MAPPED, owner_called(g, NULL), NULL,
                        "memory that the program has mapped itself");
}

static struct variables *
variables_of_program(const struct profile *p)
{
    for (uint32_t i = 1; i < p->module_count; i++)
        if (profile_is_program(p, i))
            return variables_open(p, &p->modules[i]);
    return NULL;
}

void
root_groups_build(const struct view *v, const struct retain *r, struct root_groups *ret)
{
    struct grouping g = {.v = v, .r = r, .out = ret, .program = variables_of_program(v->p)};
    const struct roots *roots = &r->roots;
    struct root_group *group;

    *ret = (struct root_groups){
        .of_word = arena_array(v->arena, roots->word_count + 1, sizeof *ret->of_word)};
    for (size_t i = 0; i < roots->word_count; i++) {
        const struct root_word *word = &roots->words[i];

        if (i == 0 || word->root != word[-1].root) {
            begin_thread(&g, roots->v[word->root].thread);
            g.group_end = 0;
            if (roots->v[word->root].kind == SCAN_VARIABLE)
                begin_variables(&g, word->at);
        }
        ret->of_word[i] = group_of_word(&g, word);
        group = &ret->v[ret->of_word[i]];
        group->threads += group->words++ == 0 || group->thread != g.thread;
        group->thread = g.thread;
    }
    name_thread_groups(&g);
    for (size_t i = 0; i < g.module_count; i++)
        variables_close(g.modules[i].variables);
    variables_close(g.program);
}

const char *
root_groups_word(const struct view *v, const struct retain *r, const struct root_groups *g,
                 const struct root_word *word)
{
    const struct root_group *group = &g->v[g->of_word[word - r->roots.words]];
    const char *owner = g->owners[group->owner].name;
    const struct scan_range *root = &r->roots.v[word->root];
    const char *member;
    struct place place;

    if (root->kind == SCAN_REGISTER)
        return arena_printf(v->arena, "%s of %s",
                            saved_registers_name(&r->e->memory, word->at, v->arena),
                            thread_name(v->arena, root->thread));
    if (root->kind == SCAN_MAPPED)
        return arena_printf(v->arena, "0x%" PRIx64 " in memory that the program has mapped itself",
                            word->at);
    if (group->kind != RETAIN_VARIABLE)
        return thread_group_name(v->arena, group->kind, group->symbol,
                                 thread_name(v->arena, root->thread), false);
    member = r->variable != NULL && word == r->path.root
                 ? member_of_variable(v->p, r->variable, v->arena)
                 : NULL;
    if (group->start != 0 && member != NULL)
        return arena_printf(v->arena, "%s%s%s in %s", group->symbol, *member == '[' ? "" : ".",
                            member, owner);
    if (group->start != 0)
        return word->at == group->start
                   ? group->name
                   : arena_printf(v->arena, "%s + %" PRIu64 " in %s", group->symbol,
                                  word->at - group->start, owner);
    place = place_of(r->e, word->at);
    return arena_printf(v->arena, "%s + 0x%" PRIx64, owner, place.off);
}
