/* annotated_stacks.c: make a profile from the annotations in a dump.
 *
 * The stacks of a dump's blocks are in the profile. If the profile is gone, and the process ran
 * with --annotate, the blocks themselves contain their innermost return addresses:
 *
 *     dump ──► annotated blocks ──► profile of their stacks ──► sites of the ledger's blocks
 *
 * The profile is written and parsed like any other, so that every query works as usual. The ledger
 * still determines which blocks live. Its blocks without a readable annotation get the sites of
 * unknown stacks. Freed blocks have no annotation, so their stacks are unknown as well. */
#include "image/examined.h"

#include <string.h>

#include "layout/annotated_profile.h"
#include "layout/core_modules.h"
#include "profile/pack.h"
#include "util/path.h"

static size_t
read_dump(void *arg, uint64_t off, void *to, size_t bytes)
{
    const struct memory *m = arg;

    if (off >= m->size_bytes)
        return 0;
    if (bytes > m->size_bytes - off)
        bytes = (size_t)(m->size_bytes - off);
    memcpy(to, m->bytes + off, bytes);
    return bytes;
}

/* Set the sites of E's blocks to the sites in P, and append annotated blocks that the ledger does
 * not list. */
static void
place_blocks(struct examined *e, const struct annotated_memory *found,
             const struct annotated_places *places, const struct profile *p)
{
    struct blocks *all = &e->blocks;
    size_t listed = all->count;

    for (size_t i = 0; i < listed; i++)
        all->v[i].site = disk_size_class(all->v[i].size_bytes) + 1;
    for (size_t i = 0; i < found->count; i++) {
        uint64_t address = annotated_address(found, &found->v[i]);
        uint32_t site = p->sites[places->site_of[i]].id;
        struct blocks ledger = {.v = all->v, .count = listed};
        const struct block *b = blocks_before(&ledger, address);

        if (b != NULL && b->address == address)
            all->v[b - all->v].site = site;
        else
            blocks_add(all, &e->arena,
                       (struct block){
                           .address = address, .size_bytes = found->v[i].size, .site = site});
    }
    blocks_sort(all);
}

/* Write P and parse it into E as the profile of the process. Returns 0, or an error with ERR
 * set. */
static int
read_model(struct examined *e, const struct profile *p, struct err *err)
{
    struct disk_header *h = &e->raw.header;
    struct strbuf file = {0};
    char *kept;
    int r = write_model(p, &file, err);

    if (r == 0) {
        kept = arena_alloc(&e->arena, file.length);
        memcpy(kept, file.text, file.length);
        r = raw_parse(kept, file.length, e->memory.name, &e->arena, &e->raw, err);
    }
    strbuf_release(&file);
    // The site ids differ from the ledger's. Without a process_start this profile never passes for
    // the lost one.
    h->pid = e->record.pid;
    h->start_unix_ns = e->record.start_unix_ns;
    h->start_monotonic_ns = e->record.start_monotonic_ns;
    h->shared.last_ns = e->record.last_ns;
    return r;
}

int
annotated_stacks_read(struct examined *e, uint32_t *ret_frames, struct err *err)
{
    struct memory *m = &e->memory;
    struct memory_file core = {
        .path = m->name,
        .fd = -1,
        .source = {.read = read_dump, .arg = m, .size = m->size_bytes},
    };
    const struct annotated_options options = {.kind = -1};
    struct annotated_program program = {.machine = m->machine};
    struct annotated_memory found;
    struct annotated_places places;
    struct memory_parts parts = {0};
    struct profile *p;
    int r = memory_file_parts(&core, NULL, &e->arena, &parts, err);

    if (r == 0)
        r = memory_parts_join(&parts, &e->arena, err);
    if (r != 0)
        return r;
    annotated_find(parts.v, parts.count, &options, &found);
    if (found.count == 0) {
        annotated_release(&found);
        return HEAPTAP_NOT_FOUND;
    }
    program.modules = core_modules(&core, &parts, &e->arena, &program.module_count);
    p = annotated_profile(&found, &program,
                          *m->program != '\0' ? m->program : path_basename(m->name),
                          e->record.start_unix_ns, &places);
    *ret_frames = p->frames_kept;
    r = read_model(e, p, err);
    if (r == 0)
        place_blocks(e, &found, &places, p);
    profile_free(p);
    annotated_release(&found);
    return r;
}
