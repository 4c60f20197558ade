/* test_access.c: hot, cold and never-read memory, and sums of accesses, with numbers known by
 * construction. If this fails, users shrink the wrong memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/access_sites.h"
#include "build_profile.h"
#include "load/load.h"
#include "merge/merge.h"
#include "profile/pack.h"
#include "profile/profile_valid.h"
#include "view/phrases.h"

static struct arena arena;

#define SECOND_US UINT64_C(1000000)

/* Return the counts of BLOCKS equal blocks of SIZE bytes, each with ACCESSES and a life of
 * LIFE_US. */
static struct profile_access
alike(uint32_t site, uint64_t blocks, uint64_t size, uint64_t accesses, uint64_t life_us)
{
    return (struct profile_access){
        .site = site,
        .blocks = blocks,
        .accesses = {blocks * accesses, accesses, accesses},
        .size_bytes = {blocks * size, size, size},
        .lifetime_us = {blocks * life_us, life_us, life_us},
        .utilised = {blocks * 10000, 10000, 10000},
        .density = {blocks * accesses * 100 / size, accesses * 100 / size, accesses * 100 / size},
        .granules = blocks * size / 8,
        .touched_granules = blocks * size / 8,
        .never = accesses == 0 ? blocks : 0,
        .dated = blocks,
        .dealloc_us = life_us,
    };
}

/* Return a profile with a site for each of COUNT records, whose functions are a, b, c and so on. */
static struct profile *
access_profile_of(const struct profile_access *v, uint32_t count)
{
    struct profile *p = build_profile_new();

    p->process.elapsed_ns = 2 * SECOND_US * 1000;
    p->accesses = (struct profile_accesses){
        .granule_bytes = 8, .granules_max = 512, .separate = true, .atomic = true, .ended = true,
        .looked = true};
    p->accesses.v = arena_array(&p->arena, count, sizeof *v);
    p->accesses.count = count;
    for (uint32_t i = 0; i < count; i++) {
        char frame[] = {(char)('a' + i), '\0'};

        assert_int_equal(build_site(p, build_counters(1, 64, 0, 0), frame, NULL), i);
        p->accesses.v[i] = v[i];
    }
    return p;
}

static struct access_table
table_of(const struct profile *p)
{
    struct stacks_options options = {0};
    struct access_table t;
    struct stacks stacks;
    struct err err = {""};
    struct stacks *kept = arena_alloc(&arena, sizeof *kept);

    assert_int_equal(stacks_build(p, &options, &arena, &stacks, &err), 0);
    *kept = stacks;
    access_build(p, kept, &arena, &t);
    return t;
}

static const struct access_row *
row_of_site(const struct access_table *t, uint32_t site)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->v[i].a.site == site)
            return &t->v[i];
    fail_msg("no row of site %u", site);
    return NULL;
}

/* If this fails, `access` separates hot from cold memory at another rate than the documented
 * one. */
static void
rate_is_accesses_by_byte_and_second(void **state)
{
    // Two blocks of 100 bytes each live for half a second and have 1000 accesses each.
    struct profile_access v[] = {alike(0, 2, 100, 1000, SECOND_US / 2)};
    struct profile *p = access_profile_of(v, 1);
    struct access_table t = table_of(p);

    (void)state;
    assert_true(t.v[0].byte_seconds == 100);
    assert_true(t.v[0].per_byte == 10);
    assert_true(t.v[0].rate == 20);
    profile_free(p);
}

/* If this fails, large memory with average use is called hot, or small memory with most of the
 * accesses is not. */
