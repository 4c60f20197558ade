/* test_session.c: texts about a run and a session: losses with their causes, names that distinguish
 * processes, and notes stored in the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "build_profile.h"
#include "json/json_tables.h"
#include "launch/run.h"
#include "load/load.h"
#include "merge/merge.h"
#include "profile/pack.h"
#include "profile/writer.h"
#include "text/text.h"
#include "text/text_view.h"
#include "view/phrases.h"
#include "view/session.h"
#include "view/table.h"

static struct arena arena;

/* If this fails, "24 events not recorded" leaves the user to guess whether the profile can be
 * trusted. */
static void
a_loss_is_told_with_its_causes(void **state)
{
    struct profile_losses one = {.events = 24, .reentrant_events = 24};
    struct profile_losses two = {.events = 1200, .reentrant_events = 200, .early_events = 1000};
    struct profile_losses unknown = {.events = 3};

    (void)state;
    assert_string_equal(loss_causes(&arena, &one), "in signal handlers that interrupted the "
                                                   "recorder");
    assert_string_equal(loss_causes(&arena, &two),
                        "200 in signal handlers that interrupted the recorder; 1,000 in other "
                        "threads while it was starting");
    assert_string_equal(loss_causes(&arena, &unknown), "");
    assert_null(loss_remedy(&one));
    assert_non_null(strstr(loss_remedy(&two), "--reserve"));
}

/* If this fails, a session of many processes shows how much it lost but not why. */
static void
a_session_adds_up_the_causes_of_its_losses(void **state)
{
    struct style plain = {.width = STYLE_NO_LIMIT};
    struct profile *p[] = {build_profile_new(), build_profile_new()};
    struct view_set set = {.v = p, .count = 2};
    struct strbuf out = {0};

    (void)state;
    p[0]->losses = (struct profile_losses){.events = 2, .no_memory_events = 2};
    p[1]->losses = (struct profile_losses){.events = 5, .no_memory_events = 4, .heap_events = 1};
    text_session(&set, &plain, 0, &arena, &out);
    assert_non_null(strstr(out.text, "7 events not recorded: 6 because the recorder got no memory, "
                                     "or none within --max-memory; 1 of heaps"));
    strbuf_release(&out);
    profile_free(p[0]);
    profile_free(p[1]);
}

/* Return the name that session_names gives to process I of the COUNT processes in WHO. */
static const char *
name_in(const struct session_who *who, size_t count, size_t i)
{
    const char **names = arena_array(&arena, count, sizeof *names);

    session_names(who, count, &arena, names);
    return names[i];
}

/* If this fails, twelve compilers have twelve equal lines, and a user cannot find the compiler with
 * the large peak. */
static void
processes_of_a_program_are_told_apart_by_what_differs(void **state)
{
    static const struct session_who who[] = {
        {"cc1plus", "/usr/lib/cc1plus -quiet -O2 lexer.cc -dumpbase lexer.cc -o /tmp/ccA.s", ""},
        {"cc1plus", "/usr/lib/cc1plus -quiet -O2 -g parser.cc -dumpbase parser.cc -o /tmp/ccB.s",
         "cc1plus"},
        {"cc1plus", "/usr/lib/cc1plus -quiet -O2 -g main.cc -dumpbase main.cc -o /tmp/ccC.s", ""},
        {"make", "make  -j4 all", "make"},
        {"x86_64-linux-gnu-as", "/usr/bin/as --64 -o /tmp/ccD.o /tmp/ccA.s", "as"},
        {"x86_64-linux-gnu-as", "as --64 -o /tmp/ccE.o /tmp/ccB.s", "as"},
        {"", "", ""},
    };

    (void)state;
    assert_string_equal(name_in(who, countof(who), 0), "cc1plus \xe2\x80\xa6 lexer.cc");
    assert_string_equal(name_in(who, countof(who), 1), "cc1plus \xe2\x80\xa6 -g parser.cc");
    assert_string_equal(name_in(who, countof(who), 2), "cc1plus \xe2\x80\xa6 -g main.cc");
    assert_string_equal(name_in(who, countof(who), 3), "make -j4 all");
    assert_string_equal(name_in(who, countof(who), 4), "as \xe2\x80\xa6 /tmp/ccD.o /tmp/ccA.s");
    assert_string_equal(name_in(who, countof(who), 6), "?");
}

/* If this fails, a process gets the name of a command that never ran, with the value of an option
 * elsewhere. */
