/* test_types.c: clues in source text, types in names, the rules that derive a type from facts, and
 * the cache of the index. If this fails, a block is reported with a wrong type, or without its
 * type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "type/fact_cache.h"
#include "type/type_hint.h"
#include "type/type_module.h"
#include "type/types.h"
#include "util/strbuf.h"

static struct arena arena;

/* Return the clues of SOURCE at LINE as text: "kind: words; …". */
static const char *
clues_text(const char *source, uint32_t line, const char *callee)
{
    static const char *const kinds[] = {
        [HINT_NEW] = "new",       [HINT_CAST] = "cast", [HINT_SIZEOF] = "sizeof",
        [HINT_TARGET] = "target", [HINT_NAME] = "name",
    };
    struct type_hint hints[HINTS_MAX];
    size_t count = type_hints(source, strlen(source), line, callee, &arena, hints);
    struct strbuf text = {0};
    const char *copy;

    for (size_t i = 0; i < count; i++) {
        if (hints[i].kind == HINT_NAME && hints[i].tokens[0].length == 6 &&
            memcmp(hints[i].tokens[0].text, "sizeof", 6) == 0)
            continue;
        strbuf_fmt(&text, "%s%s%s:", text.length > 0 ? "; " : "", kinds[hints[i].kind],
                   hints[i].in_sum ? "+" : "");
        for (size_t k = 0; k < hints[i].count; k++)
            strbuf_fmt(&text, " %.*s", (int)hints[i].tokens[k].length, hints[i].tokens[k].text);
    }
    copy = arena_strdup(&arena, strbuf_text(&text));
    strbuf_release(&text);
    return copy;
}

/* If this fails, the type of a block is taken from a comment, or from another statement on its
 * line. */
static void
clues_are_found_in_the_statement(void **unused)
{
    static const struct {
        const char *source;
        uint32_t line;
        const char *callee, *wanted;
    } cases[] = {
        {"struct foo *x = malloc(sizeof *x);", 1, NULL, "target: struct foo * x; sizeof: * x"},
        {"a = 1;\np->q[i].r =\n  (struct s *)\n  xmalloc(n * sizeof(struct s));\n", 4, "xmalloc",
         "cast: struct s; target: p -> q [ i ] . r; sizeof: struct s"},
        {"h = malloc(sizeof(struct h) + n);", 1, NULL, "target: h; sizeof+: struct h"},
        {"keep(new ns::Foo(1));", 1, NULL, "new: ns :: Foo"},
        {"return new Bar;", 1, NULL, "new: Bar"},
        {"auto p = std::make_unique<Foo>(1);", 1, NULL, "new: Foo"},
        {"v = NEW_ARRAY(struct item, n);", 1, NULL, "target: v; name: struct item; name: n"},
        // Ignore comments, literals, other statements and directives.
        {"x = \"sizeof(int)\"; /* sizeof(char) */ p = malloc(4); q(sizeof(long));", 1, NULL,
         "target: p; name: 4"},
        {"#define X sizeof(int)\np = malloc(4);", 2, NULL, "target: p; name: 4"},
        {"f(1); if (a) { p = malloc(sizeof(short)); }", 1, NULL, "target: p; sizeof: short"},
        {"for (i = 0; i < n; i++) p = malloc(i);", 1, NULL, "target: p; name: i"},
        // The result of another call that gets the block is not the block. Neither is an earlier
        // assignment.
        {"o->head = node_of(malloc(24));", 1, NULL, "name: 24"},
        {"if ((n = count()) > 0) keep(malloc(24));", 1, NULL, "name: 24"},
        {"for (p = first; p; p = next(p)) malloc(24);", 1, NULL, "name: 24"},
        // Additional parentheses change nothing.
        {"p = (struct s *)(malloc(24));", 1, NULL, "target: p; name: 24"},
        {"p = static_cast<S *>(malloc(24));", 1, NULL, "target: p; name: 24"},
        {"if ((p = malloc(24)) == NULL) return;", 1, NULL, "target: p; name: 24"},
        {"p = new (malloc(24)) S;", 1, "malloc", "new: S; target: p; name: 24"},
        // Empty.
        {"p = malloc(4);", 7, NULL, ""},
        {"", 1, NULL, ""},
        {"\"never closed", 1, NULL, ""},
        {"/* never closed", 1, NULL, ""},
        {"malloc(sizeof", 1, NULL, ""},
    };

    (void)unused;
    for (size_t i = 0; i < countof(cases); i++) {
        const char *got = clues_text(cases[i].source, cases[i].line, cases[i].callee);

        if (strcmp(got, cases[i].wanted) != 0)
            fail_msg("%s\n  wanted %s\n  got    %s", cases[i].source, cases[i].wanted, got);
    }
}

