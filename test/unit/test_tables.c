/* test_tables.c: the inputs of mprof's tables: stacks as functions, partial paths, amounts by size
 * class, the call graph, and its cycles. mprof.sh tests the tables as users see them; this test has
 * the cases that no simple program produces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/callgraph.h"
#include "analyse/group.h"
#include "analyse/totals.h"
#include "build_profile.h"
#include "text/text.h"
#include "text/text_view.h"

static struct arena arena;

struct fixture {
    struct profile *p;
    struct stacks stacks;
    struct functions functions;
};

static void
tables_begin(struct fixture *f)
{
    *f = (struct fixture){.p = build_profile_new()};
}

static void
analyse(struct fixture *f)
{
    struct stacks_options options = {0};
    struct err err;

    assert_int_equal(stacks_build(f->p, &options, &arena, &f->stacks, &err), 0);
    functions_init(&f->functions, f->p, &arena);
}

static void
tables_end(struct fixture *f)
{
    functions_release(&f->functions);
    profile_free(f->p);
    arena_release(&arena);
}

/* Return the functions of the stack at I, outermost first, as one text. */
static const char *
tables_text_of(struct fixture *f, size_t i)
{
    const uint32_t *ids;
    size_t n = functions_of_stack(&f->functions, &f->stacks.v[i], &ids);
    const char *text = "";

    while (n-- > 0)
        text = arena_printf(&arena, "%s%s%s", text, *text ? " " : "",
                            functions_name(&f->functions, ids[n]));
    return text;
}

static const struct counters once = {
    .allocations = 1, .allocated_bytes = 10, .size_min = 10, .size_max = 10};

/* If this fails, constructors of libraries are below frames of the loader, or below main. */
static void
what_runs_outside_of_main_has_a_name(void **state)
{
    static const char loader[] = "!/lib64/ld-linux-x86-64.so.2";
    struct fixture f;

    (void)state;
    tables_begin(&f);
    f.p->process.executable = "/usr/bin/prog";
    build_site(f.p, once, "pool@p.cc:1!/lib/libstdc++.so.6",
               arena_printf(&arena, "call_init%s", loader),
               arena_printf(&arena, "_dl_init%s", loader),
               arena_printf(&arena, "_dl_start_user%s", loader), NULL);
    build_site(f.p, once, "init@a.c:1", "__libc_start_main!/lib/libc.so.6", "_start", NULL);
    build_site(f.p, once, "work@a.c:2", "main@a.c:9", "__libc_start_main!/lib/libc.so.6", "_start",
               NULL);
    build_site(f.p, once, "work@a.c:2", "main.cold@a.c:9", "__libc_start_main!/lib/libc.so.6",
               "_start", NULL);
    build_site(f.p, once, "main_loop@a.c:3", "_start", NULL);
    build_site(f.p, once, "work@a.c:4", "start_thread!/lib/libc.so.6", "clone3!/lib/libc.so.6",
               NULL);
    // dlopen in main runs constructors as well, on behalf of main.
    build_site(f.p, once, "pool@p.cc:2!/lib/libx.so", arena_printf(&arena, "call_init%s", loader),
               "main@a.c:10", "_start", NULL);
    build_site(f.p, once, NULL);
    analyse(&f);
    assert_string_equal(tables_text_of(&f, 0), "(outside main) pool");
    assert_string_equal(tables_text_of(&f, 1), "(outside main) init");
    assert_string_equal(tables_text_of(&f, 2), "main work");
    assert_string_equal(tables_text_of(&f, 3), "main.cold work");
    assert_string_equal(tables_text_of(&f, 4), "(outside main) main_loop");
    assert_string_equal(tables_text_of(&f, 5), "work");
    assert_string_equal(tables_text_of(&f, 6), "main call_init pool");
    assert_string_equal(tables_text_of(&f, 7), "[other stacks]");
    tables_end(&f);
}

/* If this fails, all of a program whose main ends with a tail call is outside of main, or an exit
 * handler is not. */
