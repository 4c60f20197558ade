/* test_profile.c: the golden files come from a program that allocates 10 bytes and 100 bytes in one
 * function, reallocates the latter to 5000 and frees the former; they are kept forever. If this
 * fails, old profiles no longer read as they did, packing loses data, or a damaged file is
 * trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "build_profile.h"
#include "format/format.h"
#include "platform/limits.h"
#include "load/load.h"
#include "profile/origin.h"
#include "profile/pack.h"
#include "profile/writer.h"

static_assert(LIMIT_COUNTER_BYTES <= DISK_TABLE_BYTES_MAX, "readers take what recorders write");

#define RECORDED "test/golden/v1/recorded.heaptap"
#define PACKED "test/golden/v1/packed.heaptap"

struct bytes {
    struct arena arena;
    unsigned char *data;
    size_t size_bytes;
};

static struct bytes
read_golden(const char *path)
{
    struct bytes b = {0};
    struct err err = {""};
    void *data;

    if (origin_read(path, &b.arena, &data, &b.size_bytes, &err) != 0)
        fail_msg("%s", err.text);
    b.data = data;
    return b;
}

static struct disk_segment *
profile_segment_of(struct bytes *b, enum disk_kind kind)
{
    struct disk_segment *s = (struct disk_segment *)(void *)(b->data + DISK_DIRECTORY_OFF);

    while (s->kind != kind)
        s++;
    return s;
}

static struct profile *
load_expecting_success(const struct bytes *b)
{
    struct profile *p = NULL;
    struct err err = {""};

    if (load_bytes(b->data, b->size_bytes, "golden", &p, &err) != 0)
        fail_msg("%s", err.text);
    return p;
}

static void
check_totals(const struct profile *p)
{
    assert_int_equal(p->totals.allocations, 3);
    assert_int_equal(p->totals.allocated_bytes, 10 + 100 + 5000);
    assert_int_equal(p->totals.frees, 2);
    assert_int_equal(p->totals.freed_bytes, 10 + 100);
    assert_int_equal(p->totals.reallocations, 1);
    assert_int_equal(p->totals.moved, 1);
    assert_int_equal(p->totals.grown_bytes, 4900);
    assert_int_equal(p->totals.peak_bytes, 5010);
    assert_int_equal(p->totals.peak_blocks, 2);
    assert_int_equal(counters_live_bytes(&p->totals), 5000);
    assert_int_equal(p->totals.size_min, 10);
    assert_int_equal(p->totals.size_max, 5000);
    assert_int_equal(p->losses.events, 0);
}

/* If this fails, old profiles show other numbers than on the day they were recorded. */
static void
golden_files_read_as_they_always_did(void **unused)
{
    static const char *const paths[] = {RECORDED, PACKED};

    (void)unused;
    for (size_t i = 0; i < countof(paths); i++) {
        struct profile *p = NULL;
        struct err err = {""};

        if (profile_open(paths[i], &p, &err) != 0)
            fail_msg("%s", err.text);
        check_totals(p);
        assert_int_equal(p->note_count, 0);
        assert_int_equal(p->bins[10].counters.allocations, 1);
        assert_int_equal(p->bins[100].counters.frees, 1);
        assert_string_equal(p->process.command, "./tiny");
        assert_true(p->process.ended);
        assert_int_equal(p->symbolised, i == 1);
        profile_free(p);
    }
}

/* The two blocks have one stack but two size classes; the realloc has another stack. If this fails,
 * the counters of a site are read from its neighbour. */
static void
sites_have_their_own_counters(void **unused)
{
    struct bytes b = read_golden(RECORDED);
    struct profile *p = load_expecting_success(&b);
    int64_t sizes[3] = {0};

    (void)unused;
    for (size_t i = 0; i < p->site_count; i++)
        if (p->sites[i].counters.allocations != 0)
            sizes[p->sites[i].size_class > 1 ? 2 : p->sites[i].size_class] +=
                p->sites[i].counters.allocated_bytes;
    assert_int_equal(sizes[0], 10);
    assert_int_equal(sizes[1], 100);
    assert_int_equal(sizes[2], 5000);
    profile_free(p);
    arena_release(&b.arena);
}

