/* test_fields.c: counts by word of a block, attributed to the type's members, and the advice,
 * with numbers known by construction. If this fails, users move the wrong field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/fields.h"
#include "build_profile.h"
#include "view/phrases.h"

static struct arena arena;

struct made_member {
    const char *name;
    uint64_t offset, size;
    uint32_t part;
};

/* Return the structure NAME of SIZE bytes with the members V, which end with an unnamed one. */
static void
fields_add_structure(struct profile *p, const char *name, uint64_t size,
                     const struct made_member *v)
{
    struct profile_structure *s = arena_alloc(&p->arena, sizeof *s);

    *s = (struct profile_structure){.name = strtab_id(&p->strings, name),
                                    .size = size,
                                    .alignment = 8,
                                    .is_complete = true};
    for (s->member_count = 0; v[s->member_count].name != NULL;)
        s->member_count++;
    s->members = arena_array(&p->arena, s->member_count, sizeof *s->members);
    for (size_t i = 0; i < s->member_count; i++)
        s->members[i] =
            (struct profile_member){.name = strtab_id(&p->strings, v[i].name),
                                    .type = strtab_id(&p->strings, "long"),
                                    .offset = v[i].offset,
                                    .size = v[i].size,
                                    .alignment = v[i].size < 8 ? (uint32_t)v[i].size : 8,
                                    .part = v[i].part};
    p->structures = s;
    p->structure_count = 1;
}

/* Return a profile with one site of BLOCKS blocks of SIZE bytes, whose type is TYPE, and COUNT
 * words. */
static struct profile *
fields_profile_of(const char *type, uint64_t blocks, uint64_t size,
                  const struct profile_access_field *words, size_t count)
{
    struct profile *p = build_profile_new();
    struct profile_access *a = arena_alloc(&p->arena, sizeof *a);
    uint32_t site = build_site(p, build_counters((int64_t)blocks, (int64_t)(blocks * size), 0, 0),
                               "make@a.c:1", NULL);

    p->sites[site].type = strtab_id(&p->strings, type);
    p->sites[site].verdict = VERDICT_CERTAIN;
    *a = ACCESS_NONE;
    a->blocks = blocks;
    a->size_bytes = (struct access_range){blocks * size, size, size};
    p->accesses = (struct profile_accesses){
        .granule_bytes = 8, .granules_max = 512, .separate = true, .v = a, .count = 1};
    p->accesses.fields = arena_array(&p->arena, count, sizeof *words);
    p->accesses.field_count = count;
    for (size_t i = 0; i < count; i++) {
        p->accesses.fields[i] = words[i];
        a->accesses.total += words[i].accesses;
        a->writes.total += words[i].writes;
    }
    return p;
}

static struct fields
fields_fields_of(struct profile *p)
{
    struct stacks_options options = {0};
    struct stacks stacks;
    struct err err = {""};
    struct fields f;

    assert_int_equal(stacks_build(p, &options, &arena, &stacks, &err), 0);
    fields_build(p, &stacks, &arena, &f);
    return f;
}

/* Return the row of the member NAME. */
static const struct field_row *
fields_row_of(const struct profile *p, const struct field_structure *f, const char *name)
{
    for (size_t i = 0; i < f->row_count; i++)
        if (f->rows[i].member != NULL && strcmp(field_name(p, &f->rows[i]), name) == 0)
            return &f->rows[i];
    fail_msg("no member %s", name);
    return NULL;
}