static void
a_name_keeps_the_order_of_the_arguments(void **state)
{
    static const struct session_who who[] = {
        {"git", "git prune --expire 2.weeks.ago --no-progress", ""},
        {"git", "git repack --no-progress --expire never -d -l", ""},
        {"git", "git gc --auto", ""},
    };

    (void)state;
    assert_string_equal(name_in(who, countof(who), 0),
                        "git prune --expire 2.weeks.ago --no-progress");
    assert_string_equal(name_in(who, countof(who), 1), "git repack \xe2\x80\xa6 never -d -l");
    assert_string_equal(name_in(who, countof(who), 2), "git gc --auto");
}

/* If this fails, the workers of a server, whose arguments are equal, have equal names, or each
 * script has its name twice. */
static void
a_name_that_a_process_gave_itself_is_shown(void **state)
{
    static const struct session_who who[] = {
        {"postgres", "postgres -D /data", "postgres"},
        {"postgres", "postgres -D /data", "checkpointer"},
        {"postgres", "postgres -D /data", "walwriter"},
        {"bash", "/bin/bash ./build-everything.sh", "build-everythin"},
        {"python3.11", "", "python3"},
    };

    (void)state;
    assert_string_equal(name_in(who, countof(who), 0), "postgres -D /data");
    assert_string_equal(name_in(who, countof(who), 1), "postgres [checkpointer] -D /data");
    assert_string_equal(name_in(who, countof(who), 2), "postgres [walwriter] -D /data");
    assert_string_equal(name_in(who, countof(who), 3), "bash ./build-everything.sh");
    assert_string_equal(name_in(who, countof(who), 4), "python3.11");
}

/* If this fails, long directories push the distinguishing file name off the line. */
static void
a_long_name_loses_its_directories(void **state)
{
    (void)state;
    assert_string_equal(session_name_fit(&arena, "cc1plus src/a.cc", 16), "cc1plus src/a.cc");
    assert_string_equal(session_name_fit(&arena, "cc1plus src/a.cc", 15), "cc1plus a.cc");
    assert_string_equal(session_name_fit(&arena, "ls /", 1), "ls /");
}

/* Write P to PATH as a packed file. */
static void
write_file(const struct profile *p, const char *path)
{
    struct strbuf file = {0};
    struct err err = {""};

    if (write_model(p, &file, &err) != 0 || write_save(&file, path, NULL, &err) != 0)
        fail_msg("%s", err.text);
    strbuf_release(&file);
}