static void
a_function_that_main_ends_with_is_a_root(void **state)
{
    static const char *const call = "__libc_start_call_main!/lib/libc.so.6";
    static const char *const start = "__libc_start_main_impl!/lib/libc.so.6";
    static const char *const stripped = "__libc_start_main!/lib/libc.so.6";
    struct fixture f;

    (void)state;
    tables_begin(&f);
    f.p->process.executable = "/usr/bin/prog";
    build_site(f.p, once, "work@a.c:2", "app@a.c:9", call, start, "_start", NULL);
    build_site(f.p, once, "flush@a.c:1", "__GI_exit!/lib/libc.so.6", call, start, "_start", NULL);
    build_site(f.p, once, "free@a.c:1", "__nptl_deallocate_tsd!/lib/libc.so.6", call, start,
               "_start", NULL);
    build_site(f.p, once, "init@a.c:1", "call_init!/lib/libc.so.6", start, "_start", NULL);
    build_site(f.p, once, "puts!/lib/libc.so.6", call, start, "_start", NULL);
    // A C library without symbols has only the names that it exports.
    build_site(f.p, once, "work@a.c:2", "app@a.c:9", "!/lib/libc.so.6", stripped, "_start", NULL);
    build_site(f.p, once, "flush@a.c:1", "exit!/lib/libc.so.6", "!/lib/libc.so.6", stripped,
               "_start", NULL);
    build_site(f.p, once, "init@a.c:1", stripped, "_start", NULL);
    analyse(&f);
    assert_string_equal(tables_text_of(&f, 0), "app work");
    assert_string_equal(tables_text_of(&f, 1), "(outside main) __GI_exit flush");
    assert_string_equal(tables_text_of(&f, 2), "(outside main) __nptl_deallocate_tsd free");
    assert_string_equal(tables_text_of(&f, 3), "(outside main) call_init init");
    assert_string_equal(tables_text_of(&f, 4), "puts");
    assert_string_equal(tables_text_of(&f, 5), "app work");
    assert_string_equal(tables_text_of(&f, 6), "(outside main) exit flush");
    assert_string_equal(tables_text_of(&f, 7), "(outside main) init");
    tables_end(&f);
}

/* If this fails, all of a stripped program is outside of main. */
static void
a_stripped_main_is_main(void **state)
{
    struct fixture f;
    const uint32_t *ids;
    size_t n;

    (void)state;
    tables_begin(&f);
    f.p->process.executable = "/usr/bin/prog";
    build_site(f.p, once, "@a:1!/lib/libz.so", "!/usr/bin/prog", "!/lib/libc.so.6",
               "__libc_start_main!/lib/libc.so.6", "!/usr/bin/prog", NULL);
    analyse(&f);
    n = functions_of_stack(&f.functions, &f.stacks.v[0], &ids);
    assert_int_equal(n, 2);
    assert_true(ids[1] >= FUNCTION_FIRST);
    tables_end(&f);
}

/* If this fails, the share of small and large blocks per function is wrong. */
static void
amounts_keep_their_classes(void **state)
{
    struct fixture f;
    struct function_totals d;
    static const struct counters sizes[] = {
        {.allocations = 2, .allocated_bytes = 64, .frees = 1, .freed_bytes = 32, .size_max = 32},
        {.allocations = 1, .allocated_bytes = 256, .size_max = 256},
        {.allocations = 3,
         .allocated_bytes = 6144,
         .frees = 3,
         .freed_bytes = 6144,
         .size_max = 2048},
        {.allocations = 1, .allocated_bytes = 2049, .size_max = 2049},
    };

    (void)state;
    tables_begin(&f);
    for (size_t i = 0; i < countof(sizes); i++)
        build_site(f.p, sizes[i], "work@a.c:2", "main@a.c:9", NULL);
    build_site(f.p, once, "work@a.c:3", "main@a.c:9", NULL);
    build_site(f.p, build_counters(1, 500, 1, 500), "main@a.c:8", NULL);
    build_site(f.p, build_counters(4, 0, 4, 0), "nothing@a.c:1", "main@a.c:8", NULL);
    analyse(&f);
    function_totals_build(&f.functions, &f.stacks, METRIC_ALLOC, &arena, &d);
    assert_int_equal(d.count, 2);
    assert_string_equal(functions_name(&f.functions, d.v[0].function), "work");
    assert_int_equal(d.v[0].amount.by_class[0], 74);
    assert_int_equal(d.v[0].amount.by_class[1], 256);
    assert_int_equal(d.v[0].amount.by_class[2], 6144);
    assert_int_equal(d.v[0].amount.by_class[3], 2049);
    assert_int_equal(d.v[0].kept.by_class[0], 42);
    assert_int_equal(d.v[0].kept.by_class[2], 0);
    assert_int_equal(d.v[0].amount.calls, 8);
    assert_int_equal(d.total.amount.calls, 13);
    assert_int_equal(amount_sum(&d.total.amount), 64 + 256 + 6144 + 2049 + 10 + 500);
    assert_string_equal(text_classes(&f.functions, &arena, &d.v[0].amount, 8523, 8), "llllllxx");
    tables_end(&f);
}