/* If this fails, a field has the accesses of another field. */
static void
members_have_the_counts_of_their_words(void **state)
{
    static const struct made_member members[] = {
        {"key", 0, 8, 1}, {"low", 8, 4, 2}, {"high", 12, 4, 3}, {"text", 16, 16, 4}, {0}};
    static const struct profile_access_field words[] = {
        {0, 0, 100, 40, 10, 10}, {0, 1, 7, 7, 5, 10}, {0, 2, 3, 0, 1, 10}, {0, 3, 2, 1, 2, 10}};
    struct profile *p = fields_profile_of("node", 10, 32, words, 4);
    struct fields f;

    (void)state;
    fields_add_structure(p, "node", 32, members);
    f = fields_fields_of(p);
    assert_int_equal(f.count, 1);
    assert_int_equal(fields_row_of(p, &f.v[0], "key")->counts.accesses, 100);
    assert_false(fields_row_of(p, &f.v[0], "key")->together);
    assert_int_equal(fields_row_of(p, &f.v[0], "low")->counts.accesses, 7);
    assert_int_equal(fields_row_of(p, &f.v[0], "high")->counts.accesses, 7);
    assert_true(fields_row_of(p, &f.v[0], "high")->together);
    assert_int_equal(fields_row_of(p, &f.v[0], "text")->counts.accesses, 5);
    // The maximum over the words: two blocks touched one word.
    assert_int_equal(fields_row_of(p, &f.v[0], "text")->counts.blocks, 2);
    assert_true(field_share(&fields_row_of(p, &f.v[0], "low")->counts) == 0.5);
    assert_int_equal(f.v[0].accesses, 112); // Each word counts once.
    assert_int_equal(f.v[0].padding_bytes, 0);
    profile_free(p);
}

/* If this fails, an array of structures looks as if only its first element was used. */
static void
arrays_are_folded_by_the_size_of_the_type(void **state)
{
    static const struct made_member members[] = {{"a", 0, 8, 1}, {"b", 8, 8, 2}, {0}};
    static const struct profile_access_field words[] = {
        {0, 0, 1, 0, 1, 2}, {0, 1, 10, 0, 2, 2}, {0, 2, 100, 0, 2, 2}, {0, 3, 1000, 0, 1, 2}};
    struct profile *p = fields_profile_of("pair[]", 2, 32, words, 4);
    struct fields f;

    (void)state;
    fields_add_structure(p, "pair", 16, members);
    f = fields_fields_of(p);
    assert_int_equal(f.v[0].elements, 4);
    assert_true(f.v[0].folded);
    assert_int_equal(fields_row_of(p, &f.v[0], "a")->counts.accesses, 101);
    assert_int_equal(fields_row_of(p, &f.v[0], "b")->counts.accesses, 1010);
    assert_int_equal(fields_row_of(p, &f.v[0], "b")->counts.reached, 4);
    profile_free(p);
}

/* If this fails, the view claims to know all accesses to a long array, but has only its front. */
static void
what_lies_behind_the_counted_granules_is_not_known(void **state)
{
    static const struct made_member members[] = {{"a", 0, 8, 1}, {"b", 8, 8, 2}, {0}};
    static const struct profile_access_field words[] = {{0, 0, 30, 0, 2, 2}, {0, 1, 10, 0, 2, 2}};
    struct profile *p = fields_profile_of("pair[]", 2, 160, words, 2);
    struct fields f;

    (void)state;
    fields_add_structure(p, "pair", 16, members);
    p->accesses.granules_max = 2;
    p->accesses.v[0].accesses.total = 100;
    f = fields_fields_of(p);
    assert_int_equal(f.v[0].accesses, 40);
    assert_int_equal(f.v[0].beyond_accesses, 60);
    assert_int_equal(f.v[0].beyond_bytes, 2 * (160 - 16));
    assert_int_equal(f.accesses, 40);
    assert_int_equal(f.other_accesses, 60);
    assert_int_equal(f.bytes, 2 * 16);
    assert_int_equal(f.other_bytes, 2 * (160 - 16));
    p->accesses.granules_max = 20;
    f = fields_fields_of(p);
    assert_int_equal(f.beyond_bytes, 0);
    profile_free(p);
}

/* If this fails, all fields of blocks behind an allocator's header word are shifted by one. */
static void
a_word_in_front_is_no_field(void **state)
{
    static const struct made_member members[] = {{"a", 0, 8, 1}, {"b", 8, 8, 2}, {0}};
    static const struct profile_access_field words[] = {
        {0, 0, 5, 5, 2, 2}, {0, 1, 10, 0, 2, 2}, {0, 2, 100, 0, 2, 2}};
    struct profile *p = fields_profile_of("pair", 2, 24, words, 3);
    struct fields f;

    (void)state;
    fields_add_structure(p, "pair", 16, members);
    p->sites[0].verdict = VERDICT_LIKELY;
    f = fields_fields_of(p);
    assert_int_equal(fields_row_of(p, &f.v[0], "a")->counts.accesses, 10);
    assert_int_equal(fields_row_of(p, &f.v[0], "b")->counts.accesses, 100);
    p->sites[0].verdict = VERDICT_SAME_SIZE; // A guessed type is not shown.
    f = fields_fields_of(p);
    assert_int_equal(f.count, 0);
    assert_int_equal(f.other_accesses, 115);
    assert_int_equal(f.largest_count, 1); // The report lists the stack with these accesses.
    assert_int_equal(f.largest[0].accesses, 115);
    assert_int_equal(f.largest[0].blocks, 2);
    assert_string_equal(f.largest[0].type, "");
    profile_free(p);
}