/* If this fails, the elements of C++ containers have no type, or the allocator's. */
static void
names_of_allocators_tell_the_type(void **unused)
{
    static const struct {
        const char *function, *type;
    } cases[] = {
        {"std::__new_allocator<Node>::allocate(unsigned long, void const*)", "Node"},
        {"__gnu_cxx::new_allocator<std::pair<int const, a::B<c> > >::allocate(unsigned long)",
         "std::pair<int const, a::B<c> >"},
        {"my::pool_allocator<X, 4>::allocate(unsigned long)", "X"},
        {"std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t> >::_M_create(unsigned "
         "long&, unsigned long)",
         "wchar_t"},
        {"void std::__cxx11::basic_string<char, std::char_traits<char> >::_M_construct<char*>()",
         "char"},
        {"std::_MakeUniq<A::B>::__single_object std::make_unique<A::B>()", "A::B"},
        {"__GI_strdup", "char"},
        {"std::allocator_traits<std::allocator<X> >::allocate(std::allocator<X>&, unsigned long)",
         NULL},
        {"Vector<X>::allocate(unsigned long)", NULL},
        {"allocate", NULL},
        {">::allocate(", NULL},
        {"", NULL},
    };

    (void)unused;
    for (size_t i = 0; i < countof(cases); i++) {
        const char *type = type_of_allocator(cases[i].function, &arena);

        if (type == NULL || cases[i].type == NULL ? type != cases[i].type
                                                  : strcmp(type, cases[i].type) != 0)
            fail_msg("%s: %s", cases[i].function, type != NULL ? type : "nothing");
    }
}

/* If this fails, blocks of a Python program have types of C, or a function of another program is
 * taken for CPython's. */
static void
objects_of_python_have_their_type(void **unused)
{
    static const struct {
        const char *function;
        bool is_runtime;
        const char *type;
    } cases[] = {
        {"PyUnicode_New", false, "str"},  {"_PyLong_New", false, "int"},
        {"PyDict_New", false, "dict"},    {"PyFunction_NewWithQualName", true, "function"},
        {"dictresize", true, "dict"},     {"dictresize", false, NULL},
        {"list_resize", false, NULL},     {"PyType_GenericAlloc", true, NULL},
        {"PyUnicode_News", true, NULL},   {"_PyObject_GC_New", true, NULL},
        {"", true, NULL},
    };
    static const struct type_fact object = {
        .name = "str", .size = 1, .has_tail = true, .evidence = EVIDENCE_TEMPLATE};
    const struct type_sizes one = {56, 56}, several = {50, 500};

    (void)unused;
    for (size_t i = 0; i < countof(cases); i++) {
        const char *type = type_of_python(cases[i].function, cases[i].is_runtime);

        if (type == NULL || cases[i].type == NULL ? type != cases[i].type
                                                  : strcmp(type, cases[i].type) != 0)
            fail_msg("%s: %s", cases[i].function, type != NULL ? type : "nothing");
    }
    // Objects of one type have different sizes, and are no arrays.
    assert_int_equal(type_fit(&object, &one), FIT_TAIL);
    assert_int_equal(type_fit(&object, &several), FIT_TAIL);
    assert_true(type_is_python_allocator("_PyObject_GC_NewVar"));
    assert_false(type_is_python_allocator("PyUnicode_New"));
}

static const struct type_fact widget = {.name = "widget", .size = 40, .is_aggregate = true};
static const struct type_fact text = {.name = "char", .size = 1};
static const struct type_fact integer = {.name = "int", .size = 4};

