/* annotated_memory.h: annotated blocks in any copy of memory, rejected candidates, and damage.
 * docs/internals/annotated.md defines which candidates are accepted. */
#ifndef LAYOUT_ANNOTATED_MEMORY_H
#define LAYOUT_ANNOTATED_MEMORY_H

#include "layout/elf_facts.h"
#include "util/map.h"

/* A stretch of memory: SIZE bytes of SOURCE from OFF on, which lay at BASE. */
struct memory_part {
    const char *name; // For messages.
    const struct byte_source *source;
    uint64_t off, size;
    uint64_t base;
    bool base_known; // Otherwise base is derived from the blocks; its high half is unknown.
    uint64_t stated_count; // Set by annotated_find: number of blocks that agree on
    uint64_t stated_base;  // this base, the most frequent one.
};

/* Reasons to refuse a mark. */
enum refusal {
    REFUSED_NOT_ONE,     // No annotation follows the mark: it is text or code.
    REFUSED_NO_END,      // The end of the annotation is not where it should be.
    REFUSED_CUT_OFF,     // The memory ends before the annotation does.
    REFUSED_COPY,        // The block lay at another address.
    REFUSED_CORRUPTED,   // Its check is wrong.
    REFUSED_INSIDE,      // It lies in the bytes of another block.
    REFUSED_OTHER_WORDS, // Another word size or byte order.
    REFUSALS,
};

struct annotated_block {
    uint64_t off;  // Position of the user's bytes, in its part.
    uint64_t size; // As requested.
    uint64_t birth, thread; // If it has them.
    uint32_t part;
    uint32_t stack; // Index; see annotated_stack.
    uint32_t head_bytes;
    uint8_t guard_bytes, guard_changed; // The first that has changed; guard_bytes if none has.
    bool has_birth, has_thread;
    bool cut_off; // The memory ends before the block does.
};

enum corruption_kind {
    CORRUPTION_PAST_END = 1, // The owner of the block wrote past its end.
    CORRUPTION_BEFORE_START, // The owner of the block wrote before its start.
    CORRUPTION_OVERWRITTEN,  // Its annotation was overwritten, most likely from the block in front.
};

struct annotated_corruption {
    enum corruption_kind kind;
    // The readable contents of its annotation; no head if the beginning is lost.
    struct annotated_block block;
    size_t front; // Index of the nearest whole block in front of it, plus 1; 0 = none.
};

struct annotated_memory {
    struct memory_part *parts;
    size_t part_count;
    enum annotation_kind kind; // By block.
    struct annotated_block *v; // By part and place. Owned.
    size_t count;
    uint64_t bytes; // Sum over all blocks.
    size_t cut_off; // Number of cut-off blocks.
    uint64_t refused[REFUSALS];
    size_t by_kind[ANNOTATION_KINDS]; // Annotations with an end, of each word size and order.
    struct annotated_corruption *corruptions; // Owned, as the rest.
    size_t corruption_count;
    uint64_t *frames;
    size_t frame_count, frame_capacity;
    size_t *stack_first; // stack_count + 1 entries: index of each stack's first frame.
    size_t stack_count, stack_capacity;
    struct map stack_ids;
    uint64_t read_bytes, hole_bytes; // Bytes read; bytes known to be zero.
};

struct annotated_options {
    int kind; // enum annotation_kind to accept; -1 = the most frequent one.
    void (*progress)(void *arg, uint64_t done, uint64_t total); // May be NULL; called repeatedly.
    void *progress_arg;
};

/* Find the blocks in the COUNT PARTS, which the caller keeps. Sets unknown bases in them. The
 * caller releases RET. */
void annotated_find(struct memory_part *parts, size_t count,
                    const struct annotated_options *options, struct annotated_memory *ret);
void annotated_release(struct annotated_memory *m);

/* Set *RET_FRAMES to the return addresses of STACK, innermost first, and return their number. */
size_t annotated_stack(const struct annotated_memory *m, uint32_t stack,
                       const uint64_t **ret_frames);

/* Return the address of BLOCK's first byte. */
uint64_t annotated_address(const struct annotated_memory *m, const struct annotated_block *block);

/* Are all bits of the base of PART known? A base derived from blocks with words of 8 bytes has only
 * the lower 32, because the check of an annotation has 32 bits. */
bool annotated_base_is_whole(const struct annotated_memory *m, uint32_t part);

#endif
