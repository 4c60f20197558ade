/* annotated_memory.h: find annotated blocks in any copy of memory, with rejected candidates and
 * corruptions. docs/internals/annotated.md defines which candidates are accepted. */
#ifndef LAYOUT_ANNOTATED_MEMORY_H
#define LAYOUT_ANNOTATED_MEMORY_H

#include "layout/elf_facts.h"
#include "util/map.h"

/* A range of memory: SIZE bytes of SOURCE from OFF on, which the process had at BASE. */
struct memory_part {
    const char *name; // For messages.
    const struct byte_source *source;
    uint64_t off, size;
    uint64_t base;
    bool base_known; // If false, base is derived from the blocks, without its upper 32 bits.
    uint64_t stated_count; // Number of blocks that imply `stated_base`, set by annotated_find.
    uint64_t stated_base;  // The base that most blocks imply.
};

/* Reason to reject a mark. */
enum refusal {
    REFUSED_NOT_ONE,     // No annotation follows the mark, which is part of text or code.
    REFUSED_NO_END,      // The annotation has no end at the expected position.
    REFUSED_CUT_OFF,     // The memory ends within the annotation.
    REFUSED_COPY,        // The annotation encodes another address.
    REFUSED_CORRUPTED,   // The checksum of the annotation is wrong.
    REFUSED_INSIDE,      // The mark lies in the bytes of another block.
    REFUSED_OTHER_WORDS, // The word size or byte order differs.
    REFUSALS,
};

struct annotated_block {
    uint64_t off;  // Position of the user's bytes in the part.
    uint64_t size; // Requested size in bytes.
    uint64_t birth, thread; // 0 if the annotation lacks them.
    uint32_t part;
    uint32_t stack; // Index for annotated_stack.
    uint32_t head_bytes;
    // Size of the guard, and index of the first changed byte; guard_bytes if none has changed.
    uint8_t guard_bytes, guard_changed;
    bool has_birth, has_thread;
    bool cut_off; // The memory ends within the block.
};

enum corruption_kind {
    CORRUPTION_PAST_END = 1, // The block overflowed at its end.
    CORRUPTION_BEFORE_START, // The block underflowed at its start.
    CORRUPTION_OVERWRITTEN,  // The annotation was overwritten, most likely from the block in front.
};

struct annotated_corruption {
    enum corruption_kind kind;
    // The readable contents of the annotation; head_bytes is 0 if the start is lost.
    struct annotated_block block;
    size_t front; // Index of the nearest whole block in front, plus 1; 0 = none.
};

struct annotated_memory {
    struct memory_part *parts;
    size_t part_count;
    enum annotation_kind kind; // Word size and byte order of all blocks.
    struct annotated_block *v; // By part and position. Owned.
    size_t count;
    uint64_t bytes; // Sum over all blocks.
    size_t cut_off; // Number of cut-off blocks.
    uint64_t refused[REFUSALS];
    // Number of complete annotations of each word size and byte order.
    size_t by_kind[ANNOTATION_KINDS];
    struct annotated_corruption *corruptions; // Owned, like the arrays below.
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

/* Find the blocks in the COUNT PARTS, which the caller keeps. Set unknown bases in PARTS. The
 * caller releases RET. */
void annotated_find(struct memory_part *parts, size_t count,
                    const struct annotated_options *options, struct annotated_memory *ret);
void annotated_release(struct annotated_memory *m);

/* Set *RET_FRAMES to the return addresses of STACK, innermost first, and return their number. */
size_t annotated_stack(const struct annotated_memory *m, uint32_t stack,
                       const uint64_t **ret_frames);

/* Return the address of BLOCK's first byte. */
uint64_t annotated_address(const struct annotated_memory *m, const struct annotated_block *block);

/* Return true if all bits of the base of PART are known. A base derived from blocks with 8-byte
 * words has only the lower 32 bits, because the checksum of an annotation has 32 bits. */
bool annotated_base_is_whole(const struct annotated_memory *m, uint32_t part);

#endif