/* Return a profile of a structure of 24 longs. All blocks use the longs at 0, 8 (in the 2nd line)
 * and 16 (in the 3rd). */
static struct profile *
sparse(struct profile_access_field words[24])
{
    static struct made_member members[25];
    static char names[24][4];
    struct profile *p;

    for (uint32_t i = 0; i < 24; i++) {
        snprintf(names[i], sizeof names[i], "m%u", i);
        members[i] = (struct made_member){names[i], (uint64_t)i * 8, 8, i + 1};
        words[i] = (struct profile_access_field){0, i, i % 8 == 0 ? 1000 : 0,
                                                 i == 8 ? 1000 : 0, i % 8 == 0 ? 10 : 0, 10};
    }
    p = fields_profile_of("wide", 10, 192, words, 24);
    fields_add_structure(p, "wide", 192, members);
    return p;
}

/* If this fails, the advice moves fields that are already adjacent, or gains nothing. */
static void
hot_fields_of_three_lines_are_put_on_one(void **state)
{
    struct profile_access_field words[24];
    struct profile *p = sparse(words);
    struct fields f = fields_fields_of(p);
    struct field_advice a;

    (void)state;
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.hot_count, 3);
    assert_int_equal(a.hot_lines, 3);
    assert_int_equal(a.hot_lines_least, 1);
    assert_int_equal(a.order_count, 24);
    assert_int_equal(a.order[0], 0);
    assert_int_equal(a.order[1], 8);
    assert_int_equal(a.order[2], 16);
    assert_int_equal(a.offsets[16], 16);
    assert_int_equal(a.new_size, 192);
    assert_int_equal(a.new_hot_lines, 1);
    // Today, the three words are in three cache lines, wherever the block begins. At the front of
    // the block, they would be in one line if the block begins at 0, 16 or 32 of a line, and in two
    // at 48.
    assert_true(a.lines == 3);
    assert_true(a.new_lines == 1.25);
    assert_int_equal(a.untouched_count, 21);
    assert_int_equal(a.untouched_bytes, 168);
    assert_int_equal(a.unread_count, 1);
    assert_string_equal(field_name(p, &f.v[0].rows[a.unread[0]]), "m8");
    profile_free(p);
}

/* If this fails, zeroing a structure hides its unused fields, and prevents a better order. */
static void
what_is_only_zeroed_is_told_apart(void **state)
{
    struct profile_access_field words[24];
    struct profile *p = sparse(words);
    struct field_advice a;
    struct fields f;

    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        p->accesses.fields[i].accesses += 10; // One access in each of 10 blocks.
        p->accesses.fields[i].blocks = 10;
    }
    f = fields_fields_of(p);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.untouched_count, 0);
    assert_int_equal(a.once_count, 21);
    assert_int_equal(a.once_bytes, 168);
    // The new order touches as many cache lines, but only one is hot.
    assert_int_equal(a.order_count, 24);
    assert_true(a.new_lines == a.lines);
    assert_int_equal(a.hot_lines, 3);
    assert_int_equal(a.new_hot_lines, 1);
    profile_free(p);
}

/* If this fails, structures that were counted in larger units than words, or only in part, get
 * advice. */
static void
no_advice_without_words_and_all_members(void **state)
{
    struct profile_access_field words[24];
    struct profile *p = sparse(words);
    struct fields f = fields_fields_of(p);
    struct field_advice a;

    (void)state;
    p->structures[0].is_complete = false;
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.order_count + a.untouched_count + a.hot_count, 0);
    p->structures[0].is_complete = true;
    p->accesses.granule_bytes = 16;
    p->accesses.field_count = 1;
    f = fields_fields_of(p);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.order_count + a.untouched_count + a.hot_count, 0);
    profile_free(p);
}

