/* json_memory.c: write the document "heaptap-memory".
 *
 *     {"format": "heaptap-memory", …, "memory": {"name": "core.1", "signal": {…}, …},
 *      "reachability": {"lost": {…}, …, "stacks": […]}, "tables": {…}} */
#include "json/json.h"

#include "json/json_tables.h"
#include "view/phrases.h"

/* Write the members of block B, allocated by STACK. */
static void
put_block_of(struct json_tables *t, const struct block *b, const struct stack *stack)
{
    struct json *j = t->j;

    json_address(j, "address", b->address);
    if (b->flags & (BLOCK_UNSIZED | BLOCK_CORRUPTED))
        json_string(j, "size", NULL);
    else
        json_uint(j, "size", b->size_bytes);
    json_bool(j, "size_is_exact",
              !(b->flags & (BLOCK_UNSIZED | BLOCK_CORRUPTED | BLOCK_GUESSED | BLOCK_INHERITED)));
    json_bool(j, "inherited", b->flags & BLOCK_INHERITED);
    json_bool(j, "damaged", b->flags & BLOCK_CORRUPTED);
    json_stack(t, "stack", stack);
}

static void
json_memory_put_block(struct json_tables *t, const struct view *v, const struct examined *e,
                      const struct block *b)
{
    static const struct stack none;
    struct stack stack;

    put_block_of(t, b, memory_view_stack(v, e, b->site, &stack) ? &stack : &none);
}

static void
put_block_or_null(struct json_tables *t, const char *key, const struct view *v,
                  const struct examined *e, const struct block *b)
{
    if (b == NULL) {
        json_string(t->j, key, NULL);
        return;
    }
    json_object(t->j, key);
    json_memory_put_block(t, v, e, b);
    json_end(t->j);
}

/* Write the place of ADDRESS as the object KEY. */
static void
json_memory_put_place(struct json_tables *t, const char *key, const struct view *v,
                      const struct examined *e, uint64_t address)
{
    struct place place = place_of(e, address);
    bool ended = place.kind == PLACE_ENDED;
    struct json *j = t->j;
    struct stack stack;

    json_object(j, key);
    json_address(j, "address", address);
    json_string(j, "kind", memory_place_name(place.kind));
    json_uint(j, "offset", place.off);
    put_block_or_null(t, "block", v, e, ended ? NULL : place.block);
    if (ended) {
        json_address(j, "freed_address", place.ended.address);
        if (memory_view_stack(v, e, place.ended.site, &stack))
            json_stack(t, "allocated", &stack);
    }
    json_known(j, "path", place.mapping != NULL ? place.mapping->path : NULL);
    if (place.thread != NULL)
        json_uint(j, "thread", place.thread->tid);
    json_end(j);
}

/* Write block B and its stack as KEY; null if its address is 0. */
static void
json_memory_put_culprit(struct json_tables *t, const char *key, const struct view *v,
                        const struct examined *e, const struct ended_block *b)
{
    struct stack stack;

    if (b->address == 0) {
        json_string(t->j, key, NULL);
        return;
    }
    json_object(t->j, key);
    json_address(t->j, "address", b->address);
    if (memory_view_stack(v, e, b->site, &stack))
        json_stack(t, "allocated", &stack);
    json_end(t->j);
}

/* Write the message of glibc's allocator before it aborted, and the affected block; null if there
 * is none. */
static void
json_memory_put_abort(struct json_tables *t, const struct view *v, const struct examined *e)
{
    struct abort_cause cause;

    abort_cause_find(e, v->arena, &cause);
    if (cause.message == NULL) {
        json_string(t->j, "abort", NULL);
        return;
    }
    json_object(t->j, "abort");
    json_string(t->j, "message", cause.message);
    json_string(t->j, "kind", memory_abort_kind(&cause));
    json_memory_put_culprit(t, "block", v, e, &cause.block);
    json_memory_put_culprit(t, "front", v, e, &cause.front);
    json_end(t->j);
}

/* Write the stack of the thread that died, innermost frame first. */
static void
put_crash(struct json_tables *t, const struct view *v, const struct examined *e)
{
    struct stack stack;

    memory_view_crash(v, e, &stack);
    json_array(t->j, "stack");
    for (uint32_t i = 0; i < stack.depth; i++) {
        json_object_line(t->j, NULL);
        json_frame(t, stack.frames[i], stack.locations[i]);
        json_end(t->j);
    }
    json_end(t->j);
}

static void
put_signal(struct json_tables *t, const struct view *v, const struct examined *e)
{
    const struct memory_signal *s = &e->memory.signal;
    struct json *j = t->j;

    if (s->number == 0) {
        json_string(j, "signal", NULL);
        return;
    }
    json_object(j, "signal");
    json_uint(j, "number", s->number);
    json_string(j, "name", phrase_signal(v->arena, s->number));
    json_int(j, "code", s->code);
    put_crash(t, v, e);
    json_memory_put_abort(t, v, e);
    if (s->has_address)
        json_memory_put_place(t, "place", v, e, s->address);
    json_end(j);
}