/* If this fails, `heaptap pack` changes a number, or a packed profile has other names on another
 * machine. */
static void
packing_loses_nothing(void **unused)
{
    char path[] = "/tmp/heaptap-test-XXXXXX";
    struct profile *p = NULL, *q = NULL;
    struct err err = {""};
    int fd = mkstemp(path);

    (void)unused;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(profile_open(RECORDED, &p, &err), 0);
    for (size_t i = 1; i < p->location_count; i++) {
        char name[32];

        snprintf(name, sizeof name, "function_%zu", i);
        p->locations[i].first_frame = (uint32_t)p->frame_count;
        p->locations[i].frame_count = 1;
        profile_add_frame(p, &(struct profile_frame){.function = strtab_id(&p->strings, name),
                                                     .line = (uint32_t)i,
                                                     .module = p->locations[i].module,
                                                     .inlined = i % 2});
    }
    p->symbolised = true;
    if (pack_write(RECORDED, p, path, &err) != 0 || profile_open(path, &q, &err) != 0)
        fail_msg("%s", err.text);
    check_totals(q);
    assert_true(q->symbolised);
    assert_int_equal(q->site_count, p->site_count);
    assert_int_equal(q->location_count, p->location_count);
    assert_true(q->recorder.file_bytes < p->recorder.file_bytes);
    assert_int_equal(q->recorder.memory_bytes, p->recorder.memory_bytes);
    for (size_t i = 1; i < p->location_count; i++) {
        const struct profile_frame *a = &p->frames[p->locations[i].first_frame];
        const struct profile_frame *b = &q->frames[q->locations[i].first_frame];

        assert_string_equal(profile_string(p, a->function), profile_string(q, b->function));
        assert_int_equal(a->line, b->line);
        assert_int_equal(a->inlined, b->inlined);
    }
    unlink(path);
    profile_free(p);
    profile_free(q);
}

static void
refused(const void *data, size_t size_bytes, const char *because)
{
    struct profile *p = NULL;
    struct err err = {""};

    assert_int_equal(load_bytes(data, size_bytes, "input", &p, &err), HEAPTAP_BAD_INPUT);
    if (strstr(err.text, because) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, because);
}

/* If this fails, `heaptap run`, which packs with tables that it has already read, writes another
 * file than `heaptap core -o` for the same input. */
static void
tables_at_hand_pack_as_the_file_does(void **unused)
{
    static char one[1 << 20], two[1 << 20];
    struct arena tables = {0};
    struct err err = {""};
    struct raw_file raw;
    struct profile *p;
    FILE *f;
    size_t size;

    (void)unused;
    assert_int_equal(profile_open_tables(RECORDED, &tables, &raw, &p, &err), 0);
    assert_int_equal(pack_write(RECORDED, p, "test_profile_file.heaptap", &err), 0);
    assert_int_equal(pack_tables(RECORDED, &raw, p, "test_profile_tables.heaptap", &err), 0);
    f = fopen("test_profile_file.heaptap", "r");
    size = fread(one, 1, sizeof one, f);
    fclose(f);
    f = fopen("test_profile_tables.heaptap", "r");
    assert_int_equal(fread(two, 1, sizeof two, f), size);
    fclose(f);
    assert_true(size > 0 && size < sizeof one);
    assert_memory_equal(one, two, size);
    unlink("test_profile_file.heaptap");
    unlink("test_profile_tables.heaptap");
    profile_free(p);
    raw_release(&raw);
    arena_release(&tables);
}

/* If this fails, heaptap dies of SIGBUS when another process truncates a profile that heaptap is
 * reading. */