/* If this fails, untouched flags are reported with more bytes than there are. */
static void
bytes_that_bit_fields_share_count_once(void **state)
{
    static const struct made_member members[] = {{"key", 0, 8, 1},    {"low", 8, 1, 2},
                                                 {"middle", 8, 2, 2}, {"high", 9, 1, 2},
                                                 {"last", 12, 4, 3},  {0}};
    static const struct profile_access_field words[] = {{0, 0, 100, 0, 5, 5}, {0, 1, 0, 0, 0, 5}};
    struct profile *p = fields_profile_of("flags", 5, 16, words, 2);
    struct field_advice a;
    struct fields f;

    (void)state;
    fields_add_structure(p, "flags", 16, members);
    for (size_t i = 1; i < 4; i++)
        p->structures[0].members[i].bits = 4;
    f = fields_fields_of(p);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.untouched_count, 4);
    assert_int_equal(a.untouched_bytes, 6);
    p->accesses.fields[1] = (struct profile_access_field){0, 1, 5, 5, 5, 5};
    f = fields_fields_of(p);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.unread_count, 4);
    assert_int_equal(a.unread_bytes, 6);
    p->accesses.separate = false;
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.once_count, 4);
    assert_int_equal(a.once_bytes, 6);
    profile_free(p);
}

/* If this fails, a nested structure is moved without its padding or its alignment, and the
 * predicted size is too small. */
static void
a_structure_inside_moves_whole(void **state)
{
    static const struct made_member members[] = {
        {"in.a", 0, 8, 1}, {"in.f", 8, 1, 1}, {"x", 16, 1, 2}, {"hot.n", 64, 8, 3}, {0}};
    static const struct profile_access_field words[] = {{0, 0, 100, 0, 5, 5}};
    struct profile *p = fields_profile_of("out", 5, 128, words, 1);
    struct profile_member *m;
    struct fields f;

    (void)state;
    fields_add_structure(p, "out", 128, members);
    m = p->structures[0].members;
    m[0].part_size = m[1].part_size = 16;
    m[0].part_alignment = m[1].part_alignment = 8;
    m[3].part_offset = m[3].part_size = m[3].part_alignment = 64;
    m[1].bits = 1;
    f = fields_fields_of(p);
    assert_int_equal(f.v[0].part_count, 3);
    assert_int_equal(f.v[0].parts[0].size, 16);
    assert_int_equal(f.v[0].parts[1].size, 1);
    assert_int_equal(f.v[0].parts[2].offset, 64);
    assert_int_equal(f.v[0].parts[2].size, 64);
    assert_int_equal(f.v[0].parts[2].alignment, 64);
    assert_int_equal(f.v[0].padding_bytes, 128 - (8 + 1) - 1 - 8);
    m[2].offset = 12; // In the padding of a base.
    f = fields_fields_of(p);
    assert_int_equal(f.v[0].parts[0].size, 12);
    profile_free(p);
}

/* If this fails, an array with more elements than declared is moved into the middle. */
static void
an_array_of_one_at_the_end_stays_there(void **state)
{
    struct profile_access_field words[24];
    struct profile *p = sparse(words);
    struct field_advice a;
    struct fields f;

    (void)state;
    p->accesses.fields[23] = (struct profile_access_field){0, 23, 9000, 0, 10, 10};
    f = fields_fields_of(p);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.order[0], 23); // Member 23 has most of the accesses.
    p->structures[0].members[23].type = strtab_id(&p->strings, "long[1]");
    f = fields_fields_of(p);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.order_count, 24);
    assert_int_equal(a.order[0], 0);
    assert_int_equal(a.order[23], 23);
    assert_int_equal(a.offsets[23], 184);
    profile_free(p);
}

