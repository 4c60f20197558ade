/* json_tables.h: frames and stacks of a document, each once, referred to by index.
 *
 *     struct json_tables t;
 *
 *     json_tables_begin(&t, j, p, arena);
 *     json_stack(&t, "stack", s);          "stack": 17     (json_stack.h)
 *     json_tables_end(&t);                 "tables": {"frames": …, "stacks": …}
 *
 * A document in the nested layout has no tables; the same calls then write the nested form. */
#ifndef JSON_JSON_TABLES_H
#define JSON_JSON_TABLES_H

#include "analyse/stacks.h"
#include "analyse/user_code.h"
#include "util/json_out.h"

static inline bool
json_is_nested(const struct json *j)
{
    return j->version == JSON_VERSION_NESTED;
}

/* A frame by its texts; those that are unknown are NULL or empty. */
struct json_frame_texts {
    const char *function, *file, *module;
    uint32_t line; // 0 = unknown.
    bool inlined;
};

/* The heaps, or the sets of labels, of P that the document refers to. */
struct json_picks {
    uint32_t *v; // In the order of their entries.
    size_t count, capacity;
    uint32_t *entry_of; // Index plus 1, by index in P.
};

/* Texts of files, modules and functions are interned: index plus 1; 0 = unknown. */
struct json_tables {
    struct json *j;
    const struct profile *p; // NULL: frames are identified by their texts.
    struct arena *arena;

    struct strtab files, names;
    // By a text's address, so that a known text is not read again.
    struct map file_ids, name_ids;
    struct map function_ids; // names id << 32 | module.
    struct map line_ids;     // function << 32 | file and whether inlined, then that << 32 | line.
    struct map children;     // parent << 32 | frame.
    struct json_function *functions;
    struct json_module *modules;
    struct json_frame_row *frames;
    struct json_stack_row *stacks;
    size_t function_count, function_capacity, module_count, module_capacity;
    size_t frame_count, frame_capacity, stack_count, stack_capacity;

    struct user_code own; // Frame of P.
    bool has_sites;       // Heaps and labels are referred to as well.
    bool has_types;       // And types.
    bool has_languages;   // Some frames are named ones.
    struct json_picks heaps, labels;
    struct strtab types;
    struct map type_ids;

    // By node of P; 0 = not in a table yet.
    uint32_t *frame_of, *module_of; // Index plus 1.
    uint32_t *stack_of;             // By node.
    uint32_t *depth_of;             // By node: frames of its whole stack.
    uint32_t *path;                 // Nodes on the way to one with an entry.
    size_t path_capacity;
};

/* Start the tables of a document that is written to J and has stacks of P. With P NULL the stacks
 * come from json_tables_of_texts. */
void json_tables_begin(struct json_tables *t, struct json *j, const struct profile *p,
                       struct arena *arena);

/* Return the index of S, a stack of the profile. */
uint32_t json_tables_stack(struct json_tables *t, const struct stack *s);

/* Return the index of FRAME at LOCATION of the profile. */
uint32_t json_tables_frame(struct json_tables *t, uint32_t frame, uint32_t location);

/* Return the indices of HEAP and of the set LABELS of the profile. Only of a document with
 * sites. */
uint32_t json_tables_heap(struct json_tables *t, uint32_t heap);
uint32_t json_tables_labels(struct json_tables *t, uint32_t labels);

/* Return the index of the type NAME. Only of a document with types. */
uint32_t json_tables_type(struct json_tables *t, const char *name);

/* Return the index of the stack whose innermost frame is F and whose callers are the stack PARENT;
 * 0 is the stack without frames. A text is read once for each address. */
uint32_t json_tables_of_texts(struct json_tables *t, uint32_t parent,
                              const struct json_frame_texts *f);

/* Write the tables into the open object, and free all memory outside the arena. */
void json_tables_end(struct json_tables *t);

#endif