static struct paths
paths_of(struct fixture *f, size_t callers, bool call_sites)
{
    struct paths_options options = {.callers = callers, .call_sites = call_sites};
    const struct stack **sorted = group_sorted_stacks(&f->stacks, METRIC_INUSE, &arena);
    struct paths paths;

    paths_build(&f->functions, sorted, f->stacks.count, &options, &arena, &paths);
    return paths;
}

/* If this fails, a Lisp program's tables show sizes instead of the paper's classes of types, or the
 * bytes of one class in the column of another. */
static void
lisp_objects_are_divided_by_type(void **state)
{
    static const struct {
        const char *heap;
        int64_t bytes;
    } blocks[] = {{"lisp cons", 100}, {"lisp double-float", 20},    {"lisp structure", 30},
                  {"lisp vector", 4}, {"lisp complex", 50}, {NULL, 6}};
    struct text_view v;
    struct strbuf out = {0};
    struct function_totals d;
    struct callgraph g;
    struct fixture f;

    (void)state;
    tables_begin(&f);
    for (size_t i = 0; i < countof(blocks); i++) {
        uint32_t site = build_site(f.p, build_counters(1, blocks[i].bytes, 0, 0), "work@a.c:1",
                                   "main@a.c:9", NULL);

        if (blocks[i].heap != NULL)
            build_tags(f.p, site, build_heap(f.p, blocks[i].heap), 0);
    }
    analyse(&f);
    assert_string_equal(functions_class_letters(&f.functions), "smlx");
    functions_by_lisp_class(&f.functions);
    assert_string_equal(functions_class_letters(&f.functions), "cfso");
    function_totals_build(&f.functions, &f.stacks, METRIC_ALLOC, &arena, &d);
    assert_int_equal(d.count, 1);
    assert_int_equal(d.v[0].amount.by_class[LISP_CONS], 100);
    assert_int_equal(d.v[0].amount.by_class[LISP_FLOAT], 20);
    assert_int_equal(d.v[0].amount.by_class[LISP_STRUCTURE], 34);
    assert_int_equal(d.v[0].amount.by_class[LISP_OTHER], 56); // With malloc's block.
    callgraph_build(&f.functions, &f.stacks, METRIC_ALLOC, &arena, &g);
    assert_memory_equal(g.total.by_class, d.v[0].amount.by_class, sizeof g.total.by_class);
    v = (struct text_view){.base = {.p = f.p, .stacks = &f.stacks, .arena = &arena},
                           .style = {.width = 80},
                           .out = &out,
                           .depth = TEXT_DEPTH};
    classic_function_totals(&v, &f.functions, &d);
    assert_non_null(strstr(out.text, "| % mem(type) |"));
    assert_non_null(strstr(out.text, "-c--f--s--o---"));
    assert_non_null(strstr(out.text, "  100.0         210 | 47  9 16 26 |"));
    strbuf_release(&out);
    tables_end(&f);
}

/* If this fails, a C program whose heaps have other names gets the classes of Lisp. */
static void
other_objects_are_divided_by_size(void **state)
{
    struct fixture f;

    (void)state;
    tables_begin(&f);
    build_tags(f.p, build_site(f.p, once, "work@a.c:1", "main@a.c:9", NULL),
               build_heap(f.p, "lispy"), 0);
    analyse(&f);
    functions_by_lisp_class(&f.functions);
    assert_string_equal(functions_class_letters(&f.functions), "smlx");
    tables_end(&f);
}

