/* test_export.c: exports as other tools read them: collapsed stacks, both pprof formats, the flame
 * graph, speedscope, CSV, DevTools, heaptrack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "build_profile.h"
#include "command/exporters.h"
#include "export/exporter.h"
#include "export/module_map.h"
#include "pprof/proto_out.h"
#include "profile/time_slice.h"
#include "svg/svg.h"

static struct arena arena;

/* Return P in the format NAME, showing METRIC, of the stacks that match FILTER. The caller releases
 * it. */
static struct strbuf
exported(const struct profile *p, const char *name, enum metric metric, const char *filter)
{
    const struct exporter *e = export_find(name);
    struct stacks_options stacks_options = {.filter = filter};
    struct export_options options = {.metric = metric};
    struct strbuf out = {0};
    struct stacks stacks;
    struct err err = {""};

    assert_non_null(e);
    assert_int_equal(stacks_build(p, &stacks_options, &arena, &stacks, &err), 0);
    assert_int_equal(e->write(p, &stacks, &options, &out, &err), 0);
    return out;
}

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

struct text_row {
    int64_t live_blocks, live_bytes, allocations, allocated_bytes;
    char addresses[512];
};

/* Parse the rows of a legacy heap profile with the consumers' regular expression. */
static size_t
parse_rows(const char *text, struct text_row *ret, size_t max)
{
    regex_t re;
    regmatch_t m[6];
    size_t count = 0;

    assert_int_equal(
        regcomp(&re, "^ *(-?[0-9]+): *(-?[0-9]+) *\\[ *([0-9]+): *([0-9]+) *\\] @([ x0-9a-f]*)$",
                REG_EXTENDED | REG_NEWLINE),
        0);
    while (count < max && regexec(&re, text, 6, m, 0) == 0) {
        struct text_row *r = &ret[count++];

        r->live_blocks = strtoll(text + m[1].rm_so, NULL, 10);
        r->live_bytes = strtoll(text + m[2].rm_so, NULL, 10);
        r->allocations = strtoll(text + m[3].rm_so, NULL, 10);
        r->allocated_bytes = strtoll(text + m[4].rm_so, NULL, 10);
        snprintf(r->addresses, sizeof r->addresses, "%.*s", (int)(m[5].rm_eo - m[5].rm_so),
                 text + m[5].rm_so);
        text += m[0].rm_eo;
    }
    regfree(&re);
    return count;
}

/* If this fails, google-pprof shows totals that differ from the sum of the rows, or wrong
 * addresses. */
static void
rows_of_pprof_text_add_up_to_the_header(void **state)
{
    struct profile *p = build_profile_small();
    struct text_row rows[8], sum = {0}, head;
    struct strbuf out;
    char address[64];
    size_t count;

    (void)state;
    build_site(p, build_counters(2, 20, 3, 30), "torn@a.c:6", NULL);
    out = exported(p, "pprof-text", METRIC_INUSE, NULL);
    assert_int_equal(
        sscanf(out.text,
               "heap profile: %" SCNd64 ": %" SCNd64 " [%" SCNd64 ": %" SCNd64 "] @ heapprofile",
               &head.live_blocks, &head.live_bytes, &head.allocations, &head.allocated_bytes),
        4);
    assert_non_null(strstr(out.text, "] @ heapprofile\n"));
    count = parse_rows(out.text, rows, countof(rows));
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        sum.live_blocks += rows[i].live_blocks;
        sum.live_bytes += rows[i].live_bytes;
        sum.allocations += rows[i].allocations;
        sum.allocated_bytes += rows[i].allocated_bytes;
        assert_true(rows[i].live_blocks != 0 || rows[i].live_bytes == 0);
    }
    assert_int_equal(sum.live_blocks, head.live_blocks);
    assert_int_equal(sum.live_bytes, head.live_bytes);
    assert_int_equal(sum.allocations, head.allocations);
    assert_int_equal(sum.allocated_bytes, head.allocated_bytes);
    assert_int_equal(head.live_bytes, 200 + 50 + 7 + 5);
    assert_int_equal(head.allocated_bytes, 300 + 50 + 63 + 5 + 20);
    // The innermost address is inside its call instruction; its caller's is a return address.
    snprintf(address, sizeof address, " 0x%016" PRIx64 " 0x%016" PRIx64,
             p->locations[2].address - 1, p->locations[1].address);
    assert_string_equal(rows[0].addresses, address);
    assert_string_equal(rows[3].addresses, " 0x00007ffffffff000");
    assert_non_null(strstr(out.text, "\n\nMAPPED_LIBRARIES:\n"));
    snprintf(address, sizeof address, "\n%08" PRIx64 "-%08" PRIx64 " r-xp 00000000 00:00 0 ",
             p->modules[2].start, p->modules[2].end);
    assert_non_null(strstr(out.text, address));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a filtered export, or its header, still has the numbers of all stacks. */
