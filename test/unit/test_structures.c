/* test_structures.c: read structures from the debug information of libraries that the test
 * compiles, and walk over hand-written entries that no compiler emits. If this fails, the predicted
 * effect of a member order is wrong, or a crafted file keeps heaptap busy forever. Run it from the
 * top of the source tree. If a compiler is missing, its part is skipped with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/fields.h"
#include "build_profile.h"
#include "shell.h"
#include "symbol/dwfl.h"
#include "type/structures.h"
#include "type/type_die.h"
#include "type/type_module.h"
#include "type/type_scope.h"
#include "util/strbuf.h"
#include "view/phrases.h"

static char directory[] = "/tmp/heaptap-structures-XXXXXX";
static struct arena arena;

/* Return a profile of one block of TYPE, recorded in LIBRARY; the block's first word was read ten
 * times. */
static struct profile *
structures_profile_of(const char *library, const char *type)
{
    struct profile *p = build_profile_new();
    struct profile_access *a = arena_alloc(&p->arena, sizeof *a);
    struct profile_access_field *word = arena_alloc(&p->arena, sizeof *word);
    uint32_t site = build_site(p, build_counters(1, 8, 0, 0),
                               arena_printf(&arena, "make@parts.cc:1!%s", library), NULL);

    p->process.start_unix_ns = UINT64_C(1) << 62; // The library was built before the recording.
    p->sites[site].type = strtab_id(&p->strings, type);
    p->sites[site].verdict = VERDICT_CERTAIN;
    *a = ACCESS_NONE;
    a->site = site;
    a->blocks = 1;
    a->accesses.total = 10;
    *word = (struct profile_access_field){.site = site, .accesses = 10, .blocks = 1, .reached = 1};
    p->accesses = (struct profile_accesses){.granule_bytes = 8,
                                            .granules_max = 512,
                                            .separate = true,
                                            .v = a,
                                            .count = 1,
                                            .fields = word,
                                            .field_count = 1};
    return p;
}

/* Return the layout of F as text: its size and alignment, its parts, its padding, and the bytes
 * that a better order saves. */
static const char *
described(const struct profile *p, const struct fields *fields, const struct field_structure *f)
{
    struct field_advice advice;
    struct strbuf text = {0};
    const char *copy;

    strbuf_fmt(&text, "%" PRIu64 "/%" PRIu32 ":", f->s->size, f->s->alignment);
    for (size_t i = 0; i < f->part_count; i++)
        strbuf_fmt(&text, "%s %s %" PRIu64 "+%" PRIu64 "/%" PRIu32, i > 0 ? "," : "",
                   field_part_name(p, f, &f->parts[i], &arena), f->parts[i].offset,
                   f->parts[i].size, f->parts[i].alignment);
    field_advise(p, fields, f, &arena, &advice);
    if (!f->s->is_complete)
        strbuf_str(&text, "; incomplete");
    else if (f->padding_bytes > 0)
        strbuf_fmt(&text, "; %" PRIu64 " padding", f->padding_bytes);
    if (advice.order_count > 0)
        strbuf_fmt(&text, "; %" PRIu64 " less", f->s->size - advice.new_size);
    copy = arena_strdup(&arena, strbuf_text(&text));
    strbuf_release(&text);
    return copy;
}

/* Return the layout of TYPE in LIBRARY as text. */
static const char *
parts_of(const char *library, const char *type)
{
    struct profile *p = structures_profile_of(library, type);
    struct stacks_options options = {0};
    struct stacks stacks;
    struct err err = {""};
    struct fields f;
    const char *text;

    symbol_structures(p, NULL, &p->sites[0].type, 1);
    assert_int_equal(p->structure_count, 1);
    assert_int_equal(stacks_build(p, &options, &arena, &stacks, &err), 0);
    fields_build(p, &stacks, &arena, &f);
    assert_int_equal(f.count, 1);
    text = described(p, &f, &f.v[0]);
    profile_free(p);
    return text;
}

/* Types and their expected layouts. A part is written as NAME OFFSET+SIZE/ALIGNMENT. If ONLY is not
 * NULL, the row is for that compiler alone, because the other one uses other names or omits
 * necessary data. */