/* If this fails, users shrink a structure and save no memory. */
static void
what_malloc_saves_is_said(void **state)
{
    static const struct made_member members[] = {
        {"a", 0, 4, 1}, {"b", 8, 8, 2}, {"c", 16, 4, 3}, {"d", 24, 40, 4}, {0}};
    static const struct profile_access_field words[] = {
        {0, 0, 10, 0, 5, 5}, {0, 1, 10, 0, 5, 5}, {0, 2, 10, 0, 5, 5}, {0, 3, 10, 0, 5, 5}};
    struct profile *p = fields_profile_of("holes", 5, 64, words, 4);
    const char *sentences[FIELD_SENTENCES];
    struct field_advice a;
    struct fields f;
    size_t count;

    (void)state;
    fields_add_structure(p, "holes", 64, members);
    f = fields_fields_of(p);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.new_size, 56);
    count = field_sentences(p, &f.v[0], &a, &arena, sentences);
    assert_int_equal(count, 2);
    assert_non_null(strstr(sentences[0], "(8 bytes less, with glibc's malloc 16)"));
    assert_string_equal(sentences[1], "padding: 8 of 64 bytes");
    p->structures[0].size = 88; // malloc's block for 88 bytes is as large as for 80.
    a.new_size = 80;
    field_sentences(p, &f.v[0], &a, &arena, sentences);
    assert_non_null(strstr(sentences[0], "(8 bytes less, but not with glibc's malloc)"));
    profile_free(p);
}

/* If this fails, padding is left although another order would need none. */
static void
padding_goes_if_small_members_stand_together(void **state)
{
    static const struct made_member members[] = {
        {"a", 0, 1, 1}, {"b", 8, 8, 2}, {"c", 16, 1, 3}, {"d", 24, 8, 4}, {0}};
    static const struct profile_access_field words[] = {
        {0, 0, 10, 0, 5, 5}, {0, 1, 10, 0, 5, 5}, {0, 2, 10, 0, 5, 5}, {0, 3, 10, 0, 5, 5}};
    struct profile *p = fields_profile_of("holes", 5, 32, words, 4);
    struct field_advice a;
    struct fields f;

    (void)state;
    fields_add_structure(p, "holes", 32, members);
    f = fields_fields_of(p);
    assert_int_equal(f.v[0].padding_bytes, 14);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.new_size, 24);
    assert_int_equal(a.order_count, 4);
    profile_free(p);
}

/* If this fails, a field that a library reads is called unread, and people delete it. */
static void
nothing_is_proven_if_uncounted_code_may_use_a_field(void **state)
{
    static const struct made_member members[] = {{"a", 0, 8, 1}, {"b", 8, 8, 2}, {0}};
    static const struct profile_access_field words[] = {{0, 0, 0, 0, 0, 5}, {0, 1, 10, 10, 5, 5}};
    struct profile *p = fields_profile_of("pair", 5, 16, words, 2);
    const char *sentences[FIELD_SENTENCES];
    struct field_advice a;
    struct fields f;

    (void)state;
    fields_add_structure(p, "pair", 16, members);
    p->accesses.fields[1].accesses = p->accesses.fields[1].writes = 100;
    for (unsigned unproven = 0; unproven < 2; unproven++) {
        p->accesses.v[0].unproven = unproven != 0;
        f = fields_fields_of(p);
        field_advise(p, &f, &f.v[0], &arena, &a);
        assert_true(field_sentences(p, &f.v[0], &a, &arena, sentences) >= 2);
        assert_string_equal(sentences[0], unproven ? "not seen used, 8 of 16 bytes: a"
                                                   : "never touched, 8 of 16 bytes: a");
        assert_string_equal(sentences[1], unproven ? "written and not seen read, 8 of 16 bytes: b"
                                                   : "written and never read, 8 of 16 bytes: b");
    }
    profile_free(p);
}

/* If this fails, a field that few blocks used is said to have an access in each. */
static void
a_field_used_once_in_some_blocks_has_at_most_one_access(void **state)
{
    static const struct made_member members[] = {{"a", 0, 8, 1}, {"b", 8, 8, 2}, {0}};
    static const struct profile_access_field words[] = {{0, 0, 50, 0, 5, 5}, {0, 1, 1, 0, 1, 5}};
    struct profile *p = fields_profile_of("pair", 5, 16, words, 2);
    const char *sentences[FIELD_SENTENCES];
    struct field_advice a;
    struct fields f;

    (void)state;
    fields_add_structure(p, "pair", 16, members);
    f = fields_fields_of(p);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_true(field_sentences(p, &f.v[0], &a, &arena, sentences) >= 1);
    assert_string_equal(sentences[0], "at most one access in each block, 8 of 16 bytes: b");
    p->accesses.fields[1].accesses = p->accesses.fields[1].blocks = 5;
    f = fields_fields_of(p);
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_true(field_sentences(p, &f.v[0], &a, &arena, sentences) >= 1);
    assert_string_equal(sentences[0], "one access in each block, 8 of 16 bytes: b");
    profile_free(p);
}