static struct profile *
session_read_file(const char *path)
{
    struct profile *p;
    struct err err = {""};

    if (profile_open(path, &p, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(p->note_count, 0); // The file is undamaged.
    return p;
}

static const struct profile_note unseen = {.kind = NOTE_UNSEEN,
                                           .text = "about 40 MiB did not come through malloc",
                                           .advice = "build it\nor else",
                                           .process = "",
                                           .anonymous_bytes = 50 << 20,
                                           .recorded_bytes = 10 << 20};
static const struct profile_note hook = {
    .kind = NOTE_HOOK, .text = "--hook take: never called", .advice = "", .process = ""};

/* Write a file called NAME of process PID with NOTE; return its name. */
static const char *
noted_file(const char *name, const struct profile_note *note, uint32_t pid)
{
    struct profile *p = build_profile_new(), *sum;
    struct merge *m = merge_new();
    struct err err = {""};

    build_site(p, build_counters(1, 10, 0, 0), "f@a.c:1", NULL);
    build_thread_site(p, build_thread(p, "main"), 0, p->sites[0].counters);
    merge_add(m, p);
    // Make the sum look like one ordinary process, since only a sum can be written.
    sum = merge_finish(m);
    sum->merged_processes = 0;
    sum->program_count = 0;
    sum->process.pid = pid;
    unlink(name);
    write_file(sum, name);
    merge_free(m);
    profile_free(p);
    assert_int_equal(append_notes(name, note, 1, &err), 0);
    return name;
}

/* If this fails, the warnings of `heaptap run`, or the rest of the profile, are gone when the
 * profile is read a week later. */
static void
notes_are_appended_and_stay(void **state)
{
    const char *path = noted_file("noted.heaptap", &unseen, 12);
    struct profile *p;
    struct err err = {""};

    (void)state;
    assert_int_equal(append_notes(path, &hook, 1, &err), 0);
    p = session_read_file(path);
    assert_int_equal(pack_write(path, p, "packed.heaptap", &err), 0);
    profile_free(p);
    p = session_read_file("packed.heaptap");
    assert_int_equal(p->totals.allocations, 1);
    assert_string_equal(profile_string(p, p->frames[0].function), "f");
    assert_int_equal(p->run_note_count, 2);
    assert_int_equal(p->run_notes[0].kind, NOTE_UNSEEN);
    assert_string_equal(p->run_notes[0].text, unseen.text);
    assert_string_equal(p->run_notes[0].advice, unseen.advice);
    assert_int_equal(p->run_notes[0].anonymous_bytes, unseen.anonymous_bytes);
    assert_int_equal(p->run_notes[0].recorded_bytes, unseen.recorded_bytes);
    assert_string_equal(p->run_notes[1].text, hook.text);
    assert_string_equal(note_kind_name(&p->run_notes[1]), "hook-never-called");
    profile_free(p);
    unlink(path);
    unlink("packed.heaptap");
}

/* If this fails, a note damages a file that is not a profile, or a profile without room for the
 * note. */
static void
a_note_does_not_go_where_it_has_no_place(void **state)
{
    struct err err = {""};
    FILE *f = fopen("text.heaptap", "we");

    (void)state;
    fputs("not a profile", f);
    fclose(f);
    assert_int_equal(append_notes("text.heaptap", &unseen, 1, &err), HEAPTAP_BAD_INPUT);
    assert_int_equal(append_notes("nowhere.heaptap", &unseen, 1, &err), HEAPTAP_BAD_INPUT);
    unlink("text.heaptap");
}

/* If this fails, the sum of a build hides losses of recording, or repeats the same note five
 * hundred times. */
static void
a_sum_has_like_notes_once_with_the_largest(void **state)
{
    struct profile_note larger = unseen;
    struct merge *m = merge_new();
    struct profile *p[3];
    const struct profile *sum;

    (void)state;
    larger.text = "about 90 MiB did not come through malloc";
    larger.anonymous_bytes = 100 << 20;
    p[0] = session_read_file(noted_file("a.heaptap", &unseen, 12));
    p[1] = session_read_file(noted_file("b.heaptap", &larger, 13));
    p[2] = session_read_file(noted_file("c.heaptap", &hook, 14));
    for (size_t i = 0; i < countof(p); i++)
        merge_add(m, p[i]);
    sum = merge_finish(m);
    assert_int_equal(sum->run_note_count, 2);
    assert_int_equal(sum->run_notes[0].processes, 2);
    assert_string_equal(note_sentence(&arena, &sum->run_notes[0]),
                        "prog (pid 13) (and 1 more like it): about 90 MiB did not come through "
                        "malloc");
    assert_string_equal(sum->run_notes[1].process, "prog (pid 14)");
    write_file(sum, "sum.heaptap");
    merge_free(m);
    for (size_t i = 0; i < countof(p); i++)
        profile_free(p[i]);
    p[0] = session_read_file("sum.heaptap");
    assert_int_equal(p[0]->run_note_count, 2);
    assert_int_equal(p[0]->run_notes[0].processes, 2);
    profile_free(p[0]);
    for (const char *const *name = (const char *const[]){"a.heaptap", "b.heaptap", "c.heaptap",
                                                         "sum.heaptap", NULL};
         *name != NULL; name++)
        unlink(*name);
}

/* If this fails, the remedy in a note is cut off at the edge of the terminal. */
static void
notes_are_shown_whole(void **state)
{
    struct style narrow = {.width = 30};
    struct profile *p = session_read_file(noted_file("noted.heaptap", &unseen, 12));
    struct strbuf out = {0};
    struct text_view v = {.base = {.p = p, .arena = &arena}, .style = narrow, .out = &out};

    (void)state;
    text_notes(&v);
    assert_string_equal(strbuf_text(&out), "\n"
                                           "  Note: about 40 MiB did not\n"
                                           "    come through malloc\n"
                                           "    build it\n"
                                           "    or else\n");
    strbuf_release(&out);
    profile_free(p);
    unlink("noted.heaptap");
}

/* If this fails, a script cannot distinguish a complete profile from an incomplete one, whose
 * process also got memory from elsewhere. */
static void
notes_are_objects_in_json(void **state)
{
    struct profile *p = session_read_file(noted_file("noted.heaptap", &unseen, 12));
    const char *damage = "segment 3: damaged";
    struct strbuf out = {0};
    struct json j;

    (void)state;
    p->damage = "is damaged";
    p->notes = &damage;
    p->note_count = 1;
    json_begin(&j, &out, 2);
    json_object(&j, NULL);
    json_notes(&j, p);
    json_end(&j);
    assert_string_equal(strbuf_text(&out),
                        "{\n"
                        "  \"notes\": [\n"
                        "    {\n"
                        "      \"kind\": \"memory-not-through-malloc\",\n"
                        "      \"text\": \"about 40 MiB did not come through malloc\",\n"
                        "      \"advice\": \"build it\\u000aor else\",\n"
                        "      \"anonymous_bytes\": 52428800,\n"
                        "      \"recorded_bytes\": 10485760\n"
                        "    },\n"
                        "    {\n"
                        "      \"kind\": \"damaged-file\",\n"
                        "      \"text\": \"segment 3: damaged\",\n"
                        "      \"advice\": null\n"
                        "    }\n"
                        "  ]\n"
                        "}\n");
    strbuf_release(&out);
    profile_free(p);
    unlink("noted.heaptap");
}

static struct run_process
process(uint32_t pid, uint64_t start_unix_ns, const char *executable, int64_t allocated_bytes)
{
    return (struct run_process){.pid = pid,
                                .start_unix_ns = start_unix_ns,
                                .executable = executable,
                                .totals = build_counters(1, allocated_bytes, 0, 0)};
}

/* If this fails, the profile that a user named, or that a CI gate reads, describes the shell that
 * started the program, or a helper, instead of the program. */
static void
a_run_is_about_what_the_program_became_or_who_did_the_work(void **state)
{
    struct run_process v[] = {
        process(10, 1, "/bin/bash", 80 << 10),
        process(11, 2, "/opt/prog", 100 << 10),
        process(12, 3, "/bin/ls", 70 << 10),
    };
    size_t head = 9;

    (void)state;
    assert_int_equal(run_process_head(v, 0, 10, &head), HEAD_NONE);
    assert_int_equal(run_process_head(v, 1, 10, &head), HEAD_FIRST);
    assert_int_equal(head, 0);
    // The shell allocated less than the program.
    assert_int_equal(run_process_head(v, 3, 10, &head), HEAD_MOST);
    assert_int_equal(head, 1);
    v[0].executable = "/usr/bin/make"; // The user asked for another program.
    assert_int_equal(run_process_head(v, 3, 10, &head), HEAD_FIRST);
    assert_int_equal(head, 0);
    v[1].totals.allocated_bytes = 1601 << 10; // That program did next to nothing.
    assert_int_equal(run_process_head(v, 3, 10, &head), HEAD_MOST);
    assert_int_equal(head, 1);
    v[1].running = true; // The other process is still running.
    assert_int_equal(run_process_head(v, 3, 10, &head), HEAD_FIRST);
    v[1] = process(10, 2, "/opt/prog", 1 << 10); // The first process became this program by exec.
    assert_int_equal(run_process_head(v, 3, 10, &head), HEAD_BECAME);
    assert_int_equal(head, 1);
    // --only excludes the first process.
    assert_int_equal(run_process_head(v, 3, 99, &head), HEAD_MOST);
    assert_int_equal(head, 0);
}

/* If this fails, a server's profile describes an arbitrary worker instead of the one that grew. */
static void
of_workers_that_did_the_same_the_one_that_grew_counts(void **state)
{
    struct run_process v[] = {
        process(10, 1, "/opt/server", 1 << 10),  process(11, 2, "/opt/server", 100 << 10),
        process(12, 3, "/opt/server", 96 << 10), process(13, 4, "/opt/server", 80 << 10),
    };
    size_t head = 9;

    (void)state;
    v[1].totals.peak_bytes = 10;
    v[2].totals.peak_bytes = 20; // This one did about as much, and grew.
    v[3].totals.peak_bytes = 30; // This one did less.
    assert_int_equal(run_process_head(v, 4, 10, &head), HEAD_MOST);
    assert_int_equal(head, 2);
    v[2].running = true;
    assert_int_equal(run_process_head(v, 4, 10, &head), HEAD_MOST);
    assert_int_equal(head, 1);
    // A shell is never chosen, however much it allocates.
    v[0] = process(10, 1, "/bin/sh", 99 << 10);
    v[0].totals.peak_bytes = 40;
    assert_int_equal(run_process_head(v, 4, 10, &head), HEAD_MOST);
    assert_int_equal(head, 1);
}

static int
session_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_is_told_with_its_causes),
        cmocka_unit_test(a_session_adds_up_the_causes_of_its_losses),
        cmocka_unit_test(processes_of_a_program_are_told_apart_by_what_differs),
        cmocka_unit_test(a_name_keeps_the_order_of_the_arguments),
        cmocka_unit_test(a_name_that_a_process_gave_itself_is_shown),
        cmocka_unit_test(a_long_name_loses_its_directories),
        cmocka_unit_test(notes_are_appended_and_stay),
        cmocka_unit_test(a_note_does_not_go_where_it_has_no_place),
        cmocka_unit_test(a_sum_has_like_notes_once_with_the_largest),
        cmocka_unit_test(notes_are_shown_whole),
        cmocka_unit_test(notes_are_objects_in_json),
        cmocka_unit_test(a_run_is_about_what_the_program_became_or_who_did_the_work),
        cmocka_unit_test(of_workers_that_did_the_same_the_one_that_grew_counts),
    };

    return cmocka_run_group_tests(tests, NULL, session_release);
}