static void
hot_is_what_has_most_accesses_for_its_bytes(void **state)
{
    struct profile_access v[] = {
        alike(0, 10, 64, 100000, SECOND_US),            // 640 byte-seconds, 1,000,000.
        // This memory is large and has many accesses.
        alike(1, 1, UINT64_C(100) << 20, 900000, SECOND_US),
        alike(2, 1, 1000, 1000, SECOND_US),             // The rest of the accesses.
    };
    struct profile *p = access_profile_of(v, 3);
    struct access_table t = table_of(p);

    (void)state;
    assert_int_equal(row_of_site(&t, 0)->heat, HEAT_HOT);
    assert_int_equal(row_of_site(&t, 0)->verdict, ACCESS_HOT_SMALL);
    assert_int_equal(row_of_site(&t, 1)->heat, HEAT_WARM);
    assert_int_equal(row_of_site(&t, 2)->heat, HEAT_WARM);
    assert_int_equal(t.hot_count, 1);
    assert_int_equal(t.hot_accesses, 1000000);
    assert_int_equal(t.v[0].a.site, 0); // Most accesses first.
    profile_free(p);
}

/* If this fails, a block that is never read looks used, or a used block looks wasted. */
static void
each_verdict_has_its_case(void **state)
{
    struct profile_access v[] = {
        alike(0, 10, 4096, 1000000, SECOND_US), // Hot.
        alike(1, 3, 64, 0, SECOND_US),          // Never touched.
        alike(2, 3, 6400, 900, SECOND_US),      // Written, never read.
        alike(3, 3, 6400, 800, SECOND_US / 10), // Each word has one access.
        alike(4, 1, 64000, 100000, SECOND_US),  // Only a corner is touched.
        alike(5, 1, 64000, 9000, SECOND_US),    // Cold for half of the run.
        alike(6, 1, 64000, 9000, SECOND_US / 2), // Cold, but only briefly.
        alike(7, 1, 64000, 900000, SECOND_US / 2), // Warm.
    };
    static const enum access_verdict wanted[] = {
        ACCESS_HOT,           ACCESS_NEVER,     ACCESS_WRITE_ONLY, ACCESS_ONCE,
        ACCESS_MOSTLY_UNUSED, ACCESS_COLD_LONG, ACCESS_COLD,       ACCESS_USED};
    struct profile *p;
    struct access_table t;

    (void)state;
    v[2].writes = v[2].accesses;
    v[2].write_only = v[2].blocks;
    v[4].untouched_bytes = 63000;
    p = access_profile_of(v, 8);
    t = table_of(p);
    for (uint32_t i = 0; i < 8; i++)
        if (row_of_site(&t, i)->verdict != wanted[i])
            fail_msg("site %u: %s", i, access_verdict_name(row_of_site(&t, i)->verdict));
    profile_free(p);
}

/* If this fails, people are advised to delete code that fills a block, although a library reads the
 * block. */
static void
never_is_said_only_where_everybody_counts(void **state)
{
    struct profile_access v[] = {alike(0, 3, 64, 0, SECOND_US), alike(1, 3, 6400, 900, SECOND_US)};
    struct profile *p;
    struct access_table t;

    (void)state;
    v[1].writes = v[1].accesses;
    v[1].write_only = v[1].blocks;
    p = access_profile_of(v, 2);
    t = table_of(p);
    assert_int_equal(row_of_site(&t, 0)->verdict, ACCESS_NEVER);
    assert_int_equal(row_of_site(&t, 1)->verdict, ACCESS_WRITE_ONLY);
    p->accesses.v[0].unproven = p->accesses.v[1].unproven = true;
    t = table_of(p);
    assert_int_equal(row_of_site(&t, 0)->verdict, ACCESS_NOT_SEEN);
    assert_int_equal(row_of_site(&t, 1)->verdict, ACCESS_NOT_SEEN_READ);
    profile_free(p);
}

/* If this fails, people are advised to delete code that fills a block, although the data is read
 * after realloc; or a log that grows and is never read looks used. */
