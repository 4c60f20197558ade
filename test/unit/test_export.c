/* test_export.c: exports as other tools read them: collapsed stacks, the flame graph, speedscope,
 * CSV, DevTools, heaptrack; test_pprof.c has both pprof formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build_profile.h"
#include "command/exporters.h"
#include "export/exporter.h"
#include "export/module_map.h"
#include "exported.h"
#include "svg/svg.h"

/* If this fails, `export -o FILE` picks the wrong format, or none. */
static void
a_format_is_found_by_name_and_suffix(void **state)
{
    size_t count;
    const struct exporter *v = export_list(&count);

    (void)state;
    assert_true(count >= 4);
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(export_find(v[i].name), &v[i]);
    assert_string_equal(export_for_path("dir.d/heap.svg")->name, "flamegraph");
    assert_string_equal(export_for_path("a.pb.gz")->name, "pprof");
    assert_string_equal(export_for_path("a.collapsed")->name, "collapsed");
    assert_string_equal(export_for_path("a.svg.heap")->name, "pprof-text");
    assert_string_equal(export_for_path("a.heaptrack")->name, "heaptrack");
    assert_string_equal(export_for_path("a.heaptrack.gz")->name, "heaptrack");
    assert_string_equal(export_for_path("a.heaptrack.zst")->name, "heaptrack");
    assert_null(export_for_path("a.csv.gz"));
    assert_null(export_for_path("a.gz"));
    assert_null(export_for_path("a.zst"));
    assert_null(export_for_path(".svg"));
    assert_null(export_for_path("a.svg.x"));
    assert_null(export_find("svg"));
    assert_null(export_find(""));
}

/* If this fails, flame graph tools get wrong numbers or stacks. */
static void
collapsed_stacks_have_exact_values(void **state)
{
    struct profile *p = build_profile_small();
    struct strbuf inuse = exported(p, "collapsed", METRIC_INUSE, NULL);
    struct strbuf count = exported(p, "collapsed", METRIC_COUNT, NULL);
    struct strbuf some = exported(p, "collapsed", METRIC_ALLOC, "libx");

    (void)state;
    assert_string_equal(strbuf_text(&inuse), "[other stacks] 5\n"
                                             "main;open_it 7\n"
                                             "main;work 50\n"
                                             "main;work;make 200\n");
    assert_string_equal(strbuf_text(&count), "[other stacks] 1\n"
                                             "main;open_it 9\n"
                                             "main;work 5\n"
                                             "main;work;make 3\n");
    assert_string_equal(strbuf_text(&some), "main;open_it 63\n");
    strbuf_release(&inuse);
    strbuf_release(&count);
    strbuf_release(&some);
    profile_free(p);
}

/* If this fails, a name breaks a line apart, equal stacks are listed twice, or an empty stack is
 * written. */
static void
awkward_names_stay_on_their_line(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "f@a.c:1", "operator;\nx@a.c:2", NULL);
    build_site(p, build_counters(1, 20, 0, 0), "f@a.c:9", "operator;\nx@a.c:7", NULL);
    build_site(p, build_counters(4, 40, 4, 40), "gone@a.c:5", NULL);
    build_site(p, build_counters(1, 10, 3, 30), "torn@a.c:6", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "!/usr/lib/libq.so", "f@a.c:1", NULL);
    out = exported(p, "collapsed", METRIC_INUSE, NULL);
    // The builder puts the seventh location at 0x1070 in its module; the call instruction ends just
    // before.
    assert_string_equal(strbuf_text(&out), "f;libq.so+0x106f 8\n"
                                           "operator: x;f 30\n");
    strbuf_release(&out);
    profile_free(p);
}

