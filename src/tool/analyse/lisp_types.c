/* lisp_types.c: Lisp types, and their classes in mprof's tables.
 *
 * The adapter for Lisp creates a heap for each type, such as "lisp cons", so the heap counts the
 * objects of that type. mprof divided Lisp's objects into four classes: cons cells, floating-point
 * numbers, structures and vectors, and others. A string is a vector. */
#include "analyse/totals.h"

#include <stdlib.h>
#include <string.h>

static const char prefix[] = "lisp ";

static const struct {
    const char *type;
    enum lisp_class class;
} classes[] = {
    {"cons", LISP_CONS},
    {"single-float", LISP_FLOAT},
    {"double-float", LISP_FLOAT},
    {"long-float", LISP_FLOAT},
    {"complex-single-float", LISP_FLOAT},
    {"complex-double-float", LISP_FLOAT},
    {"complex-long-float", LISP_FLOAT},
    {"structure", LISP_STRUCTURE},
    {"array", LISP_STRUCTURE},
    {"vector", LISP_STRUCTURE},
    {"string", LISP_STRUCTURE},
    {"base-string", LISP_STRUCTURE},
    {"bit-vector", LISP_STRUCTURE},
};

const char *
lisp_class_letter(enum lisp_class class)
{
    static const char *const letters[LISP_CLASSES] = {"c", "f", "s", "o"};

    return letters[class];
}

const char *
lisp_class_title(enum lisp_class class)
{
    static const char *const titles[LISP_CLASSES] = {"conses", "floats", "structures, vectors",
                                                     "others"};

    return titles[class];
}

const char *
lisp_type(const struct profile_heap *heap, enum lisp_class *ret_class)
{
    const char *type = heap->name + sizeof prefix - 1;

    if (!heap->own || strncmp(heap->name, prefix, sizeof prefix - 1) != 0)
        return NULL;
    *ret_class = LISP_OTHER;
    for (size_t i = 0; i < countof(classes); i++)
        if (strcmp(type, classes[i].type) == 0)
            *ret_class = classes[i].class;
    return type;
}

static int
lisp_types_compare_rows(const void *a, const void *b)
{
    const struct lisp_row *x = a, *y = b;

    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->type == NULL || y->type == NULL)
        return (x->type != NULL) - (y->type != NULL);
    if (x->counters.allocated_bytes != y->counters.allocated_bytes)
        return x->counters.allocated_bytes > y->counters.allocated_bytes ? -1 : 1;
    return strcmp(x->type, y->type);
}

/* Return true if C has no event, as most types have in a part of a run. */
static bool
lisp_types_is_unused(const struct counters *c)
{
    return c->allocations == 0 && c->allocated_bytes == 0 && c->frees == 0 && c->freed_bytes == 0;
}

void
lisp_types_build(const struct profile *p, struct arena *arena, struct lisp_types *ret)
{
    bool any = false;

    *ret = (struct lisp_types){0};
    ret->v = arena_array(arena, p->heap_count + LISP_CLASSES, sizeof *ret->v);
    for (size_t i = 0; i < LISP_CLASSES; i++)
        ret->v[i] = (struct lisp_row){.class = (enum lisp_class)i};
    ret->count = LISP_CLASSES;
    for (size_t i = 0; i < p->heap_count; i++) {
        enum lisp_class class;
        const char *type = lisp_type(&p->heaps[i], &class);

        if (type == NULL)
            continue;
        any = true;
        if (lisp_types_is_unused(&p->heaps[i].counters))
            continue;
        ret->v[ret->count++] = (struct lisp_row){class, type, p->heaps[i].counters};
        counters_add(&ret->v[class].counters, &p->heaps[i].counters);
        counters_add(&ret->total, &p->heaps[i].counters);
    }
    if (!any)
        ret->count = 0;
    qsort(ret->v, ret->count, sizeof *ret->v, lisp_types_compare_rows);
}
