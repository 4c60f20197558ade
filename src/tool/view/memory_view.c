/* memory_view.c: answer a question about the memory of a process once, for text and JSON. */
#include "view/memory_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "analyse/stacks.h"
#include "analyse/user_code.h"
#include "image/saved_registers.h"
#include "symbol/elf_names.h"
#include "util/path.h"
#include "view/phrases.h"

static int
memory_view_by_bytes(const void *a, const void *b)
{
    const struct block *x = *(const struct block *const *)a, *y = *(const struct block *const *)b;

    if (x->size_bytes != y->size_bytes)
        return x->size_bytes > y->size_bytes ? -1 : 1;
    return x->address < y->address ? -1 : 1;
}

static void
list_largest(const struct view *v, struct memory_view *m)
{
    const struct blocks *b = &m->e->blocks;

    m->blocks = arena_array(v->arena, b->count + 1, sizeof *m->blocks);
    for (size_t i = 0; i < b->count; i++)
        if (m->stacks.stack_of[i] != 0)
            m->blocks[m->block_count++] = &b->v[i];
    if (m->block_count > 1)
        qsort(m->blocks, m->block_count, sizeof(struct block *), memory_view_by_bytes);
}

void
memory_view_search(const struct examined *e, struct arena *arena, struct memory_answer *ret)
{
    uint64_t start = ret->address, end = start + 1;

    if (ret->question == MEMORY_ADDRESS || ret->question == MEMORY_POINTERS ||
        (ret->question == MEMORY_RETAIN && ret->address != 0))
        ret->place = place_of(e, ret->address);
    if (ret->place.block != NULL && ret->place.kind != PLACE_ENDED)
        birth_find(e, ret->place.block, arena, &ret->birth);
    if (ret->question == MEMORY_POINTERS && ret->place.kind == PLACE_BLOCK) {
        start = ret->place.block->address;
        end = start + block_extent(ret->place.block);
    }
    if (ret->question == MEMORY_POINTERS)
        pointers_find(e, start, end, arena, &ret->pointers);
    if (ret->question == MEMORY_LEAKS)
        reach_find(e, arena, &ret->reached);
    if (ret->question == MEMORY_CHECK)
        check_blocks(e, arena, &ret->checked);
    if (ret->question == MEMORY_RESIDENT)
        resident_find(e, arena, &ret->resident);
    if (ret->question == MEMORY_RETAIN) {
        ret->retain = arena_array(arena, 1, sizeof *ret->retain);
        retain_find(e, ret->place.kind == PLACE_BLOCK ? ret->place.block : NULL, arena,
                    ret->retain);
    }
}

void
memory_view_build(const struct view *v, const struct examined *e,
                  const struct memory_answer *answer, const struct lost_rules *rules,
                  struct memory_view *ret)
{
    *ret = (struct memory_view){.e = e, .answer = answer};
    block_stacks_build(v->p, v->stacks, &e->blocks, v->arena, &ret->stacks);
    if (answer->question == MEMORY_LARGEST)
        list_largest(v, ret);
    else if (answer->question == MEMORY_LEAKS)
        memory_view_list_lost(v, rules, ret);
}

bool
memory_view_stack(const struct view *v, const struct examined *e, uint32_t site, struct stack *ret)
{
    uint32_t node;

    for (size_t i = 0; i < v->p->site_count; i++)
        if (v->p->sites[i].id == site && v->stacks->site_stacks[i] != 0) {
            *ret = v->stacks->v[v->stacks->site_stacks[i] - 1];
            return true;
        }
    node = site_node(&e->raw, v->p, site);
    if (node != 0)
        *ret = stack_of_node(v->p, node, v->arena);
    return node != 0;
}

void
memory_view_crash(const struct view *v, const struct examined *e, struct stack *ret)
{
    const struct profile_location *first = v->p->locations + e->crash.first_location;
    uint32_t depth = 0, *frames, *locations;

    for (uint32_t i = 0; i < e->crash.location_count; i++)
        depth += first[i].frame_count;
    frames = arena_array(v->arena, depth, sizeof *frames);
    locations = arena_array(v->arena, depth, sizeof *locations);
    *ret = (struct stack){.frames = frames, .locations = locations, .depth = depth};
    for (uint32_t i = 0; i < e->crash.location_count; i++)
        for (uint32_t k = 0; k < first[i].frame_count; k++) {
            *frames++ = first[i].first_frame + k;
            *locations++ = e->crash.first_location + i;
        }
}