static void
a_filter_reaches_rows_and_header(void **state)
{
    struct profile *p = build_profile_small();
    struct strbuf out = exported(p, "pprof-text", METRIC_INUSE, "open_it");
    struct text_row rows[8];

    (void)state;
    assert_int_equal(parse_rows(out.text, rows, countof(rows)), 1);
    assert_int_equal(strncmp(out.text, "heap profile: 1: 7 [9: 63] @", 28), 0);
    strbuf_release(&out);
    profile_free(p);
}

/* A minimal reader of protocol buffers, to check the output. */
struct reader {
    const unsigned char *next, *end;
};

struct field {
    uint32_t number;
    uint64_t value;       // Value of a varint.
    struct reader nested; // Content of a field of bytes.
};

static uint64_t
read_varint(struct reader *r)
{
    uint64_t value = 0;

    for (int shift = 0;; shift += 7) {
        assert_true(r->next < r->end && shift < 64);
        value |= (uint64_t)(*r->next & 0x7f) << shift;
        if (!(*r->next++ & 0x80))
            return value;
    }
}

static bool
read_field(struct reader *r, struct field *ret)
{
    uint64_t key;

    if (r->next == r->end)
        return false;
    key = read_varint(r);
    *ret = (struct field){.number = (uint32_t)(key >> 3)};
    ret->value = read_varint(r);
    if ((key & 7) == 0)
        return true;
    assert_int_equal(key & 7, 2);
    assert_true(ret->value <= (uint64_t)(r->end - r->next));
    ret->nested = (struct reader){r->next, r->next + ret->value};
    r->next += ret->value;
    return true;
}

/* Return the N-th field NUMBER of the message R; fail the test if there is none. */
static struct field
find_field(struct reader r, uint32_t number, size_t n)
{
    struct field f;

    while (read_field(&r, &f))
        if (f.number == number && n-- == 0)
            return f;
    fail_msg("no field %u", number);
    return f;
}

static size_t
count_fields(struct reader r, uint32_t number)
{
    struct field f;
    size_t count = 0;

    while (read_field(&r, &f))
        count += f.number == number;
    return count;
}

/* Return the message with id ID, which is its field 1, from the repeated field NUMBER. */
static struct reader
by_id(struct reader profile, uint32_t number, uint64_t id)
{
    for (size_t i = 0; i < count_fields(profile, number); i++) {
        struct reader r = find_field(profile, number, i).nested;

        if (find_field(r, 1, 0).value == id)
            return r;
    }
    fail_msg("no message %u with id %" PRIu64, number, id);
    return profile;
}

static const char *
pprof_string(struct reader profile, uint64_t id)
{
    struct reader r = find_field(profile, 6, id).nested;

    return arena_strndup(&arena, (const char *)r.next, (size_t)(r.end - r.next));
}

static struct reader
gunzip(const struct strbuf *in)
{
    enum { MAX = 1 << 20 };
    unsigned char *plain = arena_alloc(&arena, MAX);
    z_stream z = {.next_in = (unsigned char *)in->text,
                  .avail_in = (uInt)in->length,
                  .next_out = plain,
                  .avail_out = MAX};

    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    return (struct reader){plain, plain + z.total_out};
}