static struct type_fact
fact(struct type_fact f, enum type_evidence evidence, uint8_t level)
{
    f.evidence = (uint8_t)evidence;
    f.level = level;
    return f;
}

/* Return the verdict as text: "certain widget", "likely widget[]" or "nothing", with " ^" if the
 * caller's facts are needed. */
static const char *
types_checked(const struct type_fact *v, size_t count, bool passes_on, uint64_t min, uint64_t max)
{
    struct type_facts facts = {.v = (struct type_fact *)(uintptr_t)v,
                               .count = count,
                               .level_count = 1,
                               .takes_size = {passes_on},
                               .passes_on = {passes_on}};
    struct type_sizes sizes = {min, max};
    struct type_answer a;
    bool asks = type_verdict_decide(&facts, &sizes, &a);

    if (a.fact == NULL)
        return asks ? "nothing ^" : "nothing";
    return arena_printf(&arena, "%s %s%s%s", a.verdict == VERDICT_CERTAIN ? "certain" : "likely",
                        a.fact->name,
                        a.fit == FIT_ARRAY  ? "[]"
                        : a.fit == FIT_HEAD ? " +"
                                            : "",
                        asks ? " ^" : "");
}

/* If this fails, a type is called certain although its size differs from the block's, or an array
 * of the type is not recognised. */
static void
facts_are_judged_by_the_sizes(void **unused)
{
    const struct type_fact result[] = {fact(widget, EVIDENCE_RESULT, 0)};
    const struct type_fact size_of[] = {fact(widget, EVIDENCE_SIZEOF, 0)};
    const struct type_fact bytes[] = {fact(text, EVIDENCE_RESULT, 0)};
    const struct type_fact integers[] = {fact(integer, EVIDENCE_RESULT, 0)};
    const struct type_fact both[] = {fact(text, EVIDENCE_RESULT, 0),
                                     fact(widget, EVIDENCE_SIZEOF, 0)};
    const struct type_fact variable[] = {fact(widget, EVIDENCE_VARIABLE, 0)};
    const struct type_fact confirmed[] = {fact(integer, EVIDENCE_RESULT, 0),
                                          fact(integer, EVIDENCE_SIZEOF, 0)};
    const struct type_fact named[] = {fact(widget, EVIDENCE_TARGET, 0),
                                      fact(widget, EVIDENCE_NAME, 0)};
    struct type_fact other = widget, tail = widget, head = widget;
    struct type_fact two[2];

    (void)unused;
    assert_string_equal(types_checked(result, 1, false, 40, 40), "certain widget");
    assert_string_equal(types_checked(result, 1, false, 40, 80), "likely widget[]");
    assert_string_equal(types_checked(result, 1, false, 80, 80), "nothing");
    assert_string_equal(types_checked(result, 1, false, 41, 80), "likely widget +");
    assert_string_equal(types_checked(size_of, 1, false, 80, 80), "certain widget[]");
    assert_string_equal(types_checked(size_of, 1, false, 81, 81), "nothing");
    assert_string_equal(types_checked(named, 2, false, 120, 120), "certain widget[]");
    assert_string_equal(types_checked(bytes, 1, false, 10, 99), "likely char[]");
    assert_string_equal(types_checked(integers, 1, false, 8, 16), "likely int[]");
    assert_string_equal(types_checked(integers, 1, false, 4, 4), "certain int");
    assert_string_equal(types_checked(integers, 1, false, 8, 17), "nothing");
    assert_string_equal(types_checked(confirmed, 2, false, 8, 16), "certain int[]");
    assert_string_equal(types_checked(both, 2, false, 40, 40), "certain widget");
    assert_string_equal(types_checked(variable, 1, false, 40, 40), "likely widget");
    assert_string_equal(types_checked(variable, 1, false, 40, 41), "nothing");
    assert_string_equal(types_checked(variable, 1, false, 48, 48), "nothing");

    // Two types that fit equally well give no verdict.
    other.name = "gadget";
    two[0] = fact(widget, EVIDENCE_VARIABLE, 0);
    two[1] = fact(other, EVIDENCE_VARIABLE, 0);
    assert_string_equal(types_checked(two, 2, false, 40, 40), "nothing");

    tail.has_tail = true;
    tail.tail_offset = 36;
    two[0] = fact(tail, EVIDENCE_RESULT, 0);
    assert_string_equal(types_checked(two, 1, false, 37, 200), "certain widget");
    assert_string_equal(types_checked(two, 1, false, 35, 200), "nothing");
    head.is_head = true;
    two[0] = fact(head, EVIDENCE_SIZEOF, 0);
    two[1] = fact(widget, EVIDENCE_TARGET, 0);
    assert_string_equal(types_checked(two, 1, false, 80, 120), "likely widget");
    assert_string_equal(types_checked(two, 2, false, 80, 120), "certain widget");
}