static const char speedscope_golden[] =
    "{\n"
    "  \"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
    "  \"exporter\": \"heaptap 1.0\",\n"
    "  \"name\": \"prog --test (pid 4242)\",\n"
    "  \"activeProfileIndex\": 2,\n"
    "  \"shared\": {\n"
    "    \"frames\": [\n"
    "      {\"name\": \"main\", \"file\": \"src/a.c\"},\n"
    "      {\"name\": \"work\", \"file\": \"src/a.c\"},\n"
    "      {\"name\": \"make\", \"file\": \"src/a.c\", \"line\": 3},\n"
    "      {\"name\": \"open_it\", \"file\": \"lib/x.c\", \"line\": 4},\n"
    "      {\"name\": \"[other stacks]\"},\n"
    "      {\"name\": \"torn\", \"file\": \"src/a.c\", \"line\": 6},\n"
    "      {\"name\": \"libq.so+0x107f\", \"file\": \"/usr/lib/libq.so\"}\n"
    "    ]\n"
    "  },\n"
    "  \"profiles\": [\n"
    "    {\n"
    "      \"type\": \"sampled\",\n"
    "      \"name\": \"bytes in use, without -20 of stacks below zero\",\n"
    "      \"unit\": \"bytes\",\n"
    "      \"startValue\": 0,\n"
    "      \"endValue\": 270,\n"
    "      \"samples\": [\n"
    "        [0,1],\n"
    "        [0,1,2],\n"
    "        [0,3],\n"
    "        [0,6],\n"
    "        [4]\n"
    "      ],\n"
    "      \"weights\": [50,200,7,8,5]\n"
    "    },\n"
    "    {\n"
    "      \"type\": \"sampled\",\n"
    "      \"name\": \"bytes at the peak, without -20 of stacks below zero\",\n"
    "      \"unit\": \"bytes\",\n"
    "      \"startValue\": 0,\n"
    "      \"endValue\": 270,\n"
    "      \"samples\": [\n"
    "        [0,1],\n"
    "        [0,1,2],\n"
    "        [0,3],\n"
    "        [0,6],\n"
    "        [4]\n"
    "      ],\n"
    "      \"weights\": [50,200,7,8,5]\n"
    "    },\n"
    "    {\n"
    "      \"type\": \"sampled\",\n"
    "      \"name\": \"bytes allocated\",\n"
    "      \"unit\": \"bytes\",\n"
    "      \"startValue\": 0,\n"
    "      \"endValue\": 446,\n"
    "      \"samples\": [\n"
    "        [0,1],\n"
    "        [0,1,2],\n"
    "        [0,3],\n"
    "        [0,5],\n"
    "        [0,6],\n"
    "        [4]\n"
    "      ],\n"
    "      \"weights\": [50,300,63,20,8,5]\n"
    "    },\n"
    "    {\n"
    "      \"type\": \"sampled\",\n"
    "      \"name\": \"short-lived blocks\",\n"
    "      \"unit\": \"none\",\n"
    "      \"startValue\": 0,\n"
    "      \"endValue\": 0,\n"
    "      \"samples\": [],\n"
    "      \"weights\": []\n"
    "    },\n"
    "    {\n"
    "      \"type\": \"sampled\",\n"
    "      \"name\": \"allocation calls\",\n"
    "      \"unit\": \"none\",\n"
    "      \"startValue\": 0,\n"
    "      \"endValue\": 21,\n"
    "      \"samples\": [\n"
    "        [0,1],\n"
    "        [0,1,2],\n"
    "        [0,3],\n"
    "        [0,5],\n"
    "        [0,6],\n"
    "        [4]\n"
    "      ],\n"
    "      \"weights\": [5,3,9,2,1,1]\n"
    "    }\n"
    "  ]\n"
    "}\n";

/* If this fails, speedscope shows wrong totals, a function twice, or another metric first. */
static void
speedscope_has_each_metric_and_a_row_for_each_function(void **state)
{
    struct profile *p = build_profile_small();
    struct strbuf out;

    (void)state;
    p->process.heaptap = "1.0";
    // This site has -20 live bytes, which the format cannot represent.
    build_site(p, build_counters(2, 20, 4, 40), "torn@src/a.c:6", "main@src/a.c:20", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "!/usr/lib/libq.so", "main@src/a.c:20", NULL);
    out = exported(p, "speedscope", METRIC_ALLOC, NULL);
    assert_string_equal(strbuf_text(&out), speedscope_golden);
    strbuf_release(&out);
    profile_free(p);
}