static void
data_that_realloc_moves_away_is_not_unread(void **state)
{
    // Each record has three blocks that were never read. In the first, one block moved to another
    // stack; in the second, two of three regrew; in the third, both happened.
    struct profile_access v[] = {alike(0, 3, 6400, 900, SECOND_US),
                                 alike(1, 3, 6400, 900, SECOND_US),
                                 alike(2, 3, 6400, 900, SECOND_US)};
    struct profile *p;
    struct access_table t;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        v[i].writes = v[i].accesses;
    v[0].write_only = 2;
    v[1].write_only = 1;
    v[1].regrown = 2;
    v[2].regrown = 2;
    p = access_profile_of(v, 3);
    t = table_of(p);
    assert_int_not_equal(row_of_site(&t, 0)->verdict, ACCESS_WRITE_ONLY);
    assert_int_equal(row_of_site(&t, 1)->verdict, ACCESS_WRITE_ONLY);
    assert_int_not_equal(row_of_site(&t, 2)->verdict, ACCESS_WRITE_ONLY);
    assert_int_equal(access_write_only_blocks(&v[0]), 2);
    assert_int_equal(access_write_only_blocks(&v[1]), 3);
    assert_int_equal(access_write_only_blocks(&v[2]), 0);
    profile_free(p);
}

/* If this fails, the buffers of libc look like waste. */
static void
what_a_library_keeps_to_itself_is_unseen(void **state)
{
    struct profile_access v[] = {alike(0, 10, 4096, 1000, SECOND_US)};
    struct profile *p = access_profile_of(v, 1);
    struct profile_access more[] = {v[0], alike(1, 1, 4096, 0, SECOND_US),
                                    alike(2, 1, 4096, 5, SECOND_US)};
    struct access_table t;
    size_t count;

    (void)state;
    build_site(p, build_counters(1, 4096, 0, 0), "buffer@x.c:1!/usr/lib/libc.so.6", "a", NULL);
    build_site(p, build_counters(1, 4096, 0, 0), "copy@x.c:2!/usr/lib/libc.so.6", "a", NULL);
    p->accesses.v = more;
    p->accesses.count = 3;
    t = table_of(p);
    assert_int_equal(row_of_site(&t, 1)->verdict, ACCESS_UNSEEN);
    assert_int_not_equal(row_of_site(&t, 2)->verdict, ACCESS_UNSEEN); // Others are read.
    assert_int_equal(t.unseen_count, 1);
    assert_int_equal(t.unseen_bytes, 4096);
    access_picked(&t, ACCESS_PICK_NEVER, &arena, &count);
    assert_int_equal(count, 0);
    profile_free(p);
}

/* If this fails, --never lists blocks that were read, or omits a site because one of its blocks
 * was. */
static void
picked_rows_are_those_asked_for(void **state)
{
    struct profile_access v[] = {
        alike(0, 10, 4096, 1000000, SECOND_US),
        alike(1, 3, 64, 0, SECOND_US),
        alike(2, 100, 1000, 500, SECOND_US),
    };
    const struct access_row **rows;
    struct access_table t;
    struct profile *p;
    size_t count;

    (void)state;
    v[2].never = 10;
    p = access_profile_of(v, 3);
    t = table_of(p);
    rows = access_picked(&t, ACCESS_PICK_NEVER, &arena, &count);
    assert_int_equal(count, 2);
    assert_int_equal(rows[0]->a.site, 2); // 10,000 bytes,
    assert_int_equal(access_unread_bytes(&rows[0]->a), 10000);
    assert_int_equal(rows[1]->a.site, 1); // and 192.
    rows = access_picked(&t, ACCESS_PICK_HOT, &arena, &count);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0]->a.site, 0);
    rows = access_picked(&t, ACCESS_PICK_COLD, &arena, &count);
    assert_int_equal(count, 2);
    assert_int_equal(rows[0]->a.site, 2); // The most byte-seconds first.
    access_picked(&t, ACCESS_PICK_ALL, &arena, &count);
    assert_int_equal(count, 3);
    profile_free(p);
}

/* If this fails, a site whose blocks began before counting is called cold, or causes a division by
 * zero. */