static void
a_file_that_is_cut_while_it_is_read_is_zero_from_there(void **unused)
{
    const char *path = "test_profile_cut.heaptap";
    FILE *from = fopen(RECORDED, "r"), *to = fopen(path, "w");
    struct err err = {""};
    struct origin_file file;
    unsigned left = 0;

    (void)unused;
    for (int c; (c = fgetc(from)) != EOF;)
        fputc(c, to);
    fclose(from);
    fclose(to);
    assert_int_equal(origin_open(path, &file, &err), 0);
    assert_true(file.fd >= 0);
    assert_int_equal(truncate(path, 0), 0);
    for (size_t i = 0; i < file.size_bytes; i++)
        left |= ((const unsigned char *)file.data)[i];
    assert_int_equal(left, 0);
    origin_close(&file);
    unlink(path);
}

/* If this fails, another kind of file, or a later version, is shown as a profile with odd numbers,
 * or refused without a helpful message. */
static void
what_is_no_profile_is_refused_with_a_reason(void **unused)
{
    struct bytes b = read_golden(RECORDED);
    struct disk_header *h = (struct disk_header *)(void *)b.data;

    (void)unused;
    refused("", 0, "is empty");
    refused("#!/bin/sh\necho\n", 15, "not a heaptap profile");
    refused(b.data, 5000, "cut short");
    h->version = 99;
    refused(b.data, b.size_bytes, "version 99");
    h->version = DISK_VERSION;
    h->incompatible = 0x80;
    refused(b.data, b.size_bytes, "features 0x80");
    arena_release(&b.arena);
}

static int64_t
peak_error(const struct bytes *b)
{
    struct profile *p = load_expecting_success(b);
    int64_t error = p->peak_error_bytes;

    profile_free(p);
    return error;
}

/* The error follows from bound_bytes if the file has that field; otherwise from the rule of old
 * recorders, whose threads published every 64 KiB. If this fails, a report calls an inexact peak
 * among threads exact, or an old peak more exact than it was. */
static void
the_peak_error_follows_the_file(void **unused)
{
    struct bytes b = read_golden(RECORDED);
    struct disk_header *h = (struct disk_header *)(void *)b.data;
    const struct disk_segment *threads = profile_segment_of(&b, DISK_THREADS);
    struct disk_thread *first = (struct disk_thread *)(void *)(b.data + threads->off) + 1;

    (void)unused;
    assert_int_equal(first->uses, 1);
    assert_int_equal(peak_error(&b), 0);
    first->uses = 2;
    assert_int_equal(peak_error(&b), 64 << 10);
    h->shared.bound_bytes = 5017;
    assert_int_equal(peak_error(&b), 64 << 10);
    h->compatible = DISK_COMPATIBLE_BOUND;
    assert_int_equal(peak_error(&b), 7);
    h->shared.bound_bytes = 0;
    assert_int_equal(peak_error(&b), 0);
    h->shared.bound_bytes = 4000;
    assert_int_equal(peak_error(&b), 0);
    h->shared.bound_bytes = INT64_MAX;
    assert_int_equal(peak_error(&b), INT64_MAX - 5010);
    arena_release(&b.arena);
}

/* Older recorders wrote zeros for the lives of blocks, and lives cannot be counted where calls are
 * left out. If this fails, a report of such a profile says that no block is short-lived. */