static const char csv_golden[] =
    "live_bytes,live_blocks,peak_bytes,peak_blocks,allocated_bytes,allocations,freed_bytes,"
    "frees,reallocations,temporary,died_within_16,died_within_256,size_min,size_max,heap,"
    "labels,function,file,line,module,stack\n"
    "10,3,10,3,40,4,30,1,0,0,0,0,10,10,\"malloc\",\"\",\"line  break\",\"a.c\",5,"
    "\"/usr/bin/prog\",\"line  break\"\n"
    "10,1,10,1,10,1,0,0,0,0,0,0,10,10,\"malloc\",\"\",\"'=1+1\",\"a,b.c\",1,"
    "\"/usr/bin/prog\",\"a \"\"b\"\":c;=1+1\"\n"
    "-20,-2,-20,-2,10,1,30,3,0,0,0,0,10,10,\"malloc\",\"\",\"''torn?\",\"'-x.c\",6,"
    "\"/usr/bin/prog\",\"''torn?\"\n"
    "0,0,0,0,6,2,6,2,0,0,0,0,3,3,\"malloc\",\"\",\"libq.so+0x105f\",\"\",,"
    "\"/usr/lib/libq.so\",\"f;libq.so+0x105f\"\n"
    "5,1,5,1,5,1,0,0,0,0,0,0,5,5,\"malloc\",\"\",\"[other stacks]\",\"\",,\"\","
    "\"[other stacks]\"\n";

/* If this fails, a spreadsheet evaluates the name of a stranger's function, or a name breaks a row
 * or shifts its columns. */
static void
names_stay_in_their_cells(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "=1+1@a,b.c:1", "a \"b\";c@a.c:2", NULL);
    build_site(p, build_counters(4, 40, 1, 30), "line\r\nbreak@a.c:5", NULL);
    build_site(p, build_counters(1, 10, 3, 30), "'torn\x1b@-x.c:6", NULL);
    build_site(p, build_counters(2, 6, 2, 6), "!/usr/lib/libq.so", "f@a.c:1", NULL);
    build_site(p, build_counters(1, 5, 0, 0), NULL);
    build_site(p, build_counters(0, 0, 0, 0), "nothing@a.c:5", NULL);
    out = exported(p, "csv", METRIC_ALLOC, NULL);
    assert_string_equal(strbuf_text(&out), csv_golden);
    strbuf_release(&out);
    profile_free(p);
}

static const char heapprofile_golden[] =
    "{\"title\": \"bytes in use, without -20 of stacks below zero\", \"heaptap\": \"prog "
    "--test (pid 4242)\", \"head\":\n"
    "{\"callFrame\": {\"functionName\": \"(root)\", \"scriptId\": \"0\", \"url\": \"\", "
    "\"lineNumber\": -1, \"columnNumber\": -1}\n"
    ",\"selfSize\":0,\"id\":1,\"children\":[\n"
    "{\"callFrame\": {\"functionName\": \"main\", \"scriptId\": \"1\", \"url\": \"src/a.c\", "
    "\"lineNumber\": -1, \"columnNumber\": -1}\n"
    ",\"selfSize\":0,\"id\":2,\"children\":[\n"
    "{\"callFrame\": {\"functionName\": \"work\", \"scriptId\": \"1\", \"url\": \"src/a.c\", "
    "\"lineNumber\": -1, \"columnNumber\": -1}\n"
    ",\"selfSize\":50,\"id\":3,\"children\":[\n"
    "{\"callFrame\": {\"functionName\": \"make\", \"scriptId\": \"1\", \"url\": \"src/a.c\", "
    "\"lineNumber\": 2, \"columnNumber\": -1}\n"
    ",\"selfSize\":200,\"id\":4,\"children\":[]}]},\n"
    "{\"callFrame\": {\"functionName\": \"open_it\", \"scriptId\": \"2\", \"url\": "
    "\"lib/x.c\", \"lineNumber\": 3, \"columnNumber\": -1}\n"
    ",\"selfSize\":7,\"id\":5,\"children\":[]},\n"
    "{\"callFrame\": {\"functionName\": \"say \\\"hi\\\"\\u000a\", \"scriptId\": \"2\", "
    "\"url\": \"lib/x.c\", \"lineNumber\": 3, \"columnNumber\": -1}\n"
    ",\"selfSize\":8,\"id\":7,\"children\":[]}]},\n"
    "{\"callFrame\": {\"functionName\": \"[other stacks]\", \"scriptId\": \"0\", \"url\": "
    "\"\", \"lineNumber\": -1, \"columnNumber\": -1}\n"
    ",\"selfSize\":5,\"id\":6,\"children\":[]}]},\n"
    "\"samples\": [\n"
    "{\"size\":50,\"nodeId\":3,\"ordinal\":1},\n"
    "{\"size\":200,\"nodeId\":4,\"ordinal\":2},\n"
    "{\"size\":7,\"nodeId\":5,\"ordinal\":3},\n"
    "{\"size\":5,\"nodeId\":6,\"ordinal\":4},\n"
    "{\"size\":8,\"nodeId\":7,\"ordinal\":5}\n"
    "]}\n";