static void
without_lifetimes_nothing_has_a_rate(void **state)
{
    struct profile_access v[] = {alike(0, 10, 64, 1000, 0), alike(1, 10, 64, 1, 0)};
    struct profile *p;
    struct access_table t;

    (void)state;
    v[0].dated = v[1].dated = 0;
    p = access_profile_of(v, 2);
    t = table_of(p);
    assert_true(t.rate == 0 && t.v[0].rate == 0);
    assert_int_equal(row_of_site(&t, 0)->heat, HEAT_HOT);
    assert_int_equal(row_of_site(&t, 1)->heat, HEAT_WARM);
    profile_free(p);
}

/* If this fails, merged profiles have a wrong minimum or maximum, or the cpu of an old block. */
static void
sums_keep_the_least_and_the_most(void **state)
{
    struct profile_access a = alike(0, 2, 100, 10, 50), b = alike(0, 1, 40, 3, 90);
    struct profile_access sum = ACCESS_NONE;

    (void)state;
    a.dealloc_cpu = 3;
    b.dealloc_cpu = 1;
    b.dealloc_us = 40; // Earlier.
    access_add(&sum, &a);
    access_add(&sum, &b);
    assert_int_equal(sum.blocks, 3);
    assert_int_equal(sum.accesses.total, 23);
    assert_int_equal(sum.accesses.min, 3);
    assert_int_equal(sum.accesses.max, 10);
    assert_int_equal(sum.size_bytes.total, 240);
    assert_int_equal(sum.lifetime_us.min, 50);
    assert_int_equal(sum.lifetime_us.max, 90);
    assert_int_equal(sum.dealloc_cpu, 3);
}

/* If this fails, fields of a program that counts by words are added to fields of one that counts by
 * 64 bytes. */
static void
granules_of_other_sizes_have_no_fields(void **state)
{
    struct profile_accesses sum = {0}, words = {.granule_bytes = 8, .granules_max = 512,
                                                .separate = true, .atomic = true};
    struct profile_accesses lines = {.granule_bytes = 64, .granules_max = 64, .separate = true};
    struct profile_accesses nothing = {0};

    (void)state;
    access_join(&arena, &sum, &nothing);
    assert_int_equal(sum.granule_bytes, 0);
    access_join(&arena, &sum, &words);
    access_join(&arena, &sum, &nothing);
    assert_int_equal(sum.granule_bytes, 8);
    assert_int_equal(sum.granules_max, 512);
    assert_true(sum.separate && sum.atomic);
    access_join(&arena, &sum, &lines);
    assert_int_equal(sum.granules_max, 0);
    assert_true(sum.separate);
    assert_false(sum.atomic);
}

/* Write P, load it again and return the result. */
static struct profile *
access_reread(const struct profile *p)
{
    struct strbuf file = {0};
    struct err err = {""};
    struct profile *ret;

    assert_int_equal(write_model(p, &file, &err), 0);
    assert_int_equal(load_bytes(file.text, file.length, "sum", &ret, &err), 0);
    assert_int_equal(ret->note_count, 0);
    strbuf_release(&file);
    return ret;
}

