/* build_core.h: build core dumps, for tests of their readers. To be included once.
 *
 *     struct build_core c = build_core_new(8, false, EM_X86_64);
 *     build_core_memory(&c, 0x10000, 4096, PF_R | PF_W, bytes, sizeof bytes);
 *     build_core_note(&c, NT_PRSTATUS, note, sizeof note);
 *     data = build_core_finish(&c, &size); */
#ifndef TEST_UNIT_BUILD_CORE_H
#define TEST_UNIT_BUILD_CORE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/core_record.h"
#include "util/strbuf.h"

enum { BUILD_LOADS = 16 };

struct build_core {
    uint32_t word_bytes, machine;
    bool big_endian;
    struct strbuf notes, data;
    struct {
        uint64_t start, bytes, stored, off;
        uint32_t access;
    } loads[BUILD_LOADS];
    size_t load_count;
};

static inline struct build_core
build_core_new(uint32_t word_bytes, bool big_endian, uint32_t machine)
{
    return (struct build_core){
        .word_bytes = word_bytes, .big_endian = big_endian, .machine = machine};
}

/* Append VALUE in the byte order of C. */
static inline void
build_core_number(const struct build_core *c, struct strbuf *b, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        strbuf_char(b, (char)(value >> (8 * (c->big_endian ? bytes - 1 - i : i))));
}

static inline void
build_core_word(const struct build_core *c, struct strbuf *b, uint64_t value)
{
    build_core_number(c, b, value, c->word_bytes);
}

/* Add BYTES of memory at START. The dump stores only the first STORED, from DATA. */
static inline void
build_core_memory(struct build_core *c, uint64_t start, uint64_t bytes, uint32_t access,
                  const void *data, size_t stored)
{
    c->loads[c->load_count].start = start;
    c->loads[c->load_count].bytes = bytes;
    c->loads[c->load_count].stored = stored;
    c->loads[c->load_count].off = c->data.length;
    c->loads[c->load_count++].access = access;
    if (stored > 0)
        strbuf_add(&c->data, data, stored);
}

static inline void
build_core_note(struct build_core *c, uint32_t type, const void *data, size_t size_bytes)
{
    build_core_number(c, &c->notes, 5, 4);
    build_core_number(c, &c->notes, size_bytes, 4);
    build_core_number(c, &c->notes, type, 4);
    strbuf_add(&c->notes, "CORE\0\0\0", 8);
    strbuf_add(&c->notes, data, size_bytes);
    while (c->notes.length % 4 != 0)
        strbuf_char(&c->notes, '\0');
}

static inline void
build_core_header(const struct build_core *c, struct strbuf *b, uint32_t type, uint32_t access,
                  uint64_t off, uint64_t start, uint64_t stored, uint64_t bytes)
{
    build_core_number(c, b, type, 4);
    if (c->word_bytes == 8)
        build_core_number(c, b, access, 4);
    build_core_word(c, b, off);
    build_core_word(c, b, start);
    build_core_word(c, b, 0);
    build_core_word(c, b, stored);
    build_core_word(c, b, bytes);
    if (c->word_bytes == 4)
        build_core_number(c, b, access, 4);
    build_core_word(c, b, 0);
}

/* Return the file, from malloc, and release C. */
static inline unsigned char *
build_core_finish(struct build_core *c, size_t *ret_bytes)
{
    bool wide = c->word_bytes == 8;
    uint64_t head = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    uint64_t each = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    uint64_t notes = head + each * (c->load_count + 1), data = notes + c->notes.length;
    unsigned char ident[EI_NIDENT] = {0x7f, 'E', 'L', 'F', wide ? ELFCLASS64 : ELFCLASS32,
                                      c->big_endian ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT};
    struct strbuf b = {0};
    unsigned char *file;

    strbuf_add(&b, ident, sizeof ident);
    build_core_number(c, &b, ET_CORE, 2);
    build_core_number(c, &b, c->machine, 2);
    build_core_number(c, &b, EV_CURRENT, 4);
    build_core_word(c, &b, 0);
    build_core_word(c, &b, head);
    build_core_word(c, &b, 0);
    build_core_number(c, &b, 0, 4);
    build_core_number(c, &b, head, 2);
    build_core_number(c, &b, each, 2);
    build_core_number(c, &b, c->load_count + 1, 2);
    build_core_number(c, &b, 0, 2);
    build_core_number(c, &b, 0, 4);
    build_core_header(c, &b, PT_NOTE, 0, notes, 0, c->notes.length, 0);
    for (size_t i = 0; i < c->load_count; i++)
        build_core_header(c, &b, PT_LOAD, c->loads[i].access, data + c->loads[i].off,
                          c->loads[i].start, c->loads[i].stored, c->loads[i].bytes);
    if (c->notes.length > 0)
        strbuf_add(&b, c->notes.text, c->notes.length);
    if (c->data.length > 0)
        strbuf_add(&b, c->data.text, c->data.length);
    file = malloc(b.length);
    memcpy(file, b.text, b.length);
    *ret_bytes = b.length;
    strbuf_release(&b);
    strbuf_release(&c->notes);
    strbuf_release(&c->data);
    return file;
}