static const struct {
    const char *type, *wanted, *only;
} layouts[] = {
    {"Node", "24/8: key 0+8/8, pool 8+8/8, n 16+8/8", NULL},
    {"Movable", "16/8: from 0+8/8, last 8+1/1; 7 padding", NULL},
    {"Pointers", "32/8: field 0+8/8, method 8+16/8, last 24+1/1; 7 padding", NULL},
    {"Text", "8/8: n 0+8/8", NULL},
    {"Null", "16/8: n 8+8/8; incomplete", NULL},
    {"Queue", "128/64: head 0+8/64, tail 64+8/64; 112 padding", NULL},
    {"Wides", "64/32: first 0+1/1, wide 32+8/32; 55 padding", "g++"},
    {"Vectors", "32/16: first 0+1/1, v 16+16/16; 15 padding", NULL},
    {"Holder", "32/8: c 0+1/1, keyed 8+16/8, d 24+1/1; 14 padding; 8 less", NULL},
    {"Outside", "24/8: i 0+16/8, x 16+1/1; 14 padding", NULL},
    {"Cold", "192/64: c 0+1/1, hot.n 64+64/64, d 128+1/1; 182 padding; 64 less", NULL},
    {"Sorted", "24/8: less 0+1/1, a 8+8/8, b 16+8/8; 7 padding", NULL},
    {"Derived", "8/8: a 0+8/8", NULL},
    {"Unique", "8/8: a 0+8/8", "clang++"},
    {"Reusing", "16/8: a, b 0+9/8, c 9+1/1; 6 padding", NULL},
    {"Native", "24/8: Elsewhere 0+16/1, a 16+8/8; incomplete", NULL},
    {"Owner", "24/8: a 0+8/8, there 8+16/1; incomplete", NULL},
    {"Own", "24/8: _vptr.Common, n 0+16/8, a 16+8/8", "g++"},
    {"Virtual", "32/8: _vptr.Virtual 0+8/8, v 8+1/1, _vptr.Common, n 16+16/8; incomplete", "g++"},
    {"Diamond",
     "40/8: _vptr.Virtual, v 0+16/8, d 16+8/8, _vptr.Common, n 24+16/8; incomplete", "g++"},
    {"Called", "16/8: _vptr.Calls 0+8/8, c 8+8/8; incomplete", "g++"},
    {"Foreign", "32/8: _vptr.Foreign 0+8/8, f 8+8/8, Elsewhere 16+16/1; incomplete", "g++"},
    {"Two",
     "48/8: _vptr.Two 0+8/8, t 8+8/8, _vptr.Common, n 16+16/8, _vptr.Second, m 32+16/8; "
     "incomplete",
     "g++"},
    {"Nested",
     "64/8: _vptr.Nested 0+8/8, e 8+8/8, _vptr.Virtual, v 16+16/8, _vptr.Common, n 32+16/8, "
     "_vptr.Second, m 48+16/8; incomplete",
     "g++"},
    {"Sharing",
     "32/8: _vptr.Calls 0+8/8, s 8+8/8, _vptr.Second, m 16+16/8; incomplete", "g++"},
    {"Unsure", "48/8: _vptr.Unsure 0+8/8, u 8+8/8; incomplete", "g++"},
    {"Own", "24/8: _vptr$Common, n 0+16/8, a 16+8/8", "clang++"},
    {"Virtual",
     "32/8: _vptr$Virtual 0+8/8, v 8+1/1, _vptr$Common, n 16+16/8; incomplete", "clang++"},
    {"Diamond",
     "40/8: _vptr$Virtual, v 0+16/8, d 16+8/8, _vptr$Common, n 24+16/8; incomplete", "clang++"},
    {"Called", "16/8: _vptr$Calls 0+8/8, c 8+8/8; incomplete", "clang++"},
    {"Foreign", "32/8: _vptr$Foreign 0+8/8, f 8+8/8, Elsewhere 16+16/1; incomplete", "clang++"},
};

