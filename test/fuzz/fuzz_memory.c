/* fuzz_memory.c: read any bytes as a copy of memory, as an ELF file of any processor, and as a
 * linker's map. Each annotation that is found must be in the memory, must be found again when the
 * same bytes are given in another way, and must give a valid profile. */
/* covers: annotation.c annotated_memory.c annotated_profile.c elf_facts.c map_file.c */
#include <stdlib.h>
#include <string.h>

#include "layout/annotated_profile.h"
#include "layout/map_file.h"
#include "profile/profile_valid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *v;
    size_t size;
};

static size_t
read_bytes(void *arg, uint64_t off, void *to, size_t bytes)
{
    const struct bytes *b = arg;

    if (off >= b->size)
        return 0;
    if (bytes > b->size - off)
        bytes = b->size - (size_t)off;
    memcpy(to, b->v + off, bytes);
    return bytes;
}

static void
memory_check_blocks(const struct annotated_memory *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct annotated_block *b = &m->v[i];
        const uint64_t *frames;

        if (b->off > m->parts[b->part].size || b->off < b->head_bytes ||
            (!b->cut_off && b->size > m->parts[b->part].size - b->off) ||
            b->guard_changed > b->guard_bytes || b->stack >= m->stack_count ||
            annotated_stack(m, b->stack, &frames) > ANNOTATION_PLACES_MAX)
            abort();
        // Blocks of one part are in order, and none is in another.
        if (i > 0 && m->v[i - 1].part == b->part && !m->v[i - 1].cut_off &&
            m->v[i - 1].off + m->v[i - 1].size > b->off - b->head_bytes)
            abort();
    }
    for (size_t i = 0; i < m->corruption_count; i++)
        if (m->corruptions[i].front > m->count || m->corruptions[i].block.stack >= m->stack_count)
            abort();
}

static size_t
memory_find(const struct byte_source *source, bool base_known, uint64_t base, int kind,
            const struct elf_facts *facts)
{
    struct memory_part part = {.name = "memory",
                               .source = source,
                               .size = source->size,
                               .base = base,
                               .base_known = base_known};
    struct annotated_options options = {.kind = kind};
    struct annotated_module module = {.path = "/bin/x", .facts = facts, .bias = 0x1000};
    struct annotated_program program = {.path = "/bin/x",
                                        .machine = facts != NULL ? facts->machine : 0,
                                        .modules = &module,
                                        .module_count = facts != NULL};
    struct annotated_memory m;
    struct annotated_places places;
    struct profile *p;
    size_t count;

    annotated_find(&part, 1, &options, &m);
    memory_check_blocks(&m);
    p = annotated_profile(&m, &program, "memory", 1, &places);
    if (!profile_is_valid(p) || !profile_is_writable(p) ||
        counters_live_blocks(&p->totals) != (int64_t)m.count)
        abort();
    count = m.count;
    profile_free(p);
    annotated_release(&m);
    return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    struct byte_source source = {.read = read_bytes, .arg = &bytes, .size = size};
    struct map_names names = {0};
    struct arena arena = {0};
    struct elf_facts facts;
    struct err err;
    bool is_elf = elf_facts_read(&source, "x", &arena, &facts, &err) == 0;

    for (size_t i = 0; is_elf && i < facts.mapping_count; i++)
        if (strlen(facts.mappings[i].path) > size)
            abort();
    memory_find(&source, false, 0, -1, is_elf ? &facts : NULL);
    memory_find(&source, true, 0x20000000, ANNOTATION_32_LITTLE, NULL);
    memory_find(&source, true, 0x7ffff0000000, ANNOTATION_64_BIG, NULL);
    map_file_parse((const char *)data, size, &arena, &names);
    for (size_t i = 0; i < names.count; i++)
        if (map_file_name(&names, names.v[i].address) == NULL || *names.v[i].name == '\0')
            abort();
    map_file_name(&names, UINT64_MAX);
    arena_release(&arena);
    return 0;
}