/* If this fails, the blocks of xmalloc are reported as char, or the blocks of all its callers as
 * one type. */
static void
wrappers_ask_their_callers(void **unused)
{
    const struct type_fact result[] = {fact(widget, EVIDENCE_RESULT, 0)};
    const struct type_fact bytes[] = {fact(text, EVIDENCE_RESULT, 0)};
    const struct type_fact variable[] = {fact(widget, EVIDENCE_VARIABLE, 0)};

    (void)unused;
    assert_string_equal(types_checked(NULL, 0, true, 40, 40), "nothing ^");
    assert_string_equal(types_checked(NULL, 0, false, 40, 40), "nothing");
    assert_string_equal(types_checked(bytes, 1, true, 40, 40), "nothing ^");
    assert_string_equal(types_checked(variable, 1, true, 40, 40), "nothing ^");
    assert_string_equal(types_checked(result, 1, true, 80, 160), "likely widget + ^");
    assert_string_equal(types_checked(result, 1, true, 40, 40), "certain widget");
}

/* If this fails, the second report knows other types of a size than the first, or a damaged cache
 * file is trusted. */
static void
the_cache_gives_back_what_it_got(void **unused)
{
    static const uint8_t id[] = {1, 2, 3, 4};
    struct type_index index = {0};
    struct type_index back = {0};
    struct strbuf file = {0};

    (void)unused;
    type_index_add(&index, "a", 8);
    type_index_add(&index, "b", 8);
    type_index_add(&index, "a", 24);
    type_index_add(&index, "c", 24);
    type_cache_format(&index, id, sizeof id, &file);
    assert_true(type_cache_parse(&back, id, sizeof id, file.text, file.length));
    assert_int_equal(back.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(back.v[i].size, i < 2 ? 8 : 24);
        assert_string_equal(strtab_get(&back.names, back.v[i].name),
                            i % 2 ? (i < 2 ? "b" : "c") : "a");
    }
    assert_int_equal(type_index_find(&back, 24), 2);
    assert_int_equal(type_index_find(&back, 9), 2);
    assert_int_equal(type_index_find(&back, 25), 4);
    type_index_release(&back);
    for (size_t i = 0; i < file.length; i++) {
        file.text[i] ^= 1;
        assert_false(type_cache_parse(&back, id, sizeof id, file.text, file.length));
        assert_int_equal(back.count, 0);
        file.text[i] ^= 1;
        assert_false(type_cache_parse(&back, id, sizeof id, file.text, i));
    }
    assert_false(type_cache_parse(&back, id, 3, file.text, file.length));
    type_index_release(&index);
    strbuf_release(&file);
}

static const struct type_fact cached_facts[] = {
    {.name = "node", .size = 24, .is_aggregate = true, .evidence = EVIDENCE_SIZEOF},
    {.name = "text", .size = 8, .is_aggregate = true, .has_tail = true, .tail_offset = 8,
     .level = 1, .evidence = EVIDENCE_TEMPLATE},
    {.name = "node", .is_head = true, .level = 1, .evidence = EVIDENCE_NAME},
};