/* If this fails, a member or a base is shown as padding, or is moved to an impossible place. */
static void
parts_lie_where_compilers_put_them(void **state)
{
    static const char *const compilers[] = {"g++", "clang++"};
    char library[PATH_MAX];
    size_t used = 0;

    (void)state;
    snprintf(library, sizeof library, "%s/libparts.so", directory);
    for (size_t i = 0; i < countof(compilers); i++) {
        const char *cxx = compilers[i];

        if (!have(cxx))
            continue;
        used++;
        for (int home = 0; home < 2; home++)
            assert_true(shell("%s -std=gnu++17 -g -fPIC -w -c%s -o %s/%d.o test/symbol/parts.cc",
                              cxx, home ? " -DHOME" : "", directory, home));
        assert_true(shell("cd %s && %s -shared -o libparts.so 0.o 1.o", directory, cxx));
        for (size_t k = 0; k < countof(layouts); k++) {
            const char *got;

            if (layouts[k].only != NULL && strcmp(layouts[k].only, cxx) != 0)
                continue;
            got = parts_of(library, layouts[k].type);
            if (strcmp(got, layouts[k].wanted) != 0)
                fail_msg("%s, %s\n  wanted %s\n  got    %s", cxx, layouts[k].type,
                         layouts[k].wanted, got);
        }
    }
    if (used == 0)
        skip();
}

/* Run every walk over D, the entries of test/symbol/siblings.s. */
static void
structures_walk_all(struct debuginfo *d)
{
    struct hint_token token = {.text = "x", .length = 1, .is_word = true};
    struct type_hint hint = {.kind = HINT_TARGET, .tokens = &token, .count = 1};
    struct type_dies dies = {.d = d, .arena = &arena};
    struct type_scopes *scopes = type_scopes_new(&dies);
    struct debug_frame frames[SYMBOL_FRAMES_MAX];
    struct type_index index = {0};
    struct type_fact fact;
    Dwarf_Die unit, missing, function;
    Dwarf_Addr pc;

    assert_int_equal(debuginfo_unit_count(d), 2);
    unit = debuginfo_unit(d, 0);
    assert_int_equal(dwarf_lowpc(&unit, &pc), 0);
    assert_int_equal(dwarf_child(&unit, &missing), 0);
    unit = debuginfo_unit(d, 1);
    assert_int_equal(dwarf_child(&unit, &function), 0);
    assert_int_equal(debuginfo_frames(d, pc, frames), 0);
    assert_string_equal(debuginfo_name(d, &missing), "missing");
    assert_string_equal(debuginfo_name(d, &function), "f");
    assert_false(type_die_describe(&dies, &missing, &fact));
    assert_false(type_scope_hint(scopes, &missing, &hint, &fact));
    assert_false(type_scope_hint(scopes, &function, &hint, &fact));
    type_index_build(&index, d);
    assert_int_equal(index.count, 0);
    type_index_release(&index);
    type_scopes_free(scopes);
    type_dies_release(&dies);
}

/* If this fails, a file in which siblings are children makes a report run forever. */
static void
each_entry_is_walked_over_once(void **state)
{
    char library[PATH_MAX];
    struct profile_module module = {.path = library};
    struct symbol_paths paths = {0};
    struct object_failure failure;
    struct object *o;
    struct profile *p;
    uint64_t bias;

    (void)state;
    if (!have("gcc"))
        skip();
    snprintf(library, sizeof library, "%s/libsiblings.so", directory);
    assert_true(shell("gcc -nostdlib -shared -o %s test/symbol/siblings.s", library));
    o = object_open(&module, &paths, &failure);
    assert_non_null(o);
    assert_non_null(object_debuginfo(o, &bias));
    structures_walk_all(object_debuginfo(o, &bias));
    object_close(o);
    p = structures_profile_of(library, "wanted");
    symbol_structures(p, NULL, &p->sites[0].type, 1);
    assert_int_equal(p->structure_count, 0);
    profile_free(p);
}

static int
structures_set_up(void **state)
{
    (void)state;
    unsetenv("DEBUGINFOD_URLS");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int
structures_tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return shell("rm -rf %s", directory) ? 0 : -1;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_lie_where_compilers_put_them),
        cmocka_unit_test(each_entry_is_walked_over_once),
    };

    return cmocka_run_group_tests(tests, structures_set_up, structures_tear_down);
}
