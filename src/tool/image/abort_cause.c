/* abort_cause.c: find glibc's message and the block that it is about.
 *
 * glibc's allocator aborts when it detects corruption.
 *
 * The message. glibc copies it to a separate mapping before it aborts, so that a dump has it:
 *
 *     4 bytes: length of the mapping │ "free(): invalid size\n"
 *
 * The block. free() keeps the address of the block's chunk, 16 bytes in front of the block, in a
 * register that its callees save. So the address is among the words above the stack pointer of the
 * thread that aborted. Programs have no use for the address of a chunk, but earlier calls have left
 * other such addresses there. So each word is tested: it must be the chunk of a block in the
 * ledger, and the chunk must have the defect that the message states. The first such word wins. A
 * double free leaves no corruption. Its block is used only if no other freed block is among these
 * words.
 *
 * If the size word is zero, or all its bits are ones, free() rejects it at once and may not have
 * stored the chunk's address. The stack then has only the address of the block, because the
 * recorder's free() keeps it. So for a message about a size, a second search is for this address,
 * with the same test.
 *
 * An annotated block begins behind its annotation, so its address in the ledger is larger by the
 * annotation's length.
 *
 * "corrupted top size" names no block. If the word behind the last block of a heap is not a valid
 * size, that block has overflowed. No other message of malloc() leads to a block. */
#include "image/glibc_heap.h"

#include <string.h>

#include "image/place.h"

enum {
    MESSAGE_MAX = 120,
    MAPPING_MAX = 1 << 16,
    // Bytes of the stack to search: more than the frames from free() to the abort, some 700 bytes.
    FRAMES_BYTES = 1024,
    SIGNAL_ABORT = 6,
};

/* Defect of a chunk that a message states. */
enum state {
    STATE_UNSTATED,
    STATE_SIZE,   // The size of the chunk is invalid.
    STATE_NEXT,   // The size of the chunk behind it is invalid.
    STATE_FREE,   // The chunk is already free.
    STATE_UNUSED, // The next chunk marks the chunk as free.
    STATE_TOP,    // The chunk precedes unused memory whose size is invalid.
};

static const struct message {
    const char *begins;
    enum state state;
} messages[] = {
    {"free(): invalid pointer", STATE_SIZE},
    {"munmap_chunk(): invalid pointer", STATE_SIZE},
    {"free(): invalid size", STATE_SIZE},
    {"realloc(): invalid pointer", STATE_SIZE},
    {"realloc(): invalid old size", STATE_SIZE},
    {"free(): invalid next size", STATE_NEXT},
    {"realloc(): invalid next size", STATE_NEXT},
    {"double free or corruption (out)", STATE_SIZE},
    {"double free or corruption (!prev)", STATE_UNUSED},
    {"double free or corruption", STATE_FREE},
    {"free(): double free detected", STATE_FREE},
    {"malloc(): corrupted top size", STATE_TOP},
    {"free(): ", STATE_UNSTATED},
    {"malloc(): ", STATE_UNSTATED},
    {"realloc(): ", STATE_UNSTATED},
    {"malloc_consolidate(): ", STATE_UNSTATED},
    {"corrupted size vs. prev_size", STATE_UNSTATED},
    {"corrupted double-linked list", STATE_UNSTATED},
};

struct finder {
    const struct examined *e;
    enum state state;
};

/* Return the message in the mapping at ADDRESS, and store its first line in TEXT, of MESSAGE_MAX +
 * 1 bytes; NULL if there is none. */
static const struct message *
message_at(const struct memory *m, uint64_t address, char *text)
{
    uint32_t length;
    size_t got;

    if (memory_read(m, address, &length, sizeof length) < sizeof length || length == 0 ||
        length % PAGE_BYTES != 0 || length > MAPPING_MAX)
        return NULL;
    got = memory_read(m, address + sizeof length, text, MESSAGE_MAX);
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    for (size_t i = 0; i < countof(messages); i++)
        if (strncmp(text, messages[i].begins, strlen(messages[i].begins)) == 0)
            return &messages[i];
    return NULL;
}

static const struct message *
find_message(const struct memory *m, char *text)
{
    for (size_t i = 0; i < m->region_count; i++) {
        const struct memory_region *r = &m->regions[i];

        if (!(r->access & MEMORY_WRITE) || memory_mapping_at(m, r->start) != NULL)
            continue;
        for (uint64_t off = 0; off < r->readable_bytes; off += PAGE_BYTES) {
            const struct message *found = message_at(m, r->start + off, text);

            if (found != NULL)
                return found;
        }
    }
    return NULL;
}

/* --- Chunks ----------------------------------------------------------------------------------- */

/* Return true if the word in front of a block at ADDRESS cannot be the size of a chunk in use. */
static bool
size_is_nonsense(const struct memory *m, uint64_t address)
{
    const struct memory_region *r = memory_region_at(m, address);
    uint64_t word, size;

    if (r == NULL || !memory_word(m, address - WORD, WORD, &word))
        return false;
    size = word & ~(uint64_t)FLAGS;
    return size < CHUNK_LEAST || size % ALIGNMENT != 0 ||
           size > r->end - (address - HEAD_BYTES) ||
           ((word & FLAG_MAPPED) != 0 && size % PAGE_BYTES != 0);
}

/* Return the address of the block behind the block at ADDRESS, by the chunk's size; 0 if the size
 * is invalid. */
static uint64_t
behind(const struct memory *m, uint64_t address)
{
    uint64_t word;

    if (size_is_nonsense(m, address) || !memory_word(m, address - WORD, WORD, &word))
        return 0;
    return address + (word & ~(uint64_t)FLAGS);
}