/* Write the memory that a forked child inherited; null for other processes. */
static void
json_memory_put_inherited(struct json *j, const struct inherited *i)
{
    if (!i->forked) {
        json_string(j, "inherited", NULL);
        return;
    }
    json_object_line(j, "inherited");
    json_uint(j, "blocks", i->count);
    json_uint(j, "bytes", i->bytes);
    json_bool(j, "complete", !i->unknown);
    json_uint(j, "parent", i->parent);
    json_bool(j, "recorded", !i->silent);
    json_end(j);
}

void
json_memory_member(struct json_tables *t, const struct view *v)
{
    const struct examined *e = v->memory;
    struct json *j = t->j;

    if (e == NULL)
        return;
    json_object(j, "memory");
    json_string(j, "name", e->memory.name);
    json_bool(j, "lives", e->memory.lives);
    json_bool(j, "recorded", !e->unrecorded);
    json_uint(j, "missing_bytes", e->memory.missing_bytes);
    json_uint(j, "excluded_bytes", e->excluded_bytes);
    json_uint(j, "threads", e->memory.thread_count);
    json_uint(j, "threads_running", e->running);
    json_uint(j, "threads_held", e->held);
    json_uint(j, "stopped_ns", e->stopped_ns);
    json_bool(j, "copied", e->copied);
    json_uint(j, "blocks", e->blocks.count);
    json_uint(j, "blocks_of_unknown_size", e->blocks.unsized);
    json_uint(j, "ledger_parts_missing", e->blocks.missing_leaves);
    json_bool(j, "own_heaps_left_out", memory_view_lacks_heaps(v->p, e));
    json_bool(j, "stacks_from_annotations", e->stacks_carried);
    json_memory_put_inherited(j, &e->inherited);
    put_signal(t, v, e);
    json_array(j, "damaged");
    for (size_t i = 0; i < e->blocks.count; i++)
        if (e->blocks.v[i].flags & BLOCK_CORRUPTED) {
            json_object(j, NULL);
            json_memory_put_block(t, v, e, &e->blocks.v[i]);
            put_block_or_null(t, "before", v, e, i > 0 ? &e->blocks.v[i - 1] : NULL);
            json_end(j);
        }
    json_end(j);
    json_end(j);
}

static void
json_memory_put_blocks(struct json_tables *t, const struct view *v, const struct memory_view *m,
                       size_t limit)
{
    json_array(t->j, "blocks");
    for (size_t i = 0; i < m->block_count && i < limit; i++) {
        json_object_line(t->j, NULL);
        put_block_of(t, m->blocks[i], memory_view_shown(v, m, m->blocks[i]));
        json_end(t->j);
    }
    json_end(t->j);
}

/* Write VALUE as the member KEY; null unless KNOWN. */
static void
put_if(struct json *j, const char *key, bool known, uint64_t value)
{
    if (known)
        json_uint(j, key, value);
    else
        json_string(j, key, NULL);
}

/* Write time and thread of the allocation of the block at the queried address; null if there is not
 * a block. */
