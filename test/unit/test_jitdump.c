/* test_jitdump.c: the file that JIT compilers write for perf. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/perfmap.h"
#include "util/bytes.h"

enum { PID = 4711, X86_64 = 62, AARCH64 = 183 };

static void
put_head(struct strbuf *out, uint32_t pid, uint32_t machine)
{
    const uint32_t words[] = {0x4a695444, 1, 40, machine, 0, pid};

    for (size_t i = 0; i < countof(words); i++)
        put32(out, words[i]);
    put64(out, 1);
    put64(out, 0);
}

static void
put_load(struct strbuf *out, uint64_t address, uint64_t size, uint64_t number, const char *name)
{
    put32(out, 0);
    put32(out, (uint32_t)(56 + strlen(name) + 1 + 4));
    put64(out, 1);
    put32(out, PID);
    put32(out, PID);
    put64(out, address);
    put64(out, address);
    put64(out, size);
    put64(out, number);
    strbuf_add(out, name, strlen(name) + 1);
    put32(out, 0x90909090);
}

static void
put_move(struct strbuf *out, uint64_t from, uint64_t to, uint64_t size, uint64_t number)
{
    put32(out, 1);
    put32(out, 64);
    put64(out, 2);
    put32(out, PID);
    put32(out, PID);
    put64(out, to);
    put64(out, from);
    put64(out, to);
    put64(out, size);
    put64(out, number);
}

static bool
test_jitdump_parse(struct perfmap *m, const struct strbuf *s, size_t size)
{
    return jitdump_parse(m, (const uint8_t *)s->text, size, PID);
}

static void
is_named(const struct perfmap *m, uint64_t address, const char *name)
{
    const char *found = perfmap_name(m, address);

    assert_string_equal(found != NULL ? found : "", name);
}

/* If this fails, functions that node compiled have no names, or the names of their neighbours. */
static void
a_function_has_its_name_from_first_to_last_byte(void **state)
{
    struct perfmap m = {0};
    struct strbuf s = {0};

    (void)state;
    put_head(&s, PID, X86_64);
    put_load(&s, 0x1000, 0x40, 1, "JS:*fill a.js:3");
    put_load(&s, 0x1040, 0x20, 2, "JS:~main a.js:9");
    assert_true(test_jitdump_parse(&m, &s, s.length));
    is_named(&m, 0xfff, "");
    is_named(&m, 0x1000, "JS:*fill a.js:3");
    is_named(&m, 0x103f, "JS:*fill a.js:3");
    is_named(&m, 0x1040, "JS:~main a.js:9");
    is_named(&m, 0x1060, "");
    perfmap_release(&m);
    strbuf_release(&s);
}

/* If this fails, code that was moved or replaced has the name of its predecessor. */
static void
what_was_moved_or_replaced_has_the_later_name(void **state)
{
    struct perfmap m = {0};
    struct strbuf s = {0};

    (void)state;
    put_head(&s, PID, X86_64);
    put_load(&s, 0x1000, 0x40, 1, "fill");
    put_load(&s, 0x2000, 0x40, 2, "main");
    put_move(&s, 0x1000, 0x2000, 0x40, 1);
    put_load(&s, 0x1000, 0x40, 3, "newer");
    put_move(&s, 0x9000, 0x9100, 0x40, 99); // No code is at 0x9000.
    assert_true(test_jitdump_parse(&m, &s, s.length));
    is_named(&m, 0x2010, "fill");
    is_named(&m, 0x1010, "newer");
    is_named(&m, 0x9110, "");
    perfmap_release(&m);
    strbuf_release(&s);
}

/* If this fails, a process that was killed loses all names, or its file is read past the end. */
static void
a_file_that_is_cut_anywhere_gives_what_is_whole(void **state)
{
    struct strbuf s = {0};
    size_t first_bytes;

    (void)state;
    put_head(&s, PID, X86_64);
    put_load(&s, 0x1000, 0x40, 1, "fill");
    first_bytes = s.length;
    put_load(&s, 0x2000, 0x40, 2, "main");
    for (size_t size = 0; size <= s.length; size++) {
        struct perfmap m = {0};

        assert_int_equal(test_jitdump_parse(&m, &s, size), size >= 40);
        is_named(&m, 0x1010, size >= first_bytes ? "fill" : "");
        is_named(&m, 0x2010, size == s.length ? "main" : "");
        perfmap_release(&m);
    }
    strbuf_release(&s);
}

/* If this fails, a stack has the names of another process, which had the same id before. */
static void
a_file_of_another_process_or_machine_is_refused(void **state)
{
    static const struct {
        uint32_t pid, machine;
    } heads[] = {{PID + 1, X86_64}, {PID, AARCH64}};

    (void)state;
    for (size_t i = 0; i < countof(heads); i++) {
        struct perfmap m = {0};
        struct strbuf s = {0};

        put_head(&s, heads[i].pid, heads[i].machine);
        put_load(&s, 0x1000, 0x40, 1, "fill");
        assert_false(test_jitdump_parse(&m, &s, s.length));
        is_named(&m, 0x1010, "");
        perfmap_release(&m);
        strbuf_release(&s);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_has_its_name_from_first_to_last_byte),
        cmocka_unit_test(what_was_moved_or_replaced_has_the_later_name),
        cmocka_unit_test(a_file_that_is_cut_anywhere_gives_what_is_whole),
        cmocka_unit_test(a_file_of_another_process_or_machine_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