const struct stack *
memory_view_shown(const struct view *v, const struct memory_view *m, const struct block *b)
{
    return &v->stacks->v[m->stacks.stack_of[b - m->e->blocks.v] - 1];
}

void
memory_view_neighbours(const struct examined *e, const struct place *place,
                       const struct block **ret_before, const struct block **ret_behind)
{
    const struct blocks *all = &e->blocks;
    const struct block *b = place->block, *before = b, *behind = b != NULL ? b + 1 : all->v;

    *ret_before = *ret_behind = NULL;
    if (place->kind != PLACE_ENDED) {
        if (b == NULL)
            return;
        before = b > all->v ? b - 1 : NULL;
    }
    *ret_before = before;
    if (behind < all->v + all->count)
        *ret_behind = behind;
}

bool
memory_view_lacks_heaps(const struct profile *p, const struct examined *e)
{
    for (size_t i = 1; i < p->heap_count && e->live_only; i++)
        if (p->heaps[i].made > 0)
            return true;
    return false;
}

const char *
memory_view_function(const struct view *v, const struct stack *s)
{
    struct user_code own;
    uint32_t i;

    if (s->depth == 0)
        return "";
    user_code_init(&own, v->p, v->arena);
    i = user_code_frame(&own, s);
    return frame_name(v->p, s->frames[i], s->locations[i], v->arena);
}

const char *
memory_view_line(const struct view *v, const struct stack *s)
{
    struct user_code own;

    if (s->depth == 0)
        return "";
    user_code_init(&own, v->p, v->arena);
    return phrase_place(v->p, s->frames[user_code_frame(&own, s)], false, v->arena);
}

struct profile_module
memory_view_module(const struct profile *p, const struct memory_mapping *mapping)
{
    const struct profile_module *known = NULL;

    for (uint32_t i = 1; i < p->module_count; i++)
        if (!p->modules[i].unloaded && mapping->start >= p->modules[i].start &&
            mapping->start < p->modules[i].end)
            known = &p->modules[i];
    return known != NULL ? *known : (struct profile_module){.path = mapping->path};
}

static const char *
variable_words(const struct view *v, const struct examined *e, uint64_t at)
{
    struct place place = place_of(e, at);
    struct profile_module module;
    const char *name;
    uint64_t off;

    if (place.kind != PLACE_MODULE)
        return "a variable";
    module = memory_view_module(v->p, place.mapping);
    name = variable_name(v->p, &module, place.off, v->arena, &off);
    if (name == NULL)
        return arena_printf(v->arena, "%s + 0x%" PRIx64, path_basename(place.mapping->path),
                            place.off);
    if (off != 0)
        name = arena_printf(v->arena, "%s + %" PRIu64, name, off);
    return arena_printf(v->arena, "%s in %s", name, path_basename(place.mapping->path));
}

const char *
memory_view_holder(const struct view *v, const struct examined *e, const struct pointer *pointer)
{
    uint32_t tid = pointer->thread != NULL ? pointer->thread->tid : 0;
    struct stack stack;

    if (pointer->in_block)
        return arena_printf(v->arena, "byte %" PRIu64 " of a block %s, allocated by %s",
                            pointer->at - pointer->block->address,
                            memory_block_size(v->arena, pointer->block),
                            memory_view_stack(v, e, pointer->block->site, &stack)
                                ? memory_view_function(v, &stack)
                                : "an unknown stack");
    switch (pointer->kind) {
    case SCAN_VARIABLE:
        return variable_words(v, e, pointer->at);
    case SCAN_STACK:
        if (pointer->thread == NULL)
            return "stack of the first thread";
        return arena_printf(v->arena, "stack or variable of thread %" PRIu32, tid);
    case SCAN_REGISTER:
        return arena_printf(v->arena, "%s of thread %" PRIu32,
                            saved_registers_name(&e->memory, pointer->at, v->arena), tid);
    case SCAN_MAPPED:
        break;
    }
    return "memory that the program has mapped itself";
}