static void
json_memory_put_birth(struct json *j, const struct examined *e, const struct memory_answer *answer)
{
    const struct birth *b = &answer->birth;

    if (answer->place.block == NULL || answer->place.kind == PLACE_ENDED) {
        json_string(j, "birth", NULL);
        return;
    }
    json_object(j, "birth");
    json_bool(j, "annotated", b->annotated);
    put_if(j, "from_ns", b->has_time, b->from_ns);
    put_if(j, "to_ns", b->has_time && b->to_ns != UINT64_MAX, b->to_ns);
    put_if(j, "now_ns", birth_now(e) != 0, birth_now(e));
    put_if(j, "later_blocks", b->has_later, b->later_count);
    json_uint(j, "thread_count", b->thread_count);
    json_array(j, "threads");
    for (uint32_t i = 0; i < b->thread_count && i < BIRTH_THREADS; i++) {
        json_object_line(j, NULL);
        put_if(j, "tid", b->threads[i].tid != 0, b->threads[i].tid);
        json_known(j, "name", *b->threads[i].name != '\0' ? b->threads[i].name : NULL);
        json_uint(j, "uses", b->threads[i].uses);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void
put_neighbours(struct json_tables *t, const struct view *v, const struct memory_view *m)
{
    const struct block *before, *behind;

    memory_view_neighbours(m->e, &m->answer->place, &before, &behind);
    json_memory_put_place(t, "place", v, m->e, m->answer->address);
    json_memory_put_birth(t->j, m->e, m->answer);
    put_block_or_null(t, "before", v, m->e, before);
    put_block_or_null(t, "behind", v, m->e, behind);
}

static void
json_memory_put_pointers(struct json_tables *t, const struct view *v, const struct memory_view *m,
                         size_t limit)
{
    static const char *const kinds[] = {[SCAN_VARIABLE] = "variable",
                                        [SCAN_STACK] = "stack",
                                        [SCAN_REGISTER] = "register",
                                        [SCAN_MAPPED] = "mapped"};
    struct json *j = t->j;

    json_memory_put_place(t, "place", v, m->e, m->answer->address);
    json_uint(j, "pointers_found", m->answer->pointers.found);
    json_array(j, "pointers");
    for (size_t i = 0; i < m->answer->pointers.count && i < limit; i++) {
        const struct pointer *p = &m->answer->pointers.v[i];

        json_object_line(j, NULL);
        json_string(j, "kind", p->in_block ? "block" : kinds[p->kind]);
        if (!p->in_block && p->kind == SCAN_REGISTER)
            json_string(j, "at", NULL);
        else
            json_address(j, "at", p->at);
        json_address(j, "value", p->value);
        json_string(j, "holder", memory_view_holder(v, m->e, p));
        if (p->thread != NULL)
            json_uint(j, "thread", p->thread->tid);
        if (p->in_block)
            put_block_or_null(t, "block", v, m->e, p->block);
        json_end(j);
    }
    json_end(j);
}

static void
json_memory_put_sum(struct json *j, const char *key, const struct block_sum *sum)
{
    json_object_line(j, key);
    json_uint(j, "blocks", sum->blocks);
    json_uint(j, "bytes", sum->bytes);
    json_end(j);
}

static void
json_memory_put_leaks(struct json_tables *t, const struct memory_view *m, size_t limit)
{
    static const char *const keys[REACH_KINDS] = {[REACH_NONE] = "lost",
                                                  [REACH_THROUGH] = "lost_through_others",
                                                  [REACH_MAPPED] = "reached_from_mapped_memory",
                                                  [REACH_STACK] = "reached_from_stacks",
                                                  [REACH_YES] = "reached"};
    struct json *j = t->j;

    json_object(j, "reachability");
    for (size_t i = REACH_KINDS; i-- > 0;)
        json_memory_put_sum(j, keys[i], &m->reached[i]);
    json_memory_put_sum(j, "others", &m->others);
    json_uint(j, "scanned_bytes", m->answer->reached.scanned_bytes);
    if (m->answer->history.readings > 0) {
        json_uint(j, "readings", m->answer->history.readings);
        json_memory_put_sum(j, "lost_in_last_reading", &m->fresh);
        json_uint(j, "recovered_blocks", m->answer->history.recovered);
    }
    if (m->suppressions != NULL)
        json_suppressions(j, (int64_t)m->suppressed.blocks, (int64_t)m->suppressed.bytes,
                          m->suppressions);
    json_array(j, "stacks");
    for (size_t i = 0; i < m->lost_count && i < limit; i++) {
        const struct lost *l = &m->lost[i];

        json_object(j, NULL);
        json_memory_put_sum(j, "lost", &l->none);
        json_memory_put_sum(j, "lost_through_others", &l->through);
        if (m->answer->history.readings > 0) {
            json_memory_put_sum(j, "grown", &l->grown);
            json_uint(j, "growths", l->growths);
        }
        json_address(j, "first_address", l->first);
        json_stack(t, "stack", l->stack);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void
json_memory_put_retained(struct json_tables *t, const struct view *v, const struct memory_view *m,
                         size_t limit)
{
    if (m->answer->retain->target != NULL)
        json_memory_put_place(t, "place", v, m->e, m->answer->address);
    json_retain(t, v, m, limit, put_block_or_null);
}

void
json_memory(struct json *j, const struct view *v, const struct memory_view *m, size_t limit)
{
    struct json_tables t;

    json_tables_begin(&t, j, v->p, v->arena);
    json_object(j, NULL);
    json_head(j, "heaptap-memory", v->p, &v->stacks->total, &v->stacks->errors);
    json_memory_member(&t, v);
    if (m->answer->question == MEMORY_LARGEST)
        json_memory_put_blocks(&t, v, m, limit);
    else if (m->answer->question == MEMORY_ADDRESS)
        put_neighbours(&t, v, m);
    else if (m->answer->question == MEMORY_POINTERS)
        json_memory_put_pointers(&t, v, m, limit);
    else if (m->answer->question == MEMORY_LEAKS)
        json_memory_put_leaks(&t, m, limit);
    else if (m->answer->question == MEMORY_CHECK)
        json_check(&t, v, m, limit, put_block_or_null);
    else if (m->answer->question == MEMORY_RESIDENT)
        json_resident(&t, v, m, limit);
    else if (m->answer->question == MEMORY_RETAIN)
        json_memory_put_retained(&t, v, m, limit);
    json_tables_end(&t);
    json_end(j);
}