/* If this fails, the sum of the padding differs from the rows of padding above it. */
static void
padding_in_a_nested_structure_counts(void **state)
{
    static const struct made_member members[] = {
        {"in.a", 0, 1, 1}, {"in.b", 8, 8, 1}, {"c", 16, 1, 2}, {0}};
    static const struct profile_access_field words[] = {
        {0, 0, 10, 0, 5, 5}, {0, 1, 10, 0, 5, 5}, {0, 2, 10, 0, 5, 5}};
    struct profile *p = fields_profile_of("outer", 5, 24, words, 3);
    struct fields f;

    (void)state;
    fields_add_structure(p, "outer", 24, members);
    f = fields_fields_of(p);
    assert_int_equal(f.v[0].part_count, 2);
    assert_int_equal(f.v[0].row_count, 5);
    assert_int_equal(f.v[0].padding_bytes, 7 + 7);
    profile_free(p);
}

/* If this fails, a program with one thread is warned of false sharing, or one with two is not. */
static void
false_sharing_takes_two_threads(void **state)
{
    static const struct made_member members[] = {
        {"hits", 0, 8, 1}, {"limit", 8, 8, 2}, {"far", 64, 8, 3}, {0}};
    static const struct profile_access_field words[] = {
        {0, 0, 5000, 5000, 5, 5}, {0, 1, 5000, 0, 5, 5}, {0, 8, 5000, 0, 5, 5}};
    struct profile *p = fields_profile_of("stats", 5, 72, words, 3);
    struct field_advice a;
    struct fields f;

    (void)state;
    fields_add_structure(p, "stats", 72, members);
    f = fields_fields_of(p);
    build_thread(p, "one");
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.conflict_count, 0);
    p->threads[0].uses = 1;
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.conflict_count, 0);
    p->threads[0].uses = 2; // Two threads of one name.
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.conflict_count, 1);
    assert_int_equal(a.conflicts[0].line, 0);
    assert_int_equal(a.conflicts[0].written, 0);
    assert_int_equal(a.conflicts[0].read, 1);
    // If writes are not counted separately, only members declared as shared are candidates.
    p->accesses.separate = false;
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.conflict_count, 0);
    f.v[0].parts[0].shared = true;
    field_advise(p, &f, &f.v[0], &arena, &a);
    assert_int_equal(a.conflict_count, 1);
    assert_int_equal(a.conflicts[0].written, 0);
    profile_free(p);
}

static int
fields_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_have_the_counts_of_their_words),
        cmocka_unit_test(arrays_are_folded_by_the_size_of_the_type),
        cmocka_unit_test(what_lies_behind_the_counted_granules_is_not_known),
        cmocka_unit_test(a_word_in_front_is_no_field),
        cmocka_unit_test(hot_fields_of_three_lines_are_put_on_one),
        cmocka_unit_test(what_is_only_zeroed_is_told_apart),
        cmocka_unit_test(no_advice_without_words_and_all_members),
        cmocka_unit_test(bytes_that_bit_fields_share_count_once),
        cmocka_unit_test(a_field_used_once_in_some_blocks_has_at_most_one_access),
        cmocka_unit_test(a_structure_inside_moves_whole),
        cmocka_unit_test(an_array_of_one_at_the_end_stays_there),
        cmocka_unit_test(what_malloc_saves_is_said),
        cmocka_unit_test(padding_in_a_nested_structure_counts),
        cmocka_unit_test(nothing_is_proven_if_uncounted_code_may_use_a_field),
        cmocka_unit_test(padding_goes_if_small_members_stand_together),
        cmocka_unit_test(false_sharing_takes_two_threads),
    };

    return cmocka_run_group_tests(tests, NULL, fields_release);
}