/* If this fails, DevTools do not open the file, or show wrong sizes, a recursion several times, or
 * lines that are off by one. */
static void
a_tree_of_calls_has_bytes_where_they_were_allocated(void **state)
{
    struct profile *p = build_profile_small();
    struct export_options counts = {.metric = METRIC_COUNT};
    struct stacks_options stacks_options = {0};
    struct strbuf out;
    struct stacks stacks;
    struct err err = {""};

    (void)state;
    build_site(p, build_counters(2, 20, 4, 40), "torn@src/a.c:6", "main@src/a.c:20", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "say \"hi\"\n@lib/x.c:4", "main@src/a.c:20", NULL);
    out = exported(p, "chrome", METRIC_INUSE, NULL);
    assert_string_equal(strbuf_text(&out), heapprofile_golden);
    assert_int_equal(stacks_build(p, &stacks_options, &arena, &stacks, &err), 0);
    strbuf_clear(&out);
    assert_int_equal(export_find("chrome")->write(p, &stacks, &counts, &out, &err), HEAPTAP_USAGE);
    assert_int_equal(out.length, 0);
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the Firefox Profiler mistakes freed blocks for live ones or vice versa, or adds up
 * functions of two files. */
static void
what_is_freed_takes_away_a_whole_allocation(void **state)
{
    struct profile *p = build_profile_small();
    struct export_options peak = {.metric = METRIC_PEAK};
    struct stacks stacks = {.total = COUNTERS_ZERO};
    struct strbuf out;
    struct err err = {""};

    (void)state;
    // More freed than allocated, which no format can show.
    build_site(p, build_counters(2, 20, 4, 40), "torn@src/a.c:6", "main@src/a.c:20", NULL);
    out = exported(p, "firefox", METRIC_INUSE, NULL);
    assert_non_null(strstr(out.text, "\"weight\": [100,200,50,56,7,5,20,-100,-56,-20],"));
    assert_non_null(strstr(out.text, "\"memoryAddress\": [1,2,3,4,5,6,7,1,4,7],"));
    assert_non_null(strstr(out.text, "\"stack\": [2,2,1,3,3,4,5,2,3,5],"));
    assert_non_null(strstr(out.text, "\"prefix\": [null,0,1,0,null,0],"));
    assert_non_null(strstr(out.text, "\"frame\": [0,1,2,3,4,5],"));
    assert_non_null(strstr(out.text, "\"line\": [null,null,3,4,null,6],"));
    assert_non_null(strstr(out.text, "\"name\": [1,2,3,4,5,6],"));
    assert_non_null(strstr(out.text, "\"fileName\": [7,7,7,8,null,7],"));
    strbuf_clear(&out);
    assert_int_equal(export_find("firefox")->write(p, &stacks, &peak, &out, &err), HEAPTAP_USAGE);
    p->extent = EXTENT_AT;
    assert_int_equal(export_find("firefox")->write(p, &stacks, &(struct export_options){0}, &out,
                                                   &err),
                     HEAPTAP_USAGE);
    assert_int_equal(out.length, 0);
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, the Firefox Profiler draws nothing, or time that runs backwards, for a run whose
 * latest snapshot came after its last event. */
static void
time_never_runs_backwards_for_firefox(void **state)
{
    struct profile *p = build_profile_new();
    struct counters c = build_counters(2, 100, 0, 0);
    struct profile_snapshot snapshot = {.elapsed_ns = 3000000000,
                                        .name = "late",
                                        .amounts = {.allocations = 1, .allocated_bytes = 60}};
    struct profile_change changes[] = {
        {.interval = 0, .amounts = {.allocations = 1, .allocated_bytes = 60}},
        {.interval = 1, .amounts = {.allocations = 1, .allocated_bytes = 40}},
    };
    struct strbuf out;

    (void)state;
    build_thread_site(p, build_thread(p, "main"), build_site(p, c, "f@a.c:1", NULL), c);
    p->has_history = true;
    p->snapshots = &snapshot;
    p->snapshot_count = 1;
    p->changes = changes;
    p->change_count = countof(changes);
    out = exported(p, "firefox", METRIC_INUSE, NULL);
    assert_non_null(strstr(out.text, "\"weight\": [60,40],"));
    assert_non_null(strstr(out.text, "\"time\": [3000,3000],"));
    strbuf_release(&out);
    profile_free(p);
}

static const char heaptrack_golden[] =
    "v 10000 1\n# heaptap 1.0; '- 0' keeps what is freed next from counting as temporary\n"
    "X prog --test\ns src/a.c\ns /usr/bin/prog\ns main\ni 1040100f 2 3 1 14\nt 1 0\ns work\n"
    "i 1040101f 2 4 1 a\nt 2 1\ns make\ni 1040101f 2 5 1 3\nt 3 2\na 0 3\n+ 0\na 69 3\n+ 1\n"
    "- 1\n+ 1\n- 1\n+ 1\n- 0\n- 1\n+ 1\n- 0\n- 1\na 64 3\n+ 2\n+ 2\ns [other stacks]\n"
    "i 0 0 6 0 0\nt 4 0\na 5 4\n+ 3\ni 1040102f 2 3 1 15\nt 5 0\ns s 1 t?\n"
    "i 1040103f 2 7 1 b\nt 6 5\na 32 6\nc 5dc\n+ 4\nc 5dc\n- 4\n- 2\nc bb8\n";

/* If this fails, heaptrack shows another peak, other leaks, wrong temporary blocks, or reads names
 * in place of numbers. */
static void
events_come_to_what_was_counted(void **state)
{
    struct profile *p = build_profile_new();
    struct counters made = build_counters(7, 620, 6, 520);
    struct strbuf out;

    (void)state;
    p->process.heaptap = "1.0";
    p->process.elapsed_ns = 3000000000;
    p->peak_elapsed_ns = 1500000000;
    // Two blocks were temporary, and two, of 200 bytes, were live at the peak; the last one is
    // still live.
    made.temporary = 2;
    made.peak_blocks = 2;
    made.peak_bytes = 200;
    build_site(p, made, "+make@src/a.c:3", "work@src/a.c:10", "main@src/a.c:20", NULL);
    // The latest block was live at the peak, and was temporary.
    made = build_counters(1, 50, 1, 50);
    made.temporary = 1;
    made.peak_blocks = 1;
    made.peak_bytes = 50;
    build_site(p, made, "s 1\nt\x1b@src/a.c:11", "main@src/a.c:21", NULL);
    build_site(p, build_counters(1, 5, 0, 0), NULL);
    out = exported(p, "heaptrack", METRIC_INUSE, NULL);
    assert_string_equal(strbuf_text(&out), heaptrack_golden);
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, exporting a damaged profile fills the disk: its history allocates more blocks than
 * were ever counted. */
static void
a_damaged_history_adds_no_events(void **state)
{
    struct profile *p = build_profile_new();
    struct counters c = build_counters(7, 700, 0, 0);
    struct profile_snapshot snapshot = {.elapsed_ns = 1000000, .name = ""};
    struct profile_change changes[] = {
        {.interval = 0, .amounts = {.allocations = 100000, .allocated_bytes = 700}},
        {.interval = 1, .amounts = {.allocations = -99993}},
    };
    struct strbuf out;
    size_t allocations = 0;

    (void)state;
    build_thread_site(p, build_thread(p, "main"), build_site(p, c, "f@a.c:1", NULL), c);
    p->has_history = true;
    p->snapshots = &snapshot;
    p->snapshot_count = 1;
    p->changes = changes;
    p->change_count = countof(changes);
    out = exported(p, "heaptrack", METRIC_INUSE, NULL);
    for (const char *at = strbuf_text(&out); (at = strstr(at, "\n+ ")) != NULL; at++)
        allocations++;
    assert_int_equal(allocations, 7);
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, comparing exports no longer shows whether two profiles are the same. */
static void
exporting_twice_gives_the_same_bytes(void **state)
{
    struct profile *p = build_profile_small();
    struct profile_access access = ACCESS_NONE;
    size_t count;
    const struct exporter *v = export_list(&count);

    (void)state;
    access.blocks = 1;
    p->accesses = (struct profile_accesses){.granule_bytes = 8, .v = &access, .count = 1};
    for (size_t i = 0; i < count; i++) {
        struct strbuf a = exported(p, v[i].name, METRIC_INUSE, NULL),
                      b = exported(p, v[i].name, METRIC_INUSE, NULL);

        assert_true(a.length > 0);
        assert_int_equal(a.length, b.length);
        assert_memory_equal(a.text, b.text, a.length);
        strbuf_release(&a);
        strbuf_release(&b);
    }
    profile_free(p);
}

/* If this fails, one strange symbol makes a whole SVG unreadable, or ends its script. */
static void
strange_bytes_cannot_break_a_page(void **state)
{
    struct strbuf b = {0};

    (void)state;
    utf8_add_xml(&b, "a<b>&\"'\x01\xff\xc3\xa4\xed\xa0\x80");
    assert_string_equal(strbuf_text(&b),
                        "a&lt;b&gt;&amp;&quot;&#39;\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4"
                        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    strbuf_clear(&b);
    utf8_add_script(&b, "]]></script>\\\"\xe2\x82\xac");
    assert_string_equal(strbuf_text(&b),
                        "\"]]\\u003e\\u003c/script\\u003e\\u005c\\u0022\\u20ac\"");
    strbuf_clear(&b);
    utf8_add(&b, "ok\xc0\x80");
    assert_string_equal(strbuf_text(&b), "ok\xef\xbf\xbd\xef\xbf\xbd");
    assert_int_equal(utf8_count("\xc3\xa4xy"), 3);
    strbuf_release(&b);
}

/* If this fails, a function's name reverses the labels of a picture, or sends control sequences to
 * the terminal that shows its source. */
static void
a_page_holds_nothing_that_drives_the_display(void **state)
{
    static const char name[] = "\xe2\x80\xae" "a\xc2\x9b" "b\xe2\x81\xa6" "c\xe2\x80\xa8" "d\x7f";
    struct strbuf b = {0};

    (void)state;
    utf8_add_xml(&b, name);
    assert_string_equal(strbuf_text(&b), "\xef\xbf\xbd" "a\xef\xbf\xbd" "b\xef\xbf\xbd"
                                         "c\xef\xbf\xbd" "d\xef\xbf\xbd");
    strbuf_clear(&b);
    utf8_add_xml(&b, "a\tb\nc");
    assert_string_equal(strbuf_text(&b), "a\tb\nc");
    strbuf_clear(&b);
    utf8_add_script(&b, name);
    assert_string_equal(strbuf_text(&b), "\"\xef\xbf\xbd" "a\xef\xbf\xbd" "b\xef\xbf\xbd"
                                         "c\xef\xbf\xbd" "d\xef\xbf\xbd\"");
    strbuf_release(&b);
}

/* If this fails, a C++ name or a hostile one breaks the SVG, or runs as script when it is opened.
 */
static void
hostile_names_stay_text_in_the_graph(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    p->process.executable = "/usr/bin/a<b>&\"c";
    build_site(p, build_counters(1, 1000, 0, 0), "</script><b>&\"]]>@a<&>.c:1!/l/<i>\"&.so",
               "std::vector<int, A<B> >::f(char const&)@b.cc:2", "bad\xff\x02@c.c:3", NULL);
    out = exported(p, "flamegraph", METRIC_INUSE, NULL);
    assert_well_formed(out.text);
    assert_non_null(strstr(out.text, "&lt;/script&gt;&lt;b&gt;&amp;&quot;]]&gt;"));
    assert_null(strstr(out.text, "</script><b>"));
    assert_null(strstr(out.text, "<i>"));
    assert_null(strstr(out.text, "\xff"));
    assert_non_null(strstr(out.text, "\\u003c/script\\u003e"));
    strbuf_release(&out);
    profile_free(p);
}

/* Return the number of occurrences of NEEDLE in TEXT. */
static size_t
occurrences(const char *text, const char *needle)
{
    size_t count = 0;

    while ((text = strstr(text, needle)) != NULL) {
        text += strlen(needle);
        count++;
    }
    return count;
}

/* If this fails, boxes of the flame graph have wrong widths or numbers. */
static void
boxes_are_as_wide_as_their_share(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    build_site(p, build_counters(3, 300, 0, 0), "make@a.c:3", "main@a.c:20", NULL);
    build_site(p, build_counters(1, 100, 0, 0), "take@a.c:4", "main@a.c:21", NULL);
    out = exported(p, "flamegraph", METRIC_INUSE, NULL);
    assert_well_formed(out.text);
    assert_int_equal(occurrences(out.text, "<g class=\"box\">"), 4);
    // The 1168 pixels between the margins are three quarters for make, a quarter for take, and a
    // gap of one pixel.
    assert_non_null(strstr(out.text, "<title>make\n300 B, 75.0 %\na.c:3  prog</title>"));
    assert_int_equal(occurrences(out.text, "x=\"16.0\" y=\"190\" width=\"875.0\""), 1);
    assert_int_equal(occurrences(out.text, "x=\"892.0\" y=\"190\" width=\"291.0\""), 1);
    // main allocates on two lines, so its title has no line.
    assert_non_null(strstr(out.text, "<title>main\n400 B, 100.0 %\na.c  prog</title>"));
    // Parent, frame, line; then in use, peak, allocated, temporary, calls.
    assert_non_null(strstr(out.text, "\n1,2,3,300,300,300,0,3,\n"));
    strbuf_release(&out);
    out = exported(p, "flamegraph", METRIC_TEMPORARY, NULL);
    assert_well_formed(out.text);
    assert_non_null(strstr(out.text, "Nothing was counted here."));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a graph of a big program is too big to open, or drops boxes silently. */
static void
narrow_boxes_are_left_out_and_counted(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    build_site(p, build_counters(1, 1000000, 0, 0), "big@a.c:1", NULL);
    build_site(p, build_counters(1000, 1000, 0, 0), "many@a.c:2", NULL);
    for (int i = 0; i < 3; i++) {
        const char *frame = arena_printf(&arena, "tiny%d@a.c:9", i);

        build_site(p, build_counters(1, 900, 0, 0), frame, NULL);
    }
    out = exported(p, "flamegraph", METRIC_INUSE, NULL);
    // "many" is narrow in bytes but not in calls; "tiny" is narrow in both.
    assert_non_null(strstr(out.text, "\"many\""));
    assert_null(strstr(out.text, "tiny"));
    assert_non_null(strstr(out.text, "3 boxes of less than 0.1 % in every metric are left out."));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, deep recursion overflows heaptap's stack, or gives a picture of unlimited
 * height. */
static void
a_deep_recursion_is_cut_in_the_graph(void **state)
{
    enum { DEPTH = 3000 };
    struct profile *p = build_profile_new();
    const char *frames[DEPTH];
    struct strbuf out;

    (void)state;
    for (size_t i = 0; i < DEPTH; i++)
        frames[i] = i + 1 < DEPTH ? "recurse@a.c:3" : "main@a.c:9";
    build_site_frames(p, build_counters(1, 10, 0, 0), frames, DEPTH);
    out = exported(p, "flamegraph", METRIC_INUSE, NULL);
    assert_int_equal(occurrences(out.text, "<g class=\"box\">"), FLAME_DEPTH_MAX + 1);
    assert_non_null(strstr(out.text, "2,000 boxes of less"));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, growth is shown blue, or vanished stacks are missing. */
static void
growth_is_red_and_what_is_gone_is_blue(void **state)
{
    struct profile *p[2] = {build_profile_new(), build_profile_new()};
    struct stacks stacks[2];
    struct flame_side sides[2];
    struct strbuf out = {0};
    struct err err = {""};

    (void)state;
    build_site(p[0], build_counters(1, 100, 0, 0), "gone@a.c:1", "main@a.c:9", NULL);
    build_site(p[0], build_counters(1, 100, 0, 0), "same@a.c:2", "main@a.c:9", NULL);
    build_site(p[1], build_counters(1, 100, 0, 0), "same@a.c:7", "main@a.c:8", NULL);
    build_site(p[1], build_counters(1, 200, 0, 0), "new@a.c:3", "main@a.c:9", NULL);
    // The second profile is from another build of the program, under another name.
    for (size_t m = 1; m < p[1]->module_count; m++)
        if (strcmp(p[1]->modules[m].path, p[1]->process.executable) == 0)
            p[1]->modules[m].path = "/usr/bin/prog2";
    p[1]->process.executable = "/usr/bin/prog2";
    for (int i = 0; i < 2; i++) {
        assert_int_equal(stacks_build(p[i], &(struct stacks_options){0}, &arena, &stacks[i], &err),
                         0);
        sides[i] = (struct flame_side){.p = p[i], .stacks = &stacks[i]};
    }
    flamegraph_diff(&sides[0], &sides[1], METRIC_INUSE, &out);
    assert_well_formed(out.text);
    // The picture is 400 units wide: 200 are new, 100 gone, 100 the same; main and all grew from
    // 200 to 300.
    assert_non_null(strstr(out.text, "<title>new\n0 B \xe2\x86\x92 200 B\na.c:3  prog2</title>"));
    assert_int_equal(
        occurrences(out.text, "<rect class=\"d10\" x=\"16.0\" y=\"190\" width=\"583.0\""), 1);
    assert_int_equal(
        occurrences(out.text, "<rect class=\"d0\" x=\"600.0\" y=\"190\" width=\"291.0\""), 1);
    assert_int_equal(
        occurrences(out.text, "<rect class=\"d5\" x=\"892.0\" y=\"190\" width=\"291.0\""), 1);
    assert_int_equal(occurrences(out.text, "<rect class=\"d7\""), 2);
    strbuf_release(&out);
    profile_free(p[0]);
    profile_free(p[1]);
}

/* If this fails, consumers map addresses of real binaries to the wrong place in the file. */
static void
module_code_is_what_the_kernel_mapped(void **state)
{
    uint64_t here = (uint64_t)(uintptr_t)module_code_is_what_the_kernel_mapped;
    uint64_t start = 0, end = 0, offset = 0, low = UINT64_MAX, high = 0;
    char line[4096], self[4096];
    FILE *f = fopen("/proc/self/maps", "re");
    struct module_segment segments[MODULE_SEGMENTS_MAX];
    struct profile_module m = {.path = self};
    const struct profile p = {.modules = &m, .module_count = 1};
    size_t count, found = 0;

    (void)state;
    assert_non_null(f);
    assert_non_null(realpath("/proc/self/exe", self));
    while (fgets(line, sizeof line, f) != NULL) {
        uint64_t a, b, o;

        if (strstr(line, self) == NULL ||
            sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &a, &b, &o) != 3)
            continue;
        low = a < low ? a : low;
        high = b > high ? b : high;
        if (here >= a && here < b) {
            start = a;
            end = b;
            offset = o;
        }
    }
    fclose(f);
    m.start = m.bias = low;
    m.end = high;
    // A position-dependent test program is loaded at the addresses in its file.
    if (low == 0x400000)
        m.bias = 0;
    count = module_code(&p, &m, segments);
    for (size_t i = 0; i < count; i++)
        found += segments[i].start == start && segments[i].end == end &&
                 segments[i].file_offset == offset;
    assert_int_equal(found, 1);
    m.path = "/dev/null/file";
    assert_int_equal(module_code(&p, &m, segments), 1);
    assert_true(segments[0].start == low && segments[0].end == high &&
                segments[0].file_offset == 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_is_found_by_name_and_suffix),
        cmocka_unit_test(collapsed_stacks_have_exact_values),
        cmocka_unit_test(awkward_names_stay_on_their_line),
        cmocka_unit_test(names_stay_in_their_cells),
        cmocka_unit_test(what_is_freed_takes_away_a_whole_allocation),
        cmocka_unit_test(time_never_runs_backwards_for_firefox),
        cmocka_unit_test(events_come_to_what_was_counted),
        cmocka_unit_test(a_damaged_history_adds_no_events),
        cmocka_unit_test(a_tree_of_calls_has_bytes_where_they_were_allocated),
        cmocka_unit_test(speedscope_has_each_metric_and_a_row_for_each_function),
        cmocka_unit_test(exporting_twice_gives_the_same_bytes),
        cmocka_unit_test(strange_bytes_cannot_break_a_page),
        cmocka_unit_test(a_page_holds_nothing_that_drives_the_display),
        cmocka_unit_test(hostile_names_stay_text_in_the_graph),
        cmocka_unit_test(boxes_are_as_wide_as_their_share),
        cmocka_unit_test(narrow_boxes_are_left_out_and_counted),
        cmocka_unit_test(a_deep_recursion_is_cut_in_the_graph),
        cmocka_unit_test(growth_is_red_and_what_is_gone_is_blue),
        cmocka_unit_test(module_code_is_what_the_kernel_mapped),
    };

    return cmocka_run_group_tests(tests, NULL, release_exported);
}
