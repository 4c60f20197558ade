/* test_lisp.c: types of Lisp objects in mprof's classes, and names of compiled local functions. If
 * this fails, `bins --classes` has objects in a wrong row, or stacks show C names for Lisp
 * functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/totals.h"
#include "language/ecl_symbols.c"

/* --- Types ------------------------------------------------------------------------------------ */

static struct profile_heap
heap(const char *name, bool own, int64_t allocations, int64_t bytes)
{
    struct profile_heap h = {.name = name, .own = own};

    h.counters.allocations = allocations;
    h.counters.allocated_bytes = bytes;
    return h;
}

/* If this fails, a program's heap called "lisp cons" counts as Lisp's, or so does malloc. */
static void
only_own_heaps_of_lisp_have_a_type(void **state)
{
    struct profile_heap cons = heap("lisp cons", true, 0, 0), malloc = heap("malloc", true, 0, 0);
    struct profile_heap other = heap("lisp cons", false, 0, 0);
    enum lisp_class class = LISP_CLASSES;

    (void)state;
    assert_null(lisp_type(&malloc, &class));
    assert_null(lisp_type(&other, &class));
    assert_int_equal(class, LISP_CLASSES);
    assert_string_equal(lisp_type(&cons, &class), "cons");
    assert_int_equal(class, LISP_CONS);
}

/* If this fails, strings are not vectors, or an unknown type is in no class. */
static void
types_have_the_class_that_mprof_gave_them(void **state)
{
    static const struct {
        const char *name, *letter;
    } types[] = {
        {"lisp cons", "c"},      {"lisp double-float", "f"}, {"lisp complex-long-float", "f"},
        {"lisp structure", "s"}, {"lisp string", "s"},       {"lisp bit-vector", "s"},
        {"lisp bignum", "o"},    {"lisp of later", "o"},     {"lisp other", "o"}};

    (void)state;
    for (size_t i = 0; i < countof(types); i++) {
        struct profile_heap h = heap(types[i].name, true, 0, 0);
        enum lisp_class class;

        assert_non_null(lisp_type(&h, &class));
        assert_string_equal(lisp_class_letter(class), types[i].letter);
    }
}

/* If this fails, rows of a class do not add up to the class, or the largest type is not the
 * first. */
static void
rows_are_classes_and_then_their_types_by_bytes(void **state)
{
    struct profile_heap heaps[] = {heap("malloc", false, 9, 900), heap("lisp string", true, 2, 20),
                                   heap("lisp structure", true, 3, 90),
                                   heap("lisp cons", true, 5, 80),
                                   heap("lisp ratio", true, 0, 0)}; // Not in this part of the run.
    struct profile p = {.heaps = heaps, .heap_count = countof(heaps)};
    struct arena arena = {0};
    struct lisp_types t;

    (void)state;
    lisp_types_build(&p, &arena, &t);
    assert_int_equal(t.count, LISP_CLASSES + 3);
    assert_null(t.v[0].type);
    assert_int_equal(t.v[0].counters.allocations, 5);
    assert_string_equal(t.v[1].type, "cons");
    assert_int_equal(t.v[2].class, LISP_FLOAT);
    assert_int_equal(t.v[3].class, LISP_STRUCTURE);
    assert_int_equal(t.v[3].counters.allocated_bytes, 110);
    assert_string_equal(t.v[4].type, "structure");
    assert_string_equal(t.v[5].type, "string");
    assert_int_equal(t.total.allocations, 10);
    p.heap_count = 1;
    lisp_types_build(&p, &arena, &t);
    assert_int_equal(t.count, 0);
    // Without events in a part of the run, the classes are shown.
    p.heaps = &heaps[4];
    lisp_types_build(&p, &arena, &t);
    assert_int_equal(t.count, LISP_CLASSES);
    arena_release(&arena);
}

/* --- Names ------------------------------------------------------------------------------------ */

static char told[256];

static void
lisp_on_function(void *arg, uint64_t value, const char *name)
{
    (void)arg;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s@%d ", name, (int)value);
}

static void
lisp_on_part(void *arg, uint64_t value, uint64_t whole)
{
    (void)arg;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%d->%d ", (int)value, (int)whole);
}

enum { SYMBOLS = 6 };
static const char texts[] = "\0LC4make_tree\0LC2__lambda1\0L4walk\0L4walk.part.0\0LCx\0LC9end";

struct file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[2];
    Elf64_Sym symbols[SYMBOLS];
    char texts[sizeof texts];
};

static struct file
file_of_symbols(void)
{
    static const unsigned starts[SYMBOLS] = {1, 14, 27, 34, 48, 52};
    struct file f = {.header = {.e_shoff = offsetof(struct file, sections),
                                .e_shnum = 2,
                                .e_shentsize = sizeof(Elf64_Shdr)}};

    memcpy(f.header.e_ident, ELFMAG, SELFMAG);
    f.header.e_ident[EI_CLASS] = ELFCLASS64;
    f.sections[0] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                 .sh_link = 1,
                                 .sh_size = sizeof f.symbols,
                                 .sh_offset = offsetof(struct file, symbols)};
    f.sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                 .sh_size = sizeof texts - 1,
                                 .sh_offset = offsetof(struct file, texts)};
    for (unsigned i = 0; i < SYMBOLS; i++)
        f.symbols[i] = (Elf64_Sym){
            .st_name = starts[i], .st_value = i + 1, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC)};
    memcpy(f.texts, texts, sizeof texts);
    return f;
}

/* If this fails, local functions of compiled files have no names, or the C compiler's. */
static void
symbols_of_local_functions_become_names(void **state)
{
    struct file f = file_of_symbols();

    (void)state;
    told[0] = '\0';
    ecl_symbols_read(&f, sizeof f, lisp_on_function, lisp_on_part, NULL);
    // The last name extends to the end of the section.
    assert_string_equal(told, "MAKE-TREE@1 LAMBDA@2 4->3 END@6 ");
}

/* If this fails, the adapter reads beyond the end of a truncated file. */
static void
a_file_that_lacks_something_has_no_names(void **state)
{
    struct file f = file_of_symbols();

    (void)state;
    told[0] = '\0';
    ecl_symbols_read(&f, sizeof f.header - 1, lisp_on_function, lisp_on_part, NULL);
    ecl_symbols_read(&f, offsetof(struct file, symbols) - 1, lisp_on_function, lisp_on_part, NULL);
    ecl_symbols_read(&f, offsetof(struct file, texts), lisp_on_function, lisp_on_part, NULL);
    f.sections[0].sh_link = 2;
    ecl_symbols_read(&f, sizeof f, lisp_on_function, lisp_on_part, NULL);
    f = file_of_symbols();
    f.sections[1].sh_offset = UINT64_MAX;
    ecl_symbols_read(&f, sizeof f, lisp_on_function, lisp_on_part, NULL);
    f = file_of_symbols();
    f.header.e_shnum = 3;
    ecl_symbols_read(&f, offsetof(struct file, symbols), lisp_on_function, lisp_on_part, NULL);
    assert_string_equal(told, "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_own_heaps_of_lisp_have_a_type),
        cmocka_unit_test(types_have_the_class_that_mprof_gave_them),
        cmocka_unit_test(rows_are_classes_and_then_their_types_by_bytes),
        cmocka_unit_test(symbols_of_local_functions_become_names),
        cmocka_unit_test(a_file_that_lacks_something_has_no_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