/* If this fails, one leak has several rows, or several leaks share one. */
static void
paths_merge_what_reads_the_same(void **state)
{
    struct fixture f;
    struct paths p;

    (void)state;
    tables_begin(&f);
    build_site(f.p, build_counters(1, 100, 0, 0), "make@a.c:1", "work@a.c:5", "main@a.c:9", NULL);
    build_site(f.p, build_counters(2, 200, 0, 0), "make@a.c:1", "work@a.c:6", "main@a.c:9", NULL);
    build_site(f.p, build_counters(4, 400, 1, 100), "make@a.c:1", "work@a.c:6", "run@a.c:7",
               "main@a.c:9", NULL);
    build_site(f.p, build_counters(1, 50, 0, 0), "make!/lib/other.so", "work@a.c:5", "main@a.c:9",
               NULL);
    analyse(&f);
    p = paths_of(&f, 5, false);
    assert_int_equal(p.count, 3);
    assert_int_equal(counters_live_bytes(&p.v[0].counters), 300);
    assert_int_equal(counters_live_blocks(&p.v[0].counters), 3);
    assert_int_equal(p.v[0].depth + p.v[1].depth, 3 + 4);
    assert_false(p.v[0].cut);
    // The same two functions, but one path lacks callers and the other does not.
    p = paths_of(&f, 3, false);
    assert_int_equal(p.count, 3);
    assert_true(p.v[0].cut != p.v[1].cut);
    p = paths_of(&f, 2, false);
    assert_int_equal(p.count, 2);
    assert_int_equal(counters_live_bytes(&p.v[0].counters), 600);
    assert_true(p.v[0].cut);
    p = paths_of(&f, 5, true);
    assert_int_equal(p.count, 4);
    p = paths_of(&f, 2, true);
    assert_int_equal(p.count, 3);
    assert_int_equal(counters_live_bytes(&p.v[0].counters), 500);
    tables_end(&f);
}

/* If this fails, a program that allocates nothing makes the analysis crash. */
static void
nothing_gives_empty_tables(void **state)
{
    struct fixture f;
    struct callgraph g;
    struct function_totals d;

    (void)state;
    tables_begin(&f);
    analyse(&f);
    assert_int_equal(paths_of(&f, 0, true).count, 0);
    function_totals_build(&f.functions, &f.stacks, METRIC_ALLOC, &arena, &d);
    assert_int_equal(d.count, 0);
    assert_int_equal(amount_sum(&d.total.amount), 0);
    callgraph_build(&f.functions, &f.stacks, METRIC_ALLOC, &arena, &g);
    assert_int_equal(g.entry_count, 0);
    tables_end(&f);
}