static void
what_a_file_does_not_know_of_lives_is_not_zero(void **unused)
{
    struct bytes b = read_golden(RECORDED);
    struct disk_header *h = (struct disk_header *)(void *)b.data;
    struct disk_block *block =
        (struct disk_block *)(void *)(b.data + profile_segment_of(&b, DISK_COUNTERS)->off);
    struct disk_phase *phase =
        (struct disk_phase *)(void *)(b.data + profile_segment_of(&b, DISK_NODES)->off);
    struct profile *p;

    (void)unused;
    while (block->thread == 0)
        block++;
    for (uint32_t i = 0; i < DISK_BLOCK_SITES; i++) {
        block->counters[i].temporary = 0;
        block->counters[i].ended_16 = block->counters[i].allocations;
        block->counters[i].ended_256 = 2 * block->counters[i].allocations;
    }
    p = load_expecting_success(&b);
    assert_true(p->totals.lifetimes_unknown);
    assert_true(p->sites[0].counters.lifetimes_unknown);
    assert_int_equal(counters_within_256(&p->totals), 0);
    profile_free(p);
    h->compatible |= DISK_COMPATIBLE_LIVES;
    p = load_expecting_success(&b);
    assert_false(p->totals.lifetimes_unknown);
    assert_int_equal(counters_within_16(&p->totals), p->totals.allocations);
    assert_int_equal(counters_within_256(&p->totals), 3 * p->totals.allocations);
    profile_free(p);
    // Replace a table that this test does not need by a sampled phase.
    profile_segment_of(&b, DISK_NODES)->kind = DISK_PHASES;
    *phase = (struct disk_phase){.id = 1, .mode = DISK_MODE_BYTES, .period = 4096};
    profile_segment_of(&b, DISK_PHASES)->record_bytes = sizeof *phase;
    p = load_expecting_success(&b);
    assert_true(p->totals.lifetimes_unknown);
    assert_int_equal(counters_within_256(&p->totals), 0);
    profile_free(p);
    arena_release(&b.arena);
}

/* Damage beyond the header loses the damaged parts only. If this fails, one bad table makes the
 * whole profile unreadable, or its loss is not reported. */
static void
damage_is_told_in_notes(void **unused)
{
    struct bytes b = read_golden(RECORDED);
    struct disk_segment *threads = profile_segment_of(&b, DISK_THREADS),
                        *modules = profile_segment_of(&b, DISK_MODULES);
    struct profile *p;

    (void)unused;
    modules->off = UINT64_MAX - 100;
    p = load_expecting_success(&b);
    assert_int_equal(p->note_count, 1);
    assert_non_null(strstr(p->notes[0], "modules"));
    assert_non_null(strstr(p->damage, "is damaged: segment"));
    check_totals(p);
    profile_free(p);
    threads->record_bytes = 3;
    p = load_expecting_success(&b);
    assert_int_equal(p->note_count, 3); // The counters of the threads are lost as well.
    assert_int_equal(p->totals.allocations, 0);
    profile_free(p);
    arena_release(&b.arena);
}

/* Return the last note of B's profile, valid until the next call, or NULL. */
static const char *
last_note(const struct bytes *b)
{
    static char text[512];
    struct profile *p = load_expecting_success(b);
    size_t count = p->note_count;

    if (count > 0)
        snprintf(text, sizeof text, "%s", p->notes[count - 1]);
    profile_free(p);
    return count > 0 ? text : NULL;
}

/* A file is copied from front to back, so the front of the copy may be older than the records that
 * refer to it. If this fails, a profile that is read while its process creates stacks is reported
 * as damaged, and every merge with it says so forever. */
static void
what_a_copy_of_a_file_in_use_lacks_is_no_damage(void **unused)
{
    struct bytes b = read_golden(RECORDED);
    struct disk_header *h = (struct disk_header *)(void *)b.data;
    const struct disk_segment *nodes = profile_segment_of(&b, DISK_NODES);
    struct profile *p;

    (void)unused;
    memset(b.data + nodes->off + (size_t)DISK_NODE_FIRST * nodes->record_bytes, 0,
           nodes->record_bytes);
    h->state = DISK_STATE_PACKED; // The process was still running.
    p = load_expecting_success(&b);
    assert_false(p->process.ended);
    assert_int_equal(p->note_count, 0);
    assert_null(p->damage);
    check_totals(p);
    profile_free(p);
    h->process_flags |= DISK_PROCESS_GONE;
    p = load_expecting_success(&b);
    assert_int_equal(p->note_count, 3);
    assert_non_null(strstr(p->notes[0], "call tree nodes without a valid parent, skipped"));
    assert_non_null(strstr(p->notes[1], "sites without a valid node, skipped"));
    assert_non_null(strstr(p->notes[2], "without a known site"));
    check_totals(p);
    profile_free(p);
    arena_release(&b.arena);
}

