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

/* A frame, identified by its texts; unknown ones are NULL or empty. */
struct json_frame_texts {
    const char *function, *file, *module;
    uint32_t line; // 0 = unknown.
    bool inlined;
};

/* Heaps, or label sets, of P that the document refers to. */
struct json_picks {
    uint32_t *v; // Indices in P, in the order of the entries.
    size_t count, capacity;
    uint32_t *entry_of; // By index in P: entry plus 1; 0 = none.
};

/* Tables of a document. Texts of files, modules and functions are interned, as index plus 1; 0 =
 * unknown. */
struct json_tables {
    struct json *j;
    const struct profile *p; // NULL: frames are identified by their texts.
    struct arena *arena;

    struct strtab files, names;
    // By a text's address, so that a known text is not compared again.
    struct map file_ids, name_ids;
    struct map function_ids; // Key: names id << 32 | module.
    struct map line_ids;     // function << 32 | file << 1 | inlined; then value << 32 | line.
    struct map children;     // Key: parent << 32 | frame.
    struct json_function *functions;
    struct json_module *modules;
    struct json_frame_row *frames;
    struct json_stack_row *stacks;
    size_t function_count, function_capacity, module_count, module_capacity;
    size_t frame_count, frame_capacity, stack_count, stack_capacity;

    struct user_code own; // Finds frames of user code in P.
    bool has_sites;       // Write heaps and labels as well.
    bool has_types;       // Write types as well.
    bool has_languages;   // Some frames are named frames.
    struct json_picks heaps, labels;
    struct strtab types;
    struct map type_ids;

    // By frame and module of P: index plus 1; 0 = not yet in a table.
    uint32_t *frame_of, *module_of;
    uint32_t *stack_of;             // By node of P: index of its whole stack; 0 = none yet.
    uint32_t *depth_of;             // By node: number of frames of its whole stack.
    uint32_t *path;                 // Nodes without an entry, found by json_tables_whole.
    size_t path_capacity;
};

/* Begin the tables of a document that is written to J and has stacks of P. If P is NULL, the stacks
 * come from json_tables_of_texts. */
void json_tables_begin(struct json_tables *t, struct json *j, const struct profile *p,
                       struct arena *arena);

/* Return the index of S, a stack of the profile. */
uint32_t json_tables_stack(struct json_tables *t, const struct stack *s);

/* Return the index of FRAME at LOCATION of the profile. */
uint32_t json_tables_frame(struct json_tables *t, uint32_t frame, uint32_t location);

/* Return the index of HEAP, and of the label set LABELS, of the profile. Only in a document with
 * sites. */
uint32_t json_tables_heap(struct json_tables *t, uint32_t heap);
uint32_t json_tables_labels(struct json_tables *t, uint32_t labels);

/* Return the index of the type NAME. Only in a document with types. */
uint32_t json_tables_type(struct json_tables *t, const char *name);

/* Return the index of the stack with the innermost frame F and the callers PARENT. PARENT 0 is the
 * stack without frames. A text at a known address is not read again. */
uint32_t json_tables_of_texts(struct json_tables *t, uint32_t parent,
                              const struct json_frame_texts *f);

/* Write the tables into the open object, and free all memory outside the arena. */
void json_tables_end(struct json_tables *t);

#endif
