/* retain_view.h: what keeps memory alive, identical in text and JSON. */
#ifndef VIEW_RETAIN_VIEW_H
#define VIEW_RETAIN_VIEW_H

#include "view/retain_roots.h"

enum retain_by { RETAIN_BY_ROOT, RETAIN_BY_SITE, RETAIN_BY_TYPE, RETAIN_BY_COUNT };

/* Names of enum retain_by: "root", "site", "type"; then NULL. */
extern const char *const retain_by_names[];

struct retain_row {
    enum retain_kind kind; // BY_ROOT
    const char *name;      // For people: "server in redis-server", "reply by addReply".
    const char *owner;     // BY_ROOT: the module, or "threads"; NULL = none.
    const struct stack *stack; // BY_SITE
    const char *line;      // BY_SITE: where `name`, a function, allocates; "" = unknown.
    uint64_t words;        // BY_ROOT: words of the root that point to blocks.
    // BY_ROOT: blocks that only this root leads to. Otherwise blocks of the row, and blocks that
    // only one of them leads to.
    struct block_sum retained;
    struct block_sum own;  // Blocks of the row; not BY_ROOT.
};

/* A block on the path to the target. */
struct retain_step {
    const struct block *block;
    const char *type;   // NULL = unknown.
    const char *holder; // The word in front that points to the block: a member or "+24", a root.
    uint64_t at; // Address of the word; its offset in the block before, if there is one.
    uint64_t within;    // The word points to this byte of the block.
    bool only; // Every path from a root leads through the block.
};

struct retain_view {
    const struct retain *retain;
    enum retain_by by;
    bool lacks_memory; // Pointers may be missing from the dump: blocks are only perhaps lost.
    struct block_sum total, lost; // Only blocks that the filters select.
    // Nodes that the graph of `retain` has behind its blocks: groups, owners, all, lost blocks.
    struct root_groups groups;
    uint32_t first_group, first_owner, top, lost_node;
    struct retain_row *rows;      // Most retained bytes first.
    size_t row_count;
    // If there is a target: blocks that only it leads to, and the path; step_count 0 = lost.
    struct block_sum retained;
    enum retain_kind root;
    struct retain_step *steps;
    size_t step_count;
};

/* Make a view of R for the stacks of V. If R has a target, the view is about the target, otherwise
 * it is a table with rows BY. STACKS has R's blocks by stack. P is V's profile, which has the
 * members of the types of blocks on the path (analyse/fields.h). From V's arena. Call once for
 * each R. */
void retain_view_build(const struct view *v, struct profile *p, const struct block_stacks *stacks,
                       struct retain *r, enum retain_by by, struct retain_view *ret);

#endif