/* If this fails, a report of a damaged file shows too little without saying so. */
static void
counters_of_no_thread_are_told(void **unused)
{
    struct bytes b = read_golden(RECORDED);
    struct disk_header *h = (struct disk_header *)(void *)b.data;
    const struct disk_segment *threads = profile_segment_of(&b, DISK_THREADS);
    struct disk_thread *first = (struct disk_thread *)(void *)(b.data + threads->off) + 1;

    (void)unused;
    first->id = 0;
    assert_non_null(last_note(&b));
    assert_string_equal(last_note(&b),
                        "it has 3 rows of counters without a known thread, left out");
    h->state = DISK_STATE_PACKED;
    assert_null(last_note(&b));
    arena_release(&b.arena);
}

/* If this fails, a profile is useless when the disk was full, or when only half was copied. */
static void
a_cut_file_gives_what_is_left(void **unused)
{
    struct bytes b = read_golden(RECORDED);
    struct disk_segment *last = profile_segment_of(&b, DISK_TIMELINE - 1);
    struct profile *p;

    (void)unused;
    b.size_bytes = last->off + 100;
    p = load_expecting_success(&b);
    check_totals(p);
    assert_true(p->note_count > 0);
    assert_non_null(strstr(p->damage, "is cut short: "));
    profile_free(p);
    arena_release(&b.arena);
}

/* If this fails, packing a large profile of a regular program destroys it: a reader takes the
 * tables, which have compressed to a thousandth, for forged. */
static void
tables_that_nearly_vanish_are_read_again(void **state)
{
    enum { PIECE_BYTES = 1 << 20, PIECES = 500 };
    unsigned char *piece = xcalloc(1, PIECE_BYTES);
    struct profile *p = build_profile_new();
    struct disk_header header = {.magic = DISK_MAGIC, .version = DISK_VERSION,
                                 .header_bytes = sizeof header};
    struct arena arena = {0};
    struct strbuf file = {0};
    struct err err = {""};
    struct raw_file raw;
    struct writer w;

    (void)state;
    write_begin(&w, p);
    write_table_begin(&w, DISK_NODES, (size_t)PIECES * PIECE_BYTES, sizeof(struct disk_node));
    for (int i = 0; i < PIECES; i++)
        write_table_more(&w, piece, PIECE_BYTES);
    write_table_end(&w);
    assert_int_equal(write_finish(&w, &header, &file, &err), 0);
    assert_true(file.length < PIECE_BYTES);
    assert_int_equal(raw_parse(file.text, file.length, "vanishing", &arena, &raw, &err), 0);
    assert_int_equal(raw.damage_count, 0);
    assert_int_equal(raw.tables[DISK_NODES].size_bytes, (size_t)PIECES * PIECE_BYTES);
    raw_release(&raw);
    strbuf_release(&file);
    arena_release(&arena);
    profile_free(p);
    free(piece);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files_read_as_they_always_did),
        cmocka_unit_test(sites_have_their_own_counters),
        cmocka_unit_test(packing_loses_nothing),
        cmocka_unit_test(tables_at_hand_pack_as_the_file_does),
        cmocka_unit_test(a_file_that_is_cut_while_it_is_read_is_zero_from_there),
        cmocka_unit_test(what_is_no_profile_is_refused_with_a_reason),
        cmocka_unit_test(the_peak_error_follows_the_file),
        cmocka_unit_test(what_a_file_does_not_know_of_lives_is_not_zero),
        cmocka_unit_test(damage_is_told_in_notes),
        cmocka_unit_test(what_a_copy_of_a_file_in_use_lacks_is_no_damage),
        cmocka_unit_test(counters_of_no_thread_are_told),
        cmocka_unit_test(a_cut_file_gives_what_is_left),
        cmocka_unit_test(tables_that_nearly_vanish_are_read_again),
    };

    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