/* Return the name of the function of line LINE of location ID; store its line number in
 * *RET_LINE. */
static const char *
location_function(struct reader profile, uint64_t id, size_t line, uint64_t *ret_line)
{
    struct reader l = find_field(by_id(profile, 4, id), 4, line).nested;

    *ret_line = find_field(l, 2, 0).value;
    return pprof_string(profile,
                        find_field(by_id(profile, 5, find_field(l, 1, 0).value), 2, 0).value);
}

/* If this fails, go tool pprof shows wrong values, types or inlined calls. */
static void
pprof_has_values_types_and_inlined_calls(void **state)
{
    static const char *const types[] = {"alloc_objects",    "alloc_space",  "inuse_objects",
                                        "inuse_space",      "peak_objects", "peak_space",
                                        "temporary_objects", "short_lived_objects"};
    static const uint64_t values[] = {3, 300, 2, 200, 2, 200, 0, 0};
    struct profile *p = build_profile_small();
    struct strbuf out = exported(p, "pprof", METRIC_PEAK, NULL);
    struct reader r = gunzip(&out), ids, v;
    uint64_t id, line;

    (void)state;
    for (size_t i = 0; i < countof(types); i++)
        assert_string_equal(pprof_string(r, find_field(find_field(r, 1, i).nested, 1, 0).value),
                            types[i]);
    assert_int_equal(count_fields(r, 1), countof(types));
    assert_int_equal(count_fields(r, 2), 4);
    ids = find_field(find_field(r, 2, 0).nested, 1, 0).nested;
    v = find_field(find_field(r, 2, 0).nested, 2, 0).nested;
    for (size_t i = 0; i < countof(values); i++)
        assert_int_equal(read_varint(&v), values[i]);
    assert_ptr_equal(v.next, v.end);
    id = read_varint(&ids);
    assert_int_equal(count_fields(by_id(r, 4, id), 4), 2);
    assert_string_equal(location_function(r, id, 0, &line), "make");
    assert_int_equal(line, 3);
    assert_string_equal(location_function(r, id, 1, &line), "work");
    assert_int_equal(line, 10);
    assert_int_equal(find_field(by_id(r, 4, id), 3, 0).value, p->locations[2].address - 1);
    assert_string_equal(location_function(r, read_varint(&ids), 0, &line), "main");
    assert_ptr_equal(ids.next, ids.end);
    assert_string_equal(pprof_string(r, 0), "");
    assert_string_equal(pprof_string(r, find_field(r, 14, 0).value), "peak_space");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, profile servers put a heap at the wrong time, or mistake memory in use for memory
 * allocated in an interval. */
static void
a_moment_has_a_time_and_a_stretch_a_duration(void **state)
{
    static const struct {
        enum profile_extent extent;
        enum metric metric;
        uint64_t after_start_ns, duration_ns;
    } v[] = {
        {EXTENT_WHOLE, METRIC_INUSE, 2500, 0},  {EXTENT_WHOLE, METRIC_PEAK, 2500, 0},
        {EXTENT_WHOLE, METRIC_ALLOC, 0, 2500},  {EXTENT_WHOLE, METRIC_COUNT, 0, 2500},
        {EXTENT_AT, METRIC_INUSE, 1500, 0},     {EXTENT_AT, METRIC_ALLOC, 0, 1500},
        {EXTENT_PEAK, METRIC_INUSE, 1500, 0},   {EXTENT_BETWEEN, METRIC_INUSE, 1000, 500},
        {EXTENT_BETWEEN, METRIC_ALLOC, 1000, 500},
    };
    struct profile *p = build_profile_small();

    (void)state;
    p->process.elapsed_ns = 2500;
    p->from.elapsed_ns = 1000;
    p->to.elapsed_ns = 1500;
    for (size_t i = 0; i < countof(v); i++) {
        struct strbuf out;
        struct reader r;

        p->extent = v[i].extent;
        out = exported(p, "pprof", v[i].metric, NULL);
        r = gunzip(&out);
        assert_int_equal(find_field(r, 9, 0).value, p->process.start_unix_ns + v[i].after_start_ns);
        assert_int_equal(count_fields(r, 10), v[i].duration_ns != 0);
        if (v[i].duration_ns != 0)
            assert_int_equal(find_field(r, 10, 0).value, v[i].duration_ns);
        strbuf_release(&out);
    }
    profile_free(p);
}

/* If this fails, a picture or pprof export of --at peak shows allocated bytes and calls, which are
 * unknown for the peak. */
static void
of_the_peak_only_what_was_live_is_exported(void **state)
{
    static const struct profile_point peak = {.name = "peak", .is_peak = true};
    static const char *const types[] = {"inuse_objects", "inuse_space"};
    static const uint64_t values[] = {2, 200};
    struct profile *p = build_profile_small(), *whole = build_profile_small();
    struct stacks stacks[2];
    struct flame_side before = {.p = whole, .stacks = &stacks[0]},
                      after = {.p = p, .stacks = &stacks[1]};
    struct stacks_options options = {0};
    struct err err = {""};
    struct strbuf out;
    struct reader r, v;

    (void)state;
    profile_cut(p, NULL, &peak);
    out = exported(p, "flamegraph", METRIC_INUSE, NULL);
    assert_non_null(strstr(out.text, "\nmetrics: [[\"In use\",1,\"inuse\"]],\n"));
    assert_non_null(strstr(out.text, ">262 B in use in 9 blocks; pid 4242, 2.5 s; heaptap "));
    strbuf_clear(&out);
    assert_int_equal(stacks_build(whole, &options, &arena, &stacks[0], &err), 0);
    assert_int_equal(stacks_build(p, &options, &arena, &stacks[1], &err), 0);
    flamegraph_diff(&before, &after, METRIC_INUSE, &out);
    assert_non_null(strstr(out.text, "\nmetrics: [[\"In use\",1,\"inuse\"]],\n"));
    strbuf_release(&out);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    assert_int_equal(count_fields(r, 1), countof(types));
    for (size_t i = 0; i < countof(types); i++)
        assert_string_equal(pprof_string(r, find_field(find_field(r, 1, i).nested, 1, 0).value),
                            types[i]);
    v = find_field(find_field(r, 2, 0).nested, 2, 0).nested;
    for (size_t i = 0; i < countof(values); i++)
        assert_int_equal(read_varint(&v), values[i]);
    assert_ptr_equal(v.next, v.end);
    assert_string_equal(pprof_string(r, find_field(r, 14, 0).value), "inuse_space");
    strbuf_release(&out);
    profile_free(whole);
    profile_free(p);
}

/* If this fails, pprof mistakes a library for the program, or searches for symbols that the export
 * already has. */
static void
pprof_maps_the_program_first(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;
    struct reader r, m;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "f@x.c:1!/usr/lib/libx.so", "!/usr/lib/liby.so",
               "main@a.c:2", NULL);
    memcpy(p->modules[1].build_id, "\x0a\xbc", 2);
    p->modules[1].build_id_bytes = 2;
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    assert_int_equal(count_fields(r, 3), 3);
    m = find_field(r, 3, 0).nested;
    assert_string_equal(pprof_string(r, find_field(m, 5, 0).value), "/usr/bin/prog");
    for (uint32_t id = 1; id < p->module_count; id++) {
        bool has_name = strcmp(p->modules[id].path, "/usr/lib/liby.so") != 0;

        m = by_id(r, 3, id);
        assert_string_equal(pprof_string(r, find_field(m, 5, 0).value), p->modules[id].path);
        assert_int_equal(find_field(m, 2, 0).value, p->modules[id].start);
        assert_int_equal(count_fields(m, 7), has_name);
        assert_int_equal(count_fields(m, 10), has_name);
    }
    assert_string_equal(pprof_string(r, find_field(by_id(r, 3, 1), 6, 0).value), "0abc");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, folding an inlined wrapper loses its caller's line, or still shows the wrapper. */
static void
folding_leaves_the_line_of_the_caller(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;
    struct reader r, ids;
    uint64_t first, second, line;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "+xmalloc@u.c:5", "work@a.c:3", "main@a.c:9", NULL);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    ids = find_field(find_field(r, 2, 0).nested, 1, 0).nested;
    first = read_varint(&ids);
    second = read_varint(&ids);
    assert_int_equal(count_fields(by_id(r, 4, first), 4), 1);
    assert_string_equal(location_function(r, first, 0, &line), "work");
    assert_string_equal(location_function(r, second, 0, &line), "main");
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a program's arguments control the terminal on which the comments are read. */
static void
a_comment_has_no_characters_that_drive_a_display(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;
    struct reader r;

    (void)state;
    p->process.command = "prog \x1b[31m\a\xe2\x80\xae-\n";
    build_site(p, build_counters(1, 10, 0, 0), "main@a.c:9", NULL);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    assert_non_null(memmem(r.next, (size_t)(r.end - r.next), ": prog ?[31m?" "?-?", 16));
    strbuf_release(&out);
    profile_free(p);
}

/* If this fails, a function that calls itself from one place collapses into one frame. */
static void
a_recursive_call_stays_a_frame_of_its_own(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;
    struct reader r, ids;
    uint64_t first;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "+in@a.c:1", "walk@a.c:3", "+in@a.c:1", "walk@a.c:3",
               "main@a.c:9", NULL);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    r = gunzip(&out);
    ids = find_field(find_field(r, 2, 0).nested, 1, 0).nested;
    first = read_varint(&ids);
    assert_int_equal(read_varint(&ids), first);
    assert_int_not_equal(read_varint(&ids), first);
    assert_ptr_equal(ids.next, ids.end);
    assert_int_equal(count_fields(by_id(r, 4, first), 4), 2);
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

/* If this fails, pprof misreads numbers from 128 on, negative ones or nested messages. */
static void
numbers_are_encoded_as_protocol_buffers(void **state)
{
    struct strbuf out = {0}, nested = {0};
    struct reader r;

    (void)state;
    proto_uint(&out, 1, 300);
    proto_uint(&out, 2, 0);
    proto_int(&out, 3, -1);
    proto_uint(&nested, 1, UINT64_MAX);
    proto_nested(&out, 20, &nested);
    assert_memory_equal(out.text, "\x08\xac\x02", 3);
    r = (struct reader){(unsigned char *)out.text, (unsigned char *)out.text + out.length};
    assert_int_equal(count_fields(r, 2), 0);
    assert_true(find_field(r, 3, 0).value == UINT64_MAX);
    assert_true(find_field(find_field(r, 20, 0).nested, 1, 0).value == UINT64_MAX);
    assert_int_equal(nested.length, 0);
    strbuf_release(&out);
    strbuf_release(&nested);
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

enum { XML_DEPTH_MAX = 32 };

/* Fail unless TEXT is one element with balanced tags, quoted attributes and only known entities.
 * Understands only the XML that heaptap writes. */
static void
assert_well_formed(const char *text)
{
    char open[XML_DEPTH_MAX][32];
    size_t depth = 0, elements = 0;

    for (const char *s = text; *s != '\0';) {
        if (strncmp(s, "<![CDATA[", 9) == 0) {
            s = strstr(s, "]]>");
            assert_non_null(s);
            s += 3;
        } else if (strncmp(s, "</", 2) == 0) {
            assert_true(depth > 0);
            depth--;
            assert_int_equal(strncmp(s + 2, open[depth], strlen(open[depth])), 0);
            assert_int_equal(s[2 + strlen(open[depth])], '>');
            s += 3 + strlen(open[depth]);
        } else if (*s == '<') {
            size_t length = strcspn(++s, " />\n");

            assert_true(depth < XML_DEPTH_MAX && length > 0 && length < sizeof open[0]);
            assert_true(depth > 0 || elements++ == 0);
            snprintf(open[depth++], sizeof open[0], "%.*s", (int)length, s);
            for (s += length; *s != '>' && *s != '/'; s++) {
                assert_true(*s != '\0' && *s != '<');
                if (*s == '"')
                    s += 1 + strcspn(s + 1, "\"<&");
                assert_true(*s != '<' && *s != '&');
            }
            if (*s == '/') {
                depth--;
                s++;
            }
            assert_int_equal(*s++, '>');
        } else if (*s == '&') {
            static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
            size_t k = 0;

            while (k < countof(known) && strncmp(s, known[k], strlen(known[k])) != 0)
                k++;
            assert_true(k < countof(known));
            s++;
        } else {
            assert_true((unsigned char)*s >= 0x20 || *s == '\n' || *s == '\t');
            s++;
        }
    }
    assert_int_equal(depth, 0);
    assert_int_equal(elements, 1);
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

/* If this fails, a program that never allocated crashes an exporter. */
static void
a_program_without_allocations_is_exported(void **state)
{
    struct profile *p = build_profile_new();
    struct strbuf out;

    (void)state;
    out = exported(p, "collapsed", METRIC_INUSE, NULL);
    assert_int_equal(out.length, 0);
    strbuf_release(&out);
    out = exported(p, "pprof-text", METRIC_INUSE, NULL);
    assert_string_equal(out.text, "heap profile: 0: 0 [0: 0] @ heapprofile\n\nMAPPED_LIBRARIES:\n");
    strbuf_release(&out);
    out = exported(p, "pprof", METRIC_INUSE, NULL);
    assert_int_equal(count_fields(gunzip(&out), 2), 0);
    strbuf_release(&out);
    out = exported(p, "flamegraph", METRIC_INUSE, NULL);
    assert_well_formed(out.text);
    strbuf_release(&out);
    profile_free(p);
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

static int
export_release_arena(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
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
        cmocka_unit_test(a_tree_of_calls_has_bytes_where_they_were_allocated),
        cmocka_unit_test(speedscope_has_each_metric_and_a_row_for_each_function),
        cmocka_unit_test(rows_of_pprof_text_add_up_to_the_header),
        cmocka_unit_test(a_filter_reaches_rows_and_header),
        cmocka_unit_test(pprof_has_values_types_and_inlined_calls),
        cmocka_unit_test(a_moment_has_a_time_and_a_stretch_a_duration),
        cmocka_unit_test(of_the_peak_only_what_was_live_is_exported),
        cmocka_unit_test(pprof_maps_the_program_first),
        cmocka_unit_test(folding_leaves_the_line_of_the_caller),
        cmocka_unit_test(a_comment_has_no_characters_that_drive_a_display),
        cmocka_unit_test(a_recursive_call_stays_a_frame_of_its_own),
        cmocka_unit_test(exporting_twice_gives_the_same_bytes),
        cmocka_unit_test(numbers_are_encoded_as_protocol_buffers),
        cmocka_unit_test(strange_bytes_cannot_break_a_page),
        cmocka_unit_test(a_page_holds_nothing_that_drives_the_display),
        cmocka_unit_test(hostile_names_stay_text_in_the_graph),
        cmocka_unit_test(boxes_are_as_wide_as_their_share),
        cmocka_unit_test(narrow_boxes_are_left_out_and_counted),
        cmocka_unit_test(a_deep_recursion_is_cut_in_the_graph),
        cmocka_unit_test(growth_is_red_and_what_is_gone_is_blue),
        cmocka_unit_test(a_program_without_allocations_is_exported),
        cmocka_unit_test(module_code_is_what_the_kernel_mapped),
    };

    return cmocka_run_group_tests(tests, NULL, export_release_arena);
}