/* A recorded process with a heap of one page, and its addresses. */
#define BUILD_RECORD UINT64_C(0x100000)
#define BUILD_LEAVES UINT64_C(0x200000)
#define BUILD_LEAF UINT64_C(0x300000)
#define BUILD_SIDE UINT64_C(0x600000)
#define BUILD_WIDE UINT64_C(0x7000000) // A leaf of the wide ledger, which few dumps have.
#define BUILD_HEAP UINT64_C(0x5000000)

enum { BUILD_HEAP_BYTES = 4096, BUILD_SIDE_SLOTS = 8 };

struct build_recorded {
    struct core_record record;
    struct core_leaf leaves[CORE_CHUNK_LEAVES];
    uint32_t leaf[BUILD_HEAP_BYTES / 32];
    uint64_t side[2 + 3 * BUILD_SIDE_SLOTS];
    unsigned char heap[BUILD_HEAP_BYTES];
};

static inline void
build_recorded_init(struct build_recorded *r)
{
    memset(r, 0, sizeof *r);
    r->record = (struct core_record){.magic = CORE_MAGIC,
                                     .version = CORE_VERSION,
                                     .record_bytes = sizeof r->record,
                                     .address = BUILD_RECORD,
                                     .pid = 4711,
                                     .usable = CORE_USABLE_GLIBC,
                                     .granule_shift = 5,
                                     .leaf_count = 1,
                                     .path = "/nowhere/prog.heaptap"};
    r->record.leaf_chunks[0] = BUILD_LEAVES;
    r->record.sides[0] = BUILD_SIDE;
    r->leaves[0] = (struct core_leaf){BUILD_HEAP & ~UINT64_C(0xffffff), BUILD_LEAF};
    r->side[0] = BUILD_SIDE_SLOTS - 1;
}

/* Add a glibc block of SIZE_BYTES in a chunk of ROOM_BYTES, OFF bytes into the heap. */
static inline void
build_recorded_block(struct build_recorded *r, uint64_t off, uint64_t room_bytes,
                     uint64_t size_bytes, uint32_t site)
{
    uint64_t word = room_bytes | 1;

    memcpy(r->heap + off - 8, &word, sizeof word);
    r->leaf[off / 32] =
        r->record.version == 1
            ? site | (uint32_t)(off % 32 / 8) << CORE_V1_SUB_SHIFT |
                  (uint32_t)(room_bytes - size_bytes) << CORE_PLAIN_SLACK_SHIFT
            : site | (uint32_t)(off % 32 / 16) << CORE_PACKED_SUB_SHIFT |
                  (uint32_t)(room_bytes - size_bytes - CORE_PACKED_SLACK_MIN) << CORE_KIND_SHIFT;
}

/* Mark the block OFF bytes into the heap as ended. */
static inline void
build_recorded_end(struct build_recorded *r, uint64_t off)
{
    r->leaf[off / 32] |= r->record.version == 1
                             ? (uint32_t)CORE_V1_SLACK_ENDED << CORE_PLAIN_SLACK_SHIFT
                             : (uint32_t)CORE_KIND_ENDED << CORE_KIND_SHIFT;
}

/* Return the dump of R, from malloc, which starts with the contents of EXTRA. */
static inline unsigned char *
build_recorded_finish(struct build_recorded *r, struct build_core *extra, size_t *ret_bytes)
{
    size_t leaf_off = (BUILD_HEAP & 0xffffff) / 32 * 4;

    build_core_memory(extra, BUILD_RECORD, 8192, PF_R | PF_W, &r->record, sizeof r->record);
    build_core_memory(extra, BUILD_LEAVES, sizeof r->leaves, PF_R | PF_W, r->leaves,
                      sizeof r->leaves);
    build_core_memory(extra, BUILD_LEAF, leaf_off + (2 << 20), PF_R | PF_W, r->leaf,
                      sizeof r->leaf);
    build_core_memory(extra, BUILD_SIDE, 4096, PF_R | PF_W, r->side, sizeof r->side);
    build_core_memory(extra, BUILD_HEAP, sizeof r->heap, PF_R | PF_W, r->heap, sizeof r->heap);
    return build_core_finish(extra, ret_bytes);
}

#endif