/* If this fails, the accesses in a merged file differ from the sum of its inputs. */
static void
merged_profiles_have_the_sum_of_accesses(void **state)
{
    struct profile_access v[] = {alike(0, 10, 64, 1000, 7), alike(1, 10, 64, 1, 9)};
    struct profile_access_field fields[] = {{0, 0, 50, 20, 5, 10}, {0, 40, 7, 7, 1, 2}};
    struct profile *p = access_profile_of(v, 2), *sum;
    struct merge *m = merge_new();

    (void)state;
    p->accesses.fields = fields;
    p->accesses.field_count = 2;
    p->accesses.losses.undated = 3;
    p->accesses.losses.accesses = 5;
    merge_add(m, p);
    merge_add(m, p);
    sum = access_reread(merge_finish(m));
    assert_true(profile_is_valid(sum));
    assert_int_equal(sum->accesses.count, 2);
    assert_int_equal(sum->accesses.granule_bytes, 8);
    assert_true(sum->accesses.ended);
    assert_int_equal(sum->accesses.losses.undated, 6);
    assert_int_equal(sum->accesses.losses.accesses, 10);
    assert_int_equal(sum->accesses.v[0].accesses.total, 20000);
    assert_int_equal(sum->accesses.v[0].accesses.min, 1000);
    assert_int_equal(sum->accesses.v[1].blocks, 20);
    assert_int_equal(sum->accesses.field_count, 2);
    assert_int_equal(sum->accesses.fields[0].accesses, 100);
    assert_int_equal(sum->accesses.fields[1].index, 40);
    assert_int_equal(sum->accesses.fields[1].reached, 4);
    merge_free(m);
    profile_free(sum);
    p->accesses.fields = NULL;
    profile_free(p);
}

/* If this fails, a merged profile says "never" of a block that a library used, or does not say so
 * of a block that no code could use. */
static void
merged_profiles_prove_never_by_site(void **state)
{
    struct profile_access v[] = {alike(0, 3, 64, 0, 7), alike(1, 3, 64, 0, 7)};
    struct profile *complete = access_profile_of(v, 2), *other = access_profile_of(v, 1), *sum;
    struct merge *m = merge_new();
    struct access_table t;
    char names[] = "libz.so.1, iconv";

    (void)state;
    other->accesses.v[0].unproven = true;
    other->accesses.uncounted = names;
    merge_add(m, complete);
    merge_add(m, other);
    other->accesses.uncounted = "iconv, qfcvt_r";
    merge_add(m, other);
    names[0] = 'X'; // The sum must not refer to its inputs.
    sum = access_reread(merge_finish(m));
    assert_true(sum->accesses.looked);
    assert_string_equal(sum->accesses.uncounted, "libz.so.1, iconv, qfcvt_r");
    t = table_of(sum);
    assert_int_equal(row_of_site(&t, 0)->verdict, ACCESS_NOT_SEEN);
    assert_int_equal(row_of_site(&t, 1)->verdict, ACCESS_NEVER);
    merge_free(m);
    profile_free(sum);
    profile_free(complete);
    profile_free(other);
}

/* If this fails, a number in a report is unreadable. */
static void
numbers_have_the_digits_that_tell_something(void **state)
{
    (void)state;
    assert_string_equal(access_number(&arena, 0), "0");
    assert_string_equal(access_number(&arena, 12), "12");
    assert_string_equal(access_number(&arena, 0.25), "0.2");
    assert_string_equal(access_number(&arena, 0.0123), "0.012");
    assert_string_equal(access_number(&arena, 4004.6), "4,005");
    assert_string_equal(access_number(&arena, 1234567), "1.2M");
    assert_string_equal(access_number(&arena, 5e300), "very many");
}

static int
access_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_is_accesses_by_byte_and_second),
        cmocka_unit_test(hot_is_what_has_most_accesses_for_its_bytes),
        cmocka_unit_test(each_verdict_has_its_case),
        cmocka_unit_test(never_is_said_only_where_everybody_counts),
        cmocka_unit_test(data_that_realloc_moves_away_is_not_unread),
        cmocka_unit_test(what_a_library_keeps_to_itself_is_unseen),
        cmocka_unit_test(picked_rows_are_those_asked_for),
        cmocka_unit_test(without_lifetimes_nothing_has_a_rate),
        cmocka_unit_test(sums_keep_the_least_and_the_most),
        cmocka_unit_test(granules_of_other_sizes_have_no_fields),
        cmocka_unit_test(merged_profiles_have_the_sum_of_accesses),
        cmocka_unit_test(merged_profiles_prove_never_by_site),
        cmocka_unit_test(numbers_have_the_digits_that_tell_something),
    };

    return cmocka_run_group_tests(tests, NULL, access_release);
}
