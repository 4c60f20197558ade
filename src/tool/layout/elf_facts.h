/* elf_facts.h: word size, byte order and layout of a program or core for any processor. Parsed by
 * hand, because a core's segments may exceed memory, and because the same code handles both word
 * sizes and both byte orders. */
#ifndef LAYOUT_ELF_FACTS_H
#define LAYOUT_ELF_FACTS_H

#include "layout/annotation.h"
#include "util/arena.h"
#include "util/err.h"

/* A source of bytes. `read` copies up to BYTES bytes at OFF to TO and returns the number copied. */
struct byte_source {
    size_t (*read)(void *arg, uint64_t off, void *to, size_t bytes);
    // Return the first offset from OFF on that may be nonzero, or the size. NULL = no holes known.
    uint64_t (*next_data)(void *arg, uint64_t off);
    void *arg;
    uint64_t size;
};

struct elf_segment {
    uint32_t type, flags; // PT_LOAD and so on, PF_X and so on.
    uint64_t address, off, file_bytes, memory_bytes;
};

/* A range of a file that a core's process had mapped. */
struct elf_mapping {
    uint64_t start, end;
    uint64_t off;     // Offset in the file.
    const char *path; // From the arena.
};

struct elf_facts {
    enum annotation_kind kind; // Its word size and byte order.
    uint32_t type, machine;    // ET_CORE and so on, EM_ARM and so on.
    uint64_t entry;            // Entry point in the file.
    uint64_t entry_here;       // Cores only: entry point in the process; 0 = unknown.
    struct elf_segment *segments;
    size_t segment_count;
    struct elf_mapping *mappings; // Cores only; from the arena.
    size_t mapping_count;
    uint8_t build_id[32];
    uint32_t build_id_bytes; // 0 = none.
};

/* Return true if SOURCE begins like an ELF file. */
bool elf_facts_is_elf(const struct byte_source *source);

/* Read the headers of the ELF file SOURCE, which messages call NAME, into *RET, from ARENA. Returns
 * 0, or HEAPTAP_BAD_INPUT with ERR set. */
int elf_facts_read(const struct byte_source *source, const char *name, struct arena *arena,
                   struct elf_facts *ret, struct err *err);

/* Set *RET to the address of the file's first byte. Return false if no segment has that byte. */
bool elf_facts_first_address(const struct elf_facts *facts, uint64_t *ret);

/* Return a name for the machine: "ARM", or "machine 999". From ARENA. */
const char *elf_facts_machine(uint32_t machine, struct arena *arena);

#endif
