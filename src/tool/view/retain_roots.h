/* retain_roots.h: names of roots. */
#ifndef VIEW_RETAIN_ROOTS_H
#define VIEW_RETAIN_ROOTS_H

#include "retain/retain.h"
#include "view/memory_view.h"

/* Kinds of roots. */
enum retain_kind {
    RETAIN_VARIABLE, // A variable of a program or library.
    RETAIN_LOCAL,    // A thread-local variable, or libc's record of a thread.
    RETAIN_FRAME,    // The part of a stack that belongs to a function.
    RETAIN_STACK,    // A stack or thread-local variables.
    RETAIN_REGISTER,
    RETAIN_MAPPED,   // Memory that the program has mapped itself.
    RETAIN_SEVERAL,  // Several roots, of one module or thread if `owner` has its name.
    RETAIN_LOST,     // No root.
    RETAIN_KINDS
};

/* Return the name of KIND in JSON. */
const char *retain_kind_name(enum retain_kind kind);

/* A module, all threads, or the memory that the program mapped: the owner of roots. */
struct root_owner {
    const char *name; // NULL for mapped memory.
};

/* A variable, a function's part of a stack, or another root that a view shows as one. */
struct root_group {
    enum retain_kind kind;
    const char *name;   // For people, with its owner.
    uint32_t owner;     // Index into owners.
    uint64_t start;     // Address of a variable; 0 = not known.
    const char *symbol; // Name of a variable or function; NULL = none.
    uint64_t words;     // Number of words.
    // Number of threads that have the words, and the last one (NULL = the first thread); 0 = none.
    uint32_t threads;
    const struct memory_thread *thread;
};

struct root_groups {
    struct root_group *v;
    size_t count, capacity;
    struct root_owner *owners;
    size_t owner_count, owner_capacity;
    uint32_t *of_word; // By word of the roots: index into v.
};

/* Divide the words of R's roots into groups. V's profile must be symbolised. From V's arena. */
void root_groups_build(const struct view *v, const struct retain *r, struct root_groups *ret);

/* Return the place of WORD, a word of R's roots: "server + 568 in redis-server". From V's arena. */
const char *root_groups_word(const struct view *v, const struct retain *r,
                             const struct root_groups *g, const struct root_word *word);

#endif