static void
assert_facts_are_those(const struct type_facts *f)
{
    assert_int_equal(f->count, countof(cached_facts));
    assert_int_equal(f->level_count, 2);
    assert_true(f->takes_size[1] && !f->takes_size[0] && f->passes_on[0] && !f->passes_on[1]);
    for (size_t i = 0; i < countof(cached_facts); i++) {
        const struct type_fact *x = &f->v[i], *y = &cached_facts[i];

        assert_string_equal(x->name, y->name);
        assert_int_equal(x->size, y->size);
        assert_int_equal(x->tail_offset, y->tail_offset);
        assert_true(x->is_aggregate == y->is_aggregate && x->is_head == y->is_head);
        assert_true(x->has_tail == y->has_tail && x->level == y->level);
        assert_int_equal(x->evidence, y->evidence);
    }
}

/* If this fails, the second report gives a block another type than the first, or a damaged cache
 * file is trusted. */
static void
what_is_known_of_a_call_comes_back(void **unused)
{
    static const uint8_t id[] = {1, 2, 3, 4};
    struct type_fact v[countof(cached_facts)];
    struct type_facts facts = {.v = v, .count = countof(v), .level_count = 2,
                               .takes_size = {false, true}, .passes_on = {true, false}};
    struct type_facts none = {.level_count = 1}, got;
    struct fact_cache c = {0}, back = {0};
    struct strbuf file = {0};

    (void)unused;
    memcpy(v, cached_facts, sizeof v);
    fact_cache_add(&c, 0x1000, 7, &facts);
    fact_cache_add(&c, 0x1000, 8, &none);
    fact_cache_format(&c, id, sizeof id, &file);
    assert_true(fact_cache_parse(&back, id, sizeof id, file.text, file.length));
    assert_true(fact_cache_find(&back, 0x1000, 7, &got));
    assert_facts_are_those(&got);
    assert_true(fact_cache_find(&back, 0x1000, 8, &got));
    assert_int_equal(got.count, 0);
    assert_false(fact_cache_find(&back, 0x1000, 9, &got)); // The source text has changed.
    assert_false(fact_cache_find(&back, 0x1001, 7, &got));
    fact_cache_release(&back);
    for (size_t i = 0; i < file.length; i++) {
        file.text[i] ^= 1;
        assert_false(fact_cache_parse(&back, id, sizeof id, file.text, file.length));
        assert_int_equal(back.count, 0);
        file.text[i] ^= 1;
        assert_false(fact_cache_parse(&back, id, sizeof id, file.text, i));
    }
    assert_false(fact_cache_parse(&back, id, 3, file.text, file.length));
    fact_cache_release(&c);
    strbuf_release(&file);
}

/* If this fails, a damaged cache gives an index that misses types by size, or holds sizes that do
 * not fit their fields. */
static void
a_cache_out_of_order_is_no_cache(void **unused)
{
    static const struct {
        const char *names[2];
        uint64_t sizes[2];
    } bad[] = {
        {{"a", "b"}, {24, 8}}, {{"b", "a"}, {8, 8}}, {{"a", "b"}, {8, UINT64_C(1) << 32}}};
    static const uint8_t id[] = {1, 2, 3, 4};

    (void)unused;
    for (size_t i = 0; i < countof(bad); i++) {
        struct type_index index = {0}, back = {0};
        struct strbuf file = {0};

        for (size_t k = 0; k < 2; k++)
            type_index_add(&index, bad[i].names[k], bad[i].sizes[k]);
        type_cache_format(&index, id, sizeof id, &file);
        assert_false(type_cache_parse(&back, id, sizeof id, file.text, file.length));
        assert_int_equal(back.count, 0);
        type_index_release(&index);
        strbuf_release(&file);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clues_are_found_in_the_statement),
        cmocka_unit_test(names_of_allocators_tell_the_type),
        cmocka_unit_test(objects_of_python_have_their_type),
        cmocka_unit_test(facts_are_judged_by_the_sizes),
        cmocka_unit_test(wrappers_ask_their_callers),
        cmocka_unit_test(the_cache_gives_back_what_it_got),
        cmocka_unit_test(what_is_known_of_a_call_comes_back),
        cmocka_unit_test(a_cache_out_of_order_is_no_cache),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    arena_release(&arena);
    return failed;
}
