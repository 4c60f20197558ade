/* raw_sites.c: add sites with named frames to a profile.
 *
 * They represent blocks whose stacks are unknown. They are added to copies of the profile's tables,
 * so that every view and every written profile has them. */
#include "image/raw_sites.h"

#include <string.h>

#include "format/core_record.h"

// Record of NAMED that represents all other functions. Record 0 is reserved.
enum { NAMED_OTHER = 1 };

/* Replace the table KIND of RAW by a copy, cut or padded with zeros to COUNT records, and append
 * ADDED records. Each has RECORD_BYTES, unless the table's records have another size. Return the
 * appended records. */
static unsigned char *
raw_sites_extend(struct raw_file *raw, enum disk_kind kind, size_t count, size_t record_bytes,
                 size_t added)
{
    struct raw_table *t = &raw->tables[kind];
    size_t old = raw_count(raw, kind), stride = t->record_bytes ? t->record_bytes : record_bytes;
    unsigned char *bytes = arena_alloc(raw->arena, (count + added) * stride);

    if (old > 0)
        memcpy(bytes, t->bytes, (old < count ? old : count) * stride);
    t->bytes = bytes;
    t->size_bytes = (count + added) * stride;
    t->record_bytes = (uint32_t)stride;
    t->in_place = false;
    return bytes + count * stride;
}

/* Append TEXTS to the strings of RAW, and store where they are in RET. */
static void
add_strings(struct raw_file *raw, const char *const *texts, size_t count, struct disk_string *ret)
{
    size_t off = raw->tables[DISK_STRINGS].size_bytes, all = 0;
    unsigned char *to;

    for (size_t i = 0; i < count; i++) {
        ret[i] = (struct disk_string){.off = (uint32_t)(off + all),
                                      .bytes = (uint32_t)strlen(texts[i])};
        all += ret[i].bytes;
    }
    to = raw_sites_extend(raw, DISK_STRINGS, off, 1, all);
    for (size_t i = 0; i < count; i++)
        memcpy(to + (ret[i].off - off), texts[i], ret[i].bytes);
}

static uint32_t
largest_site(const struct raw_file *raw)
{
    uint32_t largest = DISK_SITE_FIRST - 1;

    for (size_t i = 0; i < raw_count(raw, DISK_NODES); i++) {
        const struct disk_node *d = raw_record(raw, DISK_NODES, i);

        for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++)
            if (d->site[c] > largest)
                largest = d->site[c];
    }
    return largest;
}

uint32_t
raw_sites_add(struct raw_file *raw, const char *const *names, size_t count)
{
    static const char *const language[] = {"heaptap"};
    size_t named = raw_count(raw, DISK_NAMED), nodes = raw_count(raw, DISK_NODES);
    struct disk_string *strings = arena_array(raw->arena, count, sizeof *strings), of_language;
    uint32_t site = largest_site(raw) + 1;
    unsigned char *frame, *node;

    if (site + count * DISK_SIZE_CLASSES > CORE_SITE_MASK)
        return 0;
    if (named <= NAMED_OTHER)
        named = NAMED_OTHER + 1;
    if (nodes < DISK_NODE_FIRST)
        nodes = DISK_NODE_FIRST;
    add_strings(raw, names, count, strings);
    add_strings(raw, language, 1, &of_language);
    frame = raw_sites_extend(raw, DISK_NAMED, named, sizeof(struct disk_named), count);
    node = raw_sites_extend(raw, DISK_NODES, nodes, sizeof(struct disk_node), count);
    for (size_t i = 0; i < count; i++) {
        struct disk_named f = {
            .id = (uint32_t)(named + i), .function = strings[i], .language = of_language};
        struct disk_node n = {.parent = DISK_NODE_ROOT};

        n.frame = (uint64_t)DISK_NAMED_FRAME << DISK_ADDRESS_BITS | (named + i);
        for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++)
            n.site[c] = site + (uint32_t)(i * DISK_SIZE_CLASSES) + c;
        memcpy(frame + i * raw->tables[DISK_NAMED].record_bytes, &f, sizeof f);
        memcpy(node + i * raw->tables[DISK_NODES].record_bytes, &n, sizeof n);
    }
    raw->header.incompatible |= (uint64_t)DISK_INCOMPATIBLE_NAMED;
    return site;
}