static bool
is_so(const struct finder *f, uint64_t address, bool ended)
{
    const struct memory *m = &f->e->memory;
    uint64_t next = behind(m, address), word;

    switch (f->state) {
    case STATE_SIZE:
        return size_is_nonsense(m, address);
    case STATE_NEXT:
    case STATE_TOP:
        return next != 0 && size_is_nonsense(m, next);
    case STATE_UNUSED:
        return next != 0 && memory_word(m, next - WORD, WORD, &word) &&
               (word & FLAG_BEFORE_USED) == 0;
    case STATE_FREE:
        return ended;
    case STATE_UNSTATED:
        break;
    }
    return false;
}

/* Find the block that begins at ADDRESS, live or freed. Return false if there is none. *RET_ENDED
 * is true if it was freed. */
static bool
abort_cause_block_at(const struct examined *e, uint64_t address, struct ended_block *ret,
                     bool *ret_ended)
{
    const struct block *b = blocks_before(&e->blocks, address);

    if (b != NULL && b->address == address && !(b->flags & BLOCK_HOOKED)) {
        *ret = (struct ended_block){address, b->site};
        *ret_ended = false;
        return true;
    }
    *ret_ended = blocks_ended_before(&e->memory, &e->record, &e->blocks, address,
                                      BLOCKS_LOOK_BACK_BYTES, ret) &&
                 ret->address == address;
    if (e->stacks_carried)
        ret->site = 0;
    return *ret_ended;
}

/* --- The block -------------------------------------------------------------------------------- */

/* Set *RET to the block of the chunk at CHUNK. Return false unless there is one with the defect
 * that the message states. */
static bool
block_of_chunk(const struct finder *f, uint64_t chunk, struct ended_block *ret)
{
    const struct core_record *r = &f->e->record;
    uint64_t start = chunk + HEAD_BYTES, head_bytes = r->annotated != 0 ? r->annotation_bytes : 0;
    bool ended;

    return abort_cause_block_at(f->e, start + head_bytes, ret, &ended) && is_so(f, start, ended);
}

/* Find the block on the stack of the thread that aborted, by words that are AHEAD bytes behind the
 * address of its chunk. Return false if there is none. */
static bool
find_on_stack(const struct finder *f, uint64_t ahead, struct ended_block *ret)
{
    const struct memory *m = &f->e->memory;
    struct ended_block block;
    bool found = false;
    uint64_t word;

    for (uint64_t off = 0;
         off < FRAMES_BYTES && memory_word(m, m->threads[0].sp + off, WORD, &word); off += WORD) {
        if (!block_of_chunk(f, word - ahead, &block))
            continue;
        if (f->state != STATE_FREE && f->state != STATE_UNUSED) {
            *ret = block;
            return true;
        }
        if (found && ret->address != block.address)
            return false;
        *ret = block;
        found = true;
    }
    return found;
}

/* Find the block that was passed to malloc. Return false if none or several may be it. */
static bool
find_passed(const struct finder *f, struct ended_block *ret)
{
    return find_on_stack(f, 0, ret) ||
           (f->state == STATE_SIZE && find_on_stack(f, HEAD_BYTES, ret));
}

/* Find the last block of a region that is followed by an invalid size. Return false unless there is
 * exactly one. */
static bool
find_last(const struct finder *f, struct ended_block *ret)
{
    const struct examined *e = f->e;
    bool found = false;

    for (size_t i = 0; i < e->blocks.count; i++) {
        const struct block *b = &e->blocks.v[i];
        const struct block *next = i + 1 < e->blocks.count ? b + 1 : NULL;

        if (b->flags & BLOCK_HOOKED ||
            (next != NULL && memory_region_at(&e->memory, next->address) ==
                                 memory_region_at(&e->memory, b->address)) ||
            !is_so(f, b->address, false))
            continue;
        if (found)
            return false;
        *ret = (struct ended_block){b->address, b->site};
        found = true;
    }
    return found;
}

void
abort_cause_find(const struct examined *e, struct arena *arena, struct abort_cause *ret)
{
    static const enum abort_kind kinds[] = {
        [STATE_SIZE] = ABORT_OVERWRITTEN,  [STATE_NEXT] = ABORT_OVERFLOWED,
        [STATE_FREE] = ABORT_FREED_TWICE,  [STATE_UNUSED] = ABORT_EITHER,
        [STATE_TOP] = ABORT_OVERFLOWED,    [STATE_UNSTATED] = ABORT_UNKNOWN,
    };
    const struct memory *m = &e->memory;
    struct finder f = {.e = e};
    const struct message *message;
    char text[MESSAGE_MAX + 1];

    *ret = (struct abort_cause){0};
    if (m->lives || m->signal.number != SIGNAL_ABORT || m->word_bytes != WORD || m->big_endian ||
        m->thread_count == 0 || (message = find_message(m, text)) == NULL)
        return;
    ret->message = arena_strdup(arena, text);
    f.state = message->state;
    if (strncmp(text, "realloc", strlen("realloc")) == 0)
        ret->call = ABORT_IN_REALLOC;
    else if (strncmp(text, "malloc()", strlen("malloc()")) == 0)
        ret->call = ABORT_IN_MALLOC;
    if (f.state == STATE_TOP ? find_last(&f, &ret->block) : find_passed(&f, &ret->block))
        ret->kind = kinds[f.state];
    if (ret->kind == ABORT_OVERWRITTEN)
        ret->front = place_in_front(e, ret->block.address);
}