/* Fail if a line of OUT is wider than WIDTH columns. */
static void
lines_fit(const struct strbuf *out, size_t width)
{
    for (const char *line = strbuf_text(out); *line != '\0';) {
        size_t length = strcspn(line, "\n");

        if (style_width(arena_strndup(&arena, line, length)) > width)
            fail_msg("too wide: %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* If this fails, a path is wider than the terminal, or the function that allocates is missing. */
static void
long_paths_wrap_at_the_width(void **state)
{
    static const char longest[] =
        "std::_Rb_tree_iterator<std::pair<std::string const, std::vector<std::map<int, long> > > > "
        "std::_Rb_tree<std::string, std::pair<std::string const, int> >::_M_emplace<int>(int&&)";
    struct fixture f;
    struct leaks leaks = {0};
    struct suppressions none = {0};
    struct strbuf out = {0};
    struct text_view v;
    struct paths p;

    (void)state;
    tables_begin(&f);
    build_site(f.p, build_counters(1, 100, 0, 0), "innermost@a.c:1",
               arena_printf(&arena, "%s@a.c:5", longest), arena_printf(&arena, "%s@b.c:5", longest),
               "main@a.c:9", NULL);
    build_site(f.p, build_counters(1, 50, 0, 0), arena_printf(&arena, "%s@a.c:5", longest),
               "main@a.c:9", NULL);
    analyse(&f);
    p = paths_of(&f, 0, false);
    leaks.stacks = f.stacks;
    v = (struct text_view){
        .base = {.p = f.p, .stacks = &f.stacks, .arena = &arena},
        .style = {.width = 80},
        .out = &out,
    };
    text_paths(&v, &(struct leak_paths){&leaks, &none, &p, &f.functions, false});
    lines_fit(&out, 80);
    assert_non_null(strstr(strbuf_text(&out), " > innermost\n"));
    assert_non_null(strstr(strbuf_text(&out), "_M_emplace"));
    strbuf_release(&out);
    tables_end(&f);
}

/* If this fails, `leaks --call-sites` is wider than the terminal, or lacks lines of calls. */
static void
long_call_sites_fit_the_width(void **state)
{
    static const char finds[] = "_find_and_load@<frozen importlib._bootstrap_external>:1178";
    struct fixture f;
    struct leaks leaks = {0};
    struct suppressions none = {0};
    struct strbuf out = {0};
    struct text_view v;
    struct paths p;

    (void)state;
    tables_begin(&f);
    build_site(f.p, build_counters(1234567, 420 << 10, 0, 0), "alloc@a.c:1", finds, finds, finds,
               "main@a.c:9", NULL);
    analyse(&f);
    p = paths_of(&f, 0, true);
    leaks.stacks = f.stacks;
    v = (struct text_view){
        .base = {.p = f.p, .stacks = &f.stacks, .arena = &arena}, .out = &out};
    for (v.style.width = 60; v.style.width <= 80; v.style.width += 4) {
        strbuf_clear(&out);
        text_paths(&v, &(struct leak_paths){&leaks, &none, &p, &f.functions, true});
        lines_fit(&out, v.style.width);
        assert_non_null(strstr(strbuf_text(&out), " > main (a.c:9)"));
        assert_non_null(strstr(strbuf_text(&out), "1178) x 3"));
    }
    strbuf_release(&out);
    tables_end(&f);
}

/* If this fails, names in the call graph of a program with a billion calls are cut to a letter. */
static void
large_numbers_of_calls_leave_room_for_names(void **state)
{
    struct fixture f;
    struct callgraph g;
    struct graph_view gv = {.g = &g, .metric = METRIC_ALLOC, .arcs = 5};
    struct strbuf out = {0};
    struct text_view v;

    (void)state;
    tables_begin(&f);
    build_site(f.p, build_counters(1000000000, 1 << 20, 0, 0), "handle_request@a.c:1", "main@a.c:9",
               NULL);
    analyse(&f);
    callgraph_build(&f.functions, &f.stacks, METRIC_ALLOC, &arena, &g);
    gv.nodes = g.entries;
    gv.count = g.entry_count;
    v = (struct text_view){
        .base = {.p = f.p, .stacks = &f.stacks, .arena = &arena}, .out = &out};
    for (v.style.width = 60; v.style.width <= 80; v.style.width += 20) {
        bool called = v.style.width == 80;

        strbuf_clear(&out);
        text_callgraph(&v, &gv);
        lines_fit(&out, v.style.width);
        assert_non_null(strstr(strbuf_text(&out), " handle_request [1]\n"));
        assert_int_equal(strstr(strbuf_text(&out), " called ") != NULL, called);
        assert_int_equal(strstr(strbuf_text(&out), " 1,000,000,000/1,000,000,000 ") != NULL,
                         called);
    }
    strbuf_release(&out);
    tables_end(&f);
}

/* If this fails, a truncated stack looks as if its outermost known frame had started it. */
static void
callers_that_were_not_recorded_are_a_caller(void **state)
{
    struct fixture f;
    struct callgraph g;
    struct paths p;

    (void)state;
    tables_begin(&f);
    build_site(f.p, once, "make@a.c:1", "work@a.c:5", NULL);
    f.p->nodes[2].flags = NODE_TRUNCATED;
    analyse(&f);
    assert_string_equal(tables_text_of(&f, 0), "(unknown callers) work make");
    p = paths_of(&f, 0, false);
    assert_int_equal(p.v[0].depth, 2);
    assert_true(p.v[0].cut);
    callgraph_build(&f.functions, &f.stacks, METRIC_ALLOC, &arena, &g);
    assert_int_equal(g.entry_count, 3);
    assert_int_equal(g.entries[0], FUNCTION_UNKNOWN);
    tables_end(&f);
}

/* If this fails, `run --frames` changes the paths and callers of stacks that it hardly cuts. */
static void
a_cut_stack_that_shows_its_beginning_has_no_unknown_callers(void **state)
{
    struct fixture f;
    struct paths p;

    (void)state;
    tables_begin(&f);
    build_site(f.p, once, "make@a.c:1", "main@a.c:5", "__libc_start_call_main!/lib/libc.so.6",
               NULL);
    f.p->nodes[3].flags = NODE_TRUNCATED;
    build_site(f.p, once, "make@a.c:1", "main@a.c:5", NULL);
    f.p->nodes[5].flags = NODE_TRUNCATED;
    build_site(f.p, once, "make@a.c:1", "main@a.c:5", "__libc_start_call_main!/lib/libc.so.6",
               "__libc_start_main_impl!/lib/libc.so.6", "_start", NULL);
    analyse(&f);
    for (uint32_t i = 0; i < f.stacks.count; i++)
        assert_string_equal(tables_text_of(&f, i), "main make");
    p = paths_of(&f, 0, false);
    assert_int_equal(p.count, 1);
    assert_false(p.v[0].cut);
    tables_end(&f);
}

/* The stack leaves the cycle of a and b through out, and returns to the cycle by it. If this fails,
 * a cycle has more bytes than the program. */
static void
a_stack_counts_once_in_a_cycle_it_enters_twice(void **state)
{
    struct fixture f;
    struct callgraph g;
    const struct callgraph_node *cycle;

    (void)state;
    tables_begin(&f);
    build_site(f.p, build_counters(1, 70, 0, 0), "a@a.c:1", "out@a.c:3", "a@a.c:2", "b@a.c:2",
               "a@a.c:4", "main@a.c:9", NULL);
    build_site(f.p, build_counters(1, 30, 0, 0), "leaf@a.c:1", "main@a.c:9", NULL);
    analyse(&f);
    callgraph_build(&f.functions, &f.stacks, METRIC_ALLOC, &arena, &g);
    assert_int_equal(amount_sum(&g.total), 100);
    assert_int_equal(g.node_count, g.function_count + 1);
    cycle = &g.nodes[g.function_count];
    assert_int_equal(amount_sum(&cycle->inclusive), 70);
    assert_int_equal(amount_sum(&cycle->self), 70);
    assert_int_equal(cycle->called.calls, 1);
    // The cycle calls out and is called by it, so out belongs to the cycle; only main enters.
    assert_int_equal(cycle->caller_count, 1);
    assert_int_equal(g.nodes[g.entries[0]].cycle, CALLGRAPH_NONE);
    for (size_t i = 0; i < g.arc_count; i++)
        assert_true(amount_sum(&g.arcs[i].amount) <= 70);
    tables_end(&f);
}

/* If this fails, a function that keeps nothing is listed among those that keep memory, and adds
 * cycles there. */
static void
the_graph_of_a_metric_has_what_the_metric_has(void **state)
{
    struct fixture f;
    struct callgraph g;

    (void)state;
    tables_begin(&f);
    build_site(f.p, build_counters(1, 70, 1, 70), "a@a.c:1", "b@a.c:2", "a@a.c:4", "main@a.c:9",
               NULL);
    build_site(f.p, build_counters(1, 30, 0, 0), "b@a.c:1", "a@a.c:4", "main@a.c:9", NULL);
    analyse(&f);
    callgraph_build(&f.functions, &f.stacks, METRIC_INUSE, &arena, &g);
    assert_int_equal(g.node_count, g.function_count);
    assert_int_equal(g.entry_count, 3);
    callgraph_build(&f.functions, &f.stacks, METRIC_ALLOC, &arena, &g);
    assert_int_equal(g.node_count, g.function_count + 1);
    tables_end(&f);
}

/* If this fails, a table of an interval lacks the stacks that shrank, or the graph lacks functions
 * whose growth and shrinkage cancel out although it has their calls. */
static void
what_shrank_is_listed_by_its_amount(void **state)
{
    static const char *const names[] = {"grew", "shrank", "little"};
    static const int64_t amounts[] = {100, -900, -7};
    struct fixture f;
    struct function_totals d;
    struct callgraph g;

    (void)state;
    tables_begin(&f);
    build_site(f.p, build_counters(1, 100, 0, 0), "grew@a.c:1", "main@a.c:9", NULL);
    build_site(f.p, build_counters(0, 0, 9, 900), "shrank@a.c:2", "main@a.c:9", NULL);
    build_site(f.p, build_counters(0, 0, 1, 7), "little@a.c:3", "main@a.c:9", NULL);
    build_site(f.p, build_counters(1, 5, 1, 5), "rested@a.c:4", "main@a.c:9", NULL);
    build_site(f.p, build_counters(8, 807, 0, 0), "main@a.c:9", NULL);
    analyse(&f);
    function_totals_build(&f.functions, &f.stacks, METRIC_INUSE, &arena, &d);
    callgraph_build(&f.functions, &f.stacks, METRIC_INUSE, &arena, &g);
    assert_int_equal(d.count, 4);
    assert_int_equal(amount_sum(&d.v[0].amount), -900);
    assert_int_equal(amount_sum(&d.v[1].amount), 807);
    assert_int_equal(amount_sum(&d.v[3].amount), -7);
    assert_int_equal(g.entry_count, 4); // main's amounts add up to 0.
    for (size_t i = 0; i < 3; i++) {
        const struct callgraph_node *n = &g.nodes[g.entries[i == 0 ? 1 : i == 1 ? 0 : 2]];

        assert_string_equal(functions_name(&f.functions, (uint32_t)(n - g.nodes)), names[i]);
        assert_int_equal(amount_sum(&n->inclusive), amounts[i]);
        assert_int_equal(n->caller_count, 1);
    }
    assert_int_equal(g.nodes[g.entries[3]].callee_count, 3);
    assert_int_equal(g.nodes[g.entries[3]].index, 3);
    tables_end(&f);
}

/* If this fails, a long chain of calls overflows heaptap's stack, or a cycle is missed. */
static void
components_are_found_without_recursion(void **state)
{
    enum { NODES = 300000, RING = 100000 };
    uint32_t *first = arena_array(&arena, NODES + 1, sizeof *first);
    uint32_t *targets = arena_array(&arena, NODES, sizeof *targets);
    struct graph g = {NODES, first, targets};
    struct components c;

    (void)state;
    // Build a chain whose last but one node calls RING. The last node calls none.
    for (uint32_t i = 0; i < NODES; i++) {
        first[i] = i;
        targets[i] = i + 1 == NODES - 1 ? RING : i + 1;
    }
    first[NODES - 1] = first[NODES] = NODES - 1;
    components_find(&g, &arena, &c);
    assert_int_equal(c.sizes[c.of_node[0]], 1);
    assert_int_equal(c.sizes[c.of_node[RING]], NODES - 1 - RING);
    assert_int_equal(c.sizes[c.of_node[NODES - 1]], 1);
    assert_int_equal(c.count, RING + 2);
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_runs_outside_of_main_has_a_name),
        cmocka_unit_test(a_function_that_main_ends_with_is_a_root),
        cmocka_unit_test(a_stripped_main_is_main),
        cmocka_unit_test(amounts_keep_their_classes),
        cmocka_unit_test(lisp_objects_are_divided_by_type),
        cmocka_unit_test(other_objects_are_divided_by_size),
        cmocka_unit_test(paths_merge_what_reads_the_same),
        cmocka_unit_test(nothing_gives_empty_tables),
        cmocka_unit_test(long_paths_wrap_at_the_width),
        cmocka_unit_test(long_call_sites_fit_the_width),
        cmocka_unit_test(large_numbers_of_calls_leave_room_for_names),
        cmocka_unit_test(callers_that_were_not_recorded_are_a_caller),
        cmocka_unit_test(a_cut_stack_that_shows_its_beginning_has_no_unknown_callers),
        cmocka_unit_test(a_stack_counts_once_in_a_cycle_it_enters_twice),
        cmocka_unit_test(the_graph_of_a_metric_has_what_the_metric_has),
        cmocka_unit_test(what_shrank_is_listed_by_its_amount),
        cmocka_unit_test(components_are_found_without_recursion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
