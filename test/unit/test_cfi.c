/* test_cfi.c: valid unwind tables, and invalid ones that are truncated, damaged, or have encodings
 * that no compiler writes. If it fails, a library with odd tables makes the recorder read out of
 * bounds or produce wrong stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "fake_stack.h"
#include "unwind/cfi.h"
#include "unwind/unwind.h"

/* Image of an object with one function. It ends at the end of a page, and the next page is
 * unreadable.
 *
 *       0  header: version, encodings, -> .eh_frame, one table entry {code, FDE}
 *      24  CIE
 *      48  FDE with the program under test
 *          terminator */
enum {
    HEADER_VERSION = 0,
    HEADER_FRAME_ENCODING = 1,
    HEADER_TABLE_ENCODING = 3,
    HEADER_COUNT = 8,
    HEADER_CODE = 12,
    HEADER_FDE = 16,
    CIE = 24,
    CIE_ID = 28,
    CIE_VERSION = 32,
    CIE_AUGMENTATION = 33,
    CIE_RETURN_COLUMN = 38,
    CIE_ENCODING = 40,
    FDE = 48,
    FDE_CIE = 52,
    FDE_BEGIN = 56,
    FDE_SIZE = 60,
    FDE_PROGRAM = 65,
    CODE = 0x1000,
    CODE_SIZE = 0x100,
    IMAGE_MAX = 1024,
};

struct image {
    uint8_t bytes[IMAGE_MAX];
    size_t size;
};

static void
cfi_put32(struct image *im, size_t offset, uint32_t value)
{
    memcpy(im->bytes + offset, &value, 4);
}

static void
build_image(struct image *im, const uint8_t *program, size_t size)
{
    static const uint8_t header[] = {1, 0x1b, 3, 0x3b};
    static const uint8_t cie[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0};

    memset(im, 0, sizeof *im);
    memcpy(im->bytes, header, sizeof header);
    cfi_put32(im, 4, CIE - 4);
    cfi_put32(im, HEADER_COUNT, 1);
    cfi_put32(im, HEADER_CODE, CODE);
    cfi_put32(im, HEADER_FDE, FDE);
    cfi_put32(im, CIE, FDE - CIE - 4);
    memcpy(im->bytes + CIE_VERSION, cie, sizeof cie);
    cfi_put32(im, FDE, (uint32_t)(FDE_PROGRAM + size - FDE - 4));
    cfi_put32(im, FDE_CIE, FDE_CIE - CIE);
    cfi_put32(im, FDE_BEGIN, CODE - FDE_BEGIN);
    cfi_put32(im, FDE_SIZE, CODE_SIZE);
    memcpy(im->bytes + FDE_PROGRAM, program, size);
    im->size = FDE_PROGRAM + size + 4;
}

/* At offset 1, the CFA becomes rsp + 16, and rbp is saved at CFA - 16. */
static const uint8_t ordinary_program[] = {0x41, 0x0e, 16, 0x86, 2};

/* Return two pages; the second is unreadable. */
static uint8_t *
guarded_page(void)
{
    static uint8_t *page;

    if (!page) {
        page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(page, MAP_FAILED);
        assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
    }
    return page;
}

static struct unwind_rule
compile_image(const struct image *im, uint64_t code_offset)
{
    uint8_t *start = guarded_page() + 4096 - im->size;
    struct unwind_object object = {
        .start = address_of(start),
        .end = address_of(start) + im->size,
        .eh_frame_hdr = start,
    };

    memcpy(start, im->bytes, im->size);
    return unwind_compile(object.start + CODE + code_offset, &object);
}

static void
assert_ordinary(const struct image *im)
{
    struct unwind_rule rule = compile_image(im, 1);

    assert_int_equal(rule.kind, RULE_RSP);
    assert_int_equal(rule.cfa_offset, 16);
    assert_int_equal(rule.rbp_words, -2);
}

/* If this fails, the first or last byte of a function gets no rule or a neighbour's. Also, the
 * damage tests below prove nothing, because they begin with this table. */
static void
a_sound_table_gives_its_rules(void **state)
{
    struct image im;

    (void)state;
    build_image(&im, ordinary_program, sizeof ordinary_program);
    assert_ordinary(&im);
    assert_int_equal(compile_image(&im, 0).cfa_offset, 8);
    assert_int_equal(compile_image(&im, CODE_SIZE - 1).cfa_offset, 16);
    assert_int_equal(compile_image(&im, CODE_SIZE).kind, RULE_NO_TABLE);
    assert_int_equal(compile_image(&im, (uint64_t)-1).kind, RULE_NO_TABLE);
}

/* If this fails, a truncated table is read beyond its mapping, which is a SIGSEGV in the profiled
 * program, or the remaining bytes become a wrong rule. */
static void
a_truncated_table_gives_no_rule(void **state)
{
    struct image im;

    (void)state;
    build_image(&im, ordinary_program, sizeof ordinary_program);
    for (im.size -= 5; im.size > 0; im.size--) {
        struct unwind_rule rule = compile_image(&im, 1);

        assert_true(rule.kind == RULE_FULL || rule.kind == RULE_NO_TABLE);
    }
}

/* If this fails, one wrong byte in a library's tables makes the recorder read beyond their end,
 * which the guard page shows, or loop forever in the profiled program. */
static void
any_damaged_byte_is_survived(void **state)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct image im;

    (void)state;
    for (size_t at = 0; at < FDE_PROGRAM + sizeof ordinary_program + 4; at++) {
        for (size_t v = 0; v < countof(values); v++) {
            struct unwind_rule rule;

            build_image(&im, ordinary_program, sizeof ordinary_program);
            im.bytes[at] = values[v];
            rule = compile_image(&im, 1);
            assert_in_range(rule.kind, RULE_RSP, RULE_NO_TABLE);
        }
    }
}

/* If this fails, an impossible version, encoding or length is turned into a rule that looks sound,
 * and stacks through that library are wrong. */
static void
each_fault_of_a_table_refuses_the_rule(void **state)
{
    static const struct {
        size_t offset;
        uint32_t value;
        uint8_t size;
        uint8_t kind;
    } faults[] = {
        {HEADER_VERSION, 2, 1, RULE_NO_TABLE},
        {HEADER_FRAME_ENCODING, 0x0d, 1, RULE_NO_TABLE},
        {HEADER_FRAME_ENCODING, 0xff, 1, RULE_NO_TABLE},
        {HEADER_FDE, 0x7fffffff, 4, RULE_FULL},
        {HEADER_FDE, 0x80000000, 4, RULE_FULL},
        {HEADER_FDE, CIE, 4, RULE_FULL},
        {CIE, 0x7fffffff, 4, RULE_FULL},
        {CIE, 0xffffffff, 4, RULE_FULL},
        {CIE, 3, 4, RULE_FULL},
        {CIE_ID, 1, 4, RULE_FULL},
        {CIE_VERSION, 2, 1, RULE_FULL},
        {CIE_AUGMENTATION, 'e', 1, RULE_FULL},
        {CIE_AUGMENTATION + 1, '?', 1, RULE_FULL},
        {CIE_RETURN_COLUMN, 17, 1, RULE_FULL},
        {CIE_ENCODING, 0x9b, 1, RULE_FULL},
        {CIE_ENCODING, 0x2b, 1, RULE_FULL},
        {FDE, 0x7fffffff, 4, RULE_FULL},
        {FDE, 11, 4, RULE_FULL},
        {FDE_CIE, 0x7fffffff, 4, RULE_FULL},
        {FDE_CIE, 0xffffff00, 4, RULE_FULL},
        {FDE_BEGIN, 0x100000, 4, RULE_NO_TABLE},
        {FDE_SIZE, 1, 4, RULE_NO_TABLE},
    };
    struct image im;

    (void)state;
    for (size_t i = 0; i < countof(faults); i++) {
        build_image(&im, ordinary_program, sizeof ordinary_program);
        memcpy(im.bytes + faults[i].offset, &faults[i].value, faults[i].size);
        if (compile_image(&im, 1).kind != faults[i].kind)
            fail_msg("fault %zu does not give kind %u", i, faults[i].kind);
    }
}

/* If this fails, stacks break off in libraries whose linker wrote no search table, or an unusual
 * one. */
static void
a_table_without_an_index_is_scanned(void **state)
{
    struct image im;

    (void)state;
    build_image(&im, ordinary_program, sizeof ordinary_program);
    im.bytes[HEADER_TABLE_ENCODING] = 0xff;
    assert_ordinary(&im);
    assert_int_equal(compile_image(&im, CODE_SIZE).kind, RULE_NO_TABLE);
    im.bytes[HEADER_TABLE_ENCODING] = 0x3c;
    cfi_put32(&im, HEADER_CODE, 0x7fffffff); // Meaningless in this encoding.
    assert_ordinary(&im);
    im.bytes[HEADER_TABLE_ENCODING] = 0x3b;
    cfi_put32(&im, HEADER_CODE, CODE);
    cfi_put32(&im, HEADER_COUNT, 0x20000000);
    assert_ordinary(&im);
    cfi_put32(&im, HEADER_COUNT, 0);
    assert_ordinary(&im);
    cfi_put32(&im, CIE, 0);
    assert_int_equal(compile_image(&im, 1).kind, RULE_NO_TABLE);
}

/* Like build_image, with AUGMENTATION and its DATA. The FDE has two code fields of FIELD bytes
 * each. Return the offset of the first one, which is still 0. */
static size_t
build_encoded(struct image *im, const char *augmentation, const uint8_t *data, size_t data_size,
              size_t field)
{
    static const uint64_t code_size = CODE_SIZE;
    size_t at = CIE_AUGMENTATION, fde;
    static const uint8_t initial[] = {0x0c, 7, 8, 0x90, 1};

    build_image(im, ordinary_program, sizeof ordinary_program);
    memset(im->bytes + CIE_VERSION, 0, IMAGE_MAX - CIE_VERSION);
    im->bytes[CIE_VERSION] = 1;
    memcpy(im->bytes + at, augmentation, strlen(augmentation));
    at += strlen(augmentation) + 1;
    im->bytes[at++] = 1;
    im->bytes[at++] = 0x78;
    im->bytes[at++] = UNWIND_PC;
    im->bytes[at++] = (uint8_t)data_size;
    memcpy(im->bytes + at, data, data_size);
    at += data_size;
    memcpy(im->bytes + at, initial, sizeof initial);
    fde = at + sizeof initial;
    cfi_put32(im, CIE, (uint32_t)(fde - CIE - 4));
    cfi_put32(im, HEADER_FDE, (uint32_t)fde);
    cfi_put32(im, fde + 4, (uint32_t)(fde + 4 - CIE));
    memcpy(im->bytes + fde + 8 + field, &code_size, field);
    at = fde + 8 + 2 * field + 1;
    memcpy(im->bytes + at, ordinary_program, sizeof ordinary_program);
    at += sizeof ordinary_program;
    cfi_put32(im, fde, (uint32_t)(at - fde - 4));
    im->size = at + 4;
    return fde + 8;
}

/* Check an image with augmentation "zPLR" and DATA, whose code addresses have FIELD bytes. */
static void
assert_encoded(const uint8_t *data, size_t data_size, size_t field, bool relative)
{
    struct image im;
    size_t at = build_encoded(&im, "zPLR", data, data_size, field);
    uint64_t start = address_of(guarded_page() + 4096 - im.size);
    uint64_t code = relative ? CODE - at : start + CODE;

    memcpy(im.bytes + at, &code, field);
    assert_ordinary(&im);
}

/* The augmentation data of a CIE gives the widths of its personality and of code addresses. If this
 * fails, the recorder misreads C++ functions, whose CIEs have such data, does not recognise signal
 * frames, or has no rules for position-dependent code. */
static void
records_of_cxx_functions_are_read(void **state)
{
    // Augmentation data of "zPLR": encoding and address of the personality, in several widths; then
    // the encodings of the LSDA and of code addresses.
    static const uint8_t pcrel4[] = {0x9b, 1, 2, 3, 4, 0x1b, 0x1b};
    static const uint8_t none[] = {0xff, 0x1b, 0x1b};
    static const uint8_t pcrel2[] = {0x1a, 1, 2, 0x1b, 0x1a};
    static const uint8_t sleb[] = {0x09, 0x80, 0x80, 1, 0xff, 0x1b};
    static const uint8_t absolute[] = {0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0x00, 0x00};
    static const uint8_t cut[] = {0x00, 1, 2, 3};
    struct image im;
    size_t at;

    (void)state;
    assert_encoded(pcrel4, sizeof pcrel4, 4, true);
    assert_encoded(none, sizeof none, 4, true);
    assert_encoded(pcrel2, sizeof pcrel2, 2, true);
    assert_encoded(sleb, sizeof sleb, 4, true);
    assert_encoded(absolute, sizeof absolute, 8, false);
    build_encoded(&im, "zPLR", cut, sizeof cut, 4);
    assert_int_equal(compile_image(&im, 1).kind, RULE_FULL);
    at = build_encoded(&im, "zSR", none + 1, 1, 4);
    cfi_put32(&im, at, (uint32_t)(CODE - at));
    assert_int_equal(compile_image(&im, 1).kind, RULE_FULL);
}

struct program_case {
    uint8_t size;
    uint8_t bytes[24];
    uint8_t kind;
    int32_t cfa_offset;
    int16_t rbp_words;
};

static void
run_programs(const struct program_case *cases, size_t count, uint64_t code_offset)
{
    struct image im;

    for (size_t i = 0; i < count; i++) {
        struct unwind_rule rule;

        build_image(&im, cases[i].bytes, cases[i].size);
        rule = compile_image(&im, code_offset);
        if (rule.kind != cases[i].kind || rule.cfa_offset != cases[i].cfa_offset ||
            rule.rbp_words != cases[i].rbp_words)
            fail_msg("program %zu: kind %u cfa %d rbp %d", i, rule.kind, rule.cfa_offset,
                     rule.rbp_words);
    }
}

/* If this fails, an instruction that compilers emit is misread, and every stack through such a
 * function is wrong. */
static void
each_instruction_means_what_dwarf_says(void **state)
{
    static const struct program_case cases[] = {
        {4, {0x02, 9, 0x0e, 16}, RULE_RSP, 16, 0},                     // advance_loc1
        {4, {0x02, 10, 0x0e, 16}, RULE_RSP, 8, 0},                     // Rule begins 1 byte later.
        {5, {0x03, 9, 0, 0x0e, 16}, RULE_RSP, 16, 0},                  // advance_loc2
        {7, {0x04, 10, 0, 0, 0, 0x0e, 16}, RULE_RSP, 8, 0},            // advance_loc4
        {3, {0x05, 6, 4}, RULE_RSP, 8, -4},                            // offset_extended
        {3, {0x11, 6, 0x7c}, RULE_RSP, 8, 4},                          // offset_extended_sf
        {3, {0x2f, 6, 4}, RULE_RSP, 8, 4},                             // negative_offset_extended
        {4, {0x86, 2, 0x06, 6}, RULE_RSP, 8, 0},                       // restore_extended
        {3, {0x90, 3, 0xd0}, RULE_RSP, 8, 0},                          // restore the CIE's rule
        {3, {0x86, 2, 0xc6}, RULE_RSP, 8, 0},                          // restore
        {4, {0x86, 2, 0x08, 6}, RULE_RSP, 8, 0},                       // same_value
        {4, {0x09, 3, 12, 0x00}, RULE_RSP, 8, 0},                      // register, nop
        {6, {0x0a, 0x0e, 32, 0x86, 3, 0x0b}, RULE_RSP, 8, 0},          // remember and restore state
        {4, {0x0c, 6, 0x80, 1}, RULE_RBP, 128, 0},                     // def_cfa
        {3, {0x12, 6, 0x7e}, RULE_RBP, 16, 0},                         // def_cfa_sf
        {2, {0x0d, 6}, RULE_RBP, 8, 0},                                // def_cfa_register
        {2, {0x13, 0x7d}, RULE_RSP, 24, 0},                            // def_cfa_offset_sf
        {4, {0x2e, 16, 0x0e, 24}, RULE_RSP, 24, 0},                    // GNU_args_size
        {3, {0x91, 1, 0x00}, RULE_RSP, 8, 0}, // A vector register: ignored.
        {5, {0x0e, 0x90, 0x80, 0x80, 0x00}, RULE_RSP, 16, 0},          // Padded number.
        {3, {0x07, 16, 0x00}, RULE_END, 0, 0},                         // undefined
        {3, {0x14, 6, 2}, RULE_FULL, 0, 0},                            // val_offset
        {3, {0x15, 7, 0x7e}, RULE_FULL, 0, 0},                         // val_offset_sf of rsp
        {9, {0x0f, 3, 0x76, 0x78, 6, 0x10, 6, 1, 0x76}, RULE_FULL, 0, 0}, // Cut in its operand.
        {9, {0x0f, 3, 0x76, 0x70, 6, 0x16, 6, 1, 0x56}, RULE_FULL, 0, 0}, // val_expression
        {9, {0x10, 6, 2, 0x76, 8, 0x0f, 3, 0x76, 0x70}, RULE_FULL, 0, 0}, // Ends early.
        {10, {0x10, 6, 2, 0x76, 8, 0x0f, 3, 0x76, 0x70, 6}, RULE_RBP_DEREF, -16, 1},
        {12, {0x10, 6, 2, 0x76, 8, 0x0f, 5, 0x76, 0x70, 6, 0x23, 8}, RULE_FULL, 0, 0},
        {12, {0x10, 6, 4, 0x76, 8, 0x23, 8, 0x0f, 3, 0x76, 0x70, 6}, RULE_FULL, 0, 0},
    };

    (void)state;
    run_programs(cases, countof(cases), 9);
}

enum { PLAIN_KINDS = 5, PLAIN_COUNT = 48, SPELLED_MAX = 6 };

/* Append instruction WHICH with operand VALUE to OUT, in the form that compilers write or in a
 * LONGER equivalent one. Return the number of bytes. */
static size_t
spell(uint8_t *out, unsigned which, uint8_t value, bool longer)
{
    const uint8_t short_way[PLAIN_KINDS][SPELLED_MAX] = {
        {1, 0x40 | (value >> 5 ? value & 7 : 0x20 | value)}, // advance_loc
        {2, 0x02, value & 15},                 // advance_loc1
        {2, 0x0e, value & 0x78},               // def_cfa_offset
        {3, 0x0e, 0x80 | (value & 0x78), 2},   // def_cfa_offset with a larger operand
        {2, 0x80 | 6, 2 + (value & 3)},        // offset of rbp
    };
    const uint8_t long_way[PLAIN_KINDS][SPELLED_MAX] = {
        {3, 0x03, value >> 5 ? value & 7 : 0x20 | value, 0},
        {5, 0x04, value & 15, 0, 0, 0},
        {5, 0x0e, 0x80 | (value & 0x78), 0x80, 0x80, 0},
        {5, 0x0e, 0x80 | (value & 0x78), 0x82, 0x80, 0},
        {3, 0x05, 6, 2 + (value & 3)},
    };
    const uint8_t *way = longer ? long_way[which] : short_way[which];

    memcpy(out, way + 1, way[0]);
    return way[0];
}

/* Common instructions have a fast path. If this fails, the fast path compiles another rule than the
 * general path, and stacks are wrong or walked slowly. */
static void
both_ways_of_execution_agree(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < 500; round++) {
        uint8_t plain[PLAIN_COUNT * SPELLED_MAX], other[PLAIN_COUNT * SPELLED_MAX];
        size_t plain_size = 0, other_size = 0;
        struct image plain_image, other_image;

        for (int i = 0; i < 1 + round % PLAIN_COUNT; i++) {
            unsigned which;

            // Half of the programs are mostly pushes: an advance and a CFA offset in turn.
            seed = seed * 1664525 + 1013904223;
            which = round % 2 != 0 && seed >> 28 != 0 ? 2 * (unsigned)(i % 2)
                                                      : (seed >> 28) % PLAIN_KINDS;
            plain_size += spell(plain + plain_size, which, (uint8_t)(seed >> 16), false);
            other_size += spell(other + other_size, which, (uint8_t)(seed >> 16), true);
        }
        build_image(&plain_image, plain, plain_size);
        build_image(&other_image, other, other_size);
        for (uint64_t offset = 0; offset < CODE_SIZE; offset++) {
            struct unwind_rule a = compile_image(&plain_image, offset);
            struct unwind_rule b = compile_image(&other_image, offset);

            if (a.kind != b.kind || a.cfa_offset != b.cfa_offset || a.rbp_words != b.rbp_words)
                fail_msg("round %d at %u: kind %u, %u cfa %d, %d rbp %d, %d", round,
                         (unsigned)offset, a.kind, b.kind, a.cfa_offset, b.cfa_offset, a.rbp_words,
                         b.rbp_words);
        }
    }
}

/* If this fails, a program of instructions that no compiler writes yields a wrong rule, or keeps
 * the recorder busy forever inside the host's malloc. */
static void
impossible_programs_give_no_rule(void **state)
{
    static const struct program_case cases[] = {
        {1, {0x0b}, RULE_FULL, 0, 0},                                     // Nothing remembered.
        {5, {10, 10, 10, 10, 10}, RULE_FULL, 0, 0},                       // Too much remembered.
        {1, {0x3f}, RULE_FULL, 0, 0},                                     // Unknown instruction.
        {1, {0x0e}, RULE_FULL, 0, 0},                                     // Operand missing.
        {6, {0x0e, 0x80, 0x80, 0x80, 0x80, 0x08}, RULE_FULL, 0, 0},       // Offset 2^31.
        {6, {0x86, 0x80, 0x80, 0x80, 0x80, 0x08}, RULE_FULL, 0, 0},       // Slot at CFA - 2^34.
        {3, {0x0c, 17, 8}, RULE_FULL, 0, 0}, // CFA in a vector register.
        {7, {0x0f, 3, 0x76, 0x78, 6, 0x0d, 7}, RULE_FULL, 0, 0},          // Half a CFA.
        {4, {0x0f, 0x7f, 0x76, 0x78}, RULE_FULL, 0, 0}, // Expression past the end.
        {13,
         {0x0e, 0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0},
         RULE_FULL, 0, 0}, // Overlong number.
        {9, {0x01, 0, 0, 0, 0, 0, 0, 0, 0x80}, RULE_RSP, 8, 0}, // A location far ahead: stop.
    };

    (void)state;
    run_programs(cases, countof(cases), 9);
}

struct expression_case {
    uint8_t size;
    uint8_t bytes[16];
    bool ok;
    uint64_t value;
};

static void
run_expressions(const struct expression_case *cases, size_t count)
{
    static const uint64_t first = 77;
    enum { R10 = 10 };
    struct fake f;

    fake_init(&f, NULL);
    f.r.r[0] = 5;
    f.r.r[1] = slot(&f, 3);
    f.r.r[2] = f.bounds.high - 4;
    f.r.valid &= ~(1u << R10);
    for (size_t i = 0; i < count; i++) {
        struct cursor code = {.at = cases[i].bytes, .end = cases[i].bytes + cases[i].size};
        uint64_t value = 0;
        bool ok = expression_eval(code, &f.r, &f.bounds, &first, &value);

        if (ok != cases[i].ok || value != cases[i].value)
            fail_msg("expression %zu: %s %#lx", i, ok ? "value" : "refused", (unsigned long)value);
    }
}

/* If this fails, stacks end in code that DWARF describes by expressions: the PLT, the dynamic
 * linker's resolver and the frame of a signal. */
static void
each_operator_computes_what_dwarf_says(void **state)
{
    static const struct expression_case cases[] = {
        {0, {0}, true, 77},
        {1, {0x4f}, true, 31},                                       // lit31
        {2, {0x08, 0xff}, true, 255},                                // const1u
        {2, {0x09, 0xff}, true, UINT64_MAX},                         // const1s
        {3, {0x0a, 1, 0x80}, true, 0x8001},                          // const2u
        {3, {0x0b, 1, 0x80}, true, UINT64_MAX - 0x7ffe},             // const2s
        {5, {0x0c, 1, 0, 0, 0x80}, true, 0x80000001},                // const4u
        {5, {0x0d, 1, 0, 0, 0x80}, true, 0xffffffff80000001},        // const4s
        {9, {0x0e, 1, 2, 3, 4, 5, 6, 7, 8}, true, 0x0807060504030201}, // const8u
        {3, {0x10, 0x80, 1}, true, 128},                             // constu
        {2, {0x11, 0x7f}, true, UINT64_MAX},                         // consts
        {2, {0x12, 0x22}, true, 154},                                // dup, plus
        {2, {0x31, 0x13}, true, 77},                                 // lit1, drop
        {3, {0x31, 0x14, 0x1c}, true, (uint64_t)-76},                // lit1, over, minus
        {4, {0x31, 0x15, 1, 0x1e}, true, 77},                        // lit1, pick 1, mul
        {3, {0x31, 0x16, 0x1c}, true, (uint64_t)-76},                // lit1, swap, minus
        {6, {0x33, 0x34, 0x17, 0x1c, 0x1e, 0x00 + 0x96}, true, 296}, // 77 3 4 rot: 4 77 3; 74; 296
        {3, {0x09, 0xfb, 0x19}, true, 5},                            // abs
        {2, {0x47, 0x1a}, true, 77 & 23},                            // and
        {3, {0x09, 0xf9, 0x1b}, true, (uint64_t)-11},                // div, signed
        {2, {0x3a, 0x1d}, true, 7},                                  // mod
        {1, {0x1f}, true, (uint64_t)-77},                            // neg
        {1, {0x20}, true, ~UINT64_C(77)},                            // not
        {2, {0x42, 0x21}, true, 77 | 18},                            // or
        {3, {0x23, 0x80, 1}, true, 205},                             // plus_uconst
        {2, {0x34, 0x24}, true, 77 << 4},                            // shl
        {3, {0x08, 64, 0x24}, true, 0},                              // shl by too much
        {2, {0x33, 0x25}, true, 77 >> 3},                            // shr
        {4, {0x09, 0xf0, 0x32, 0x26}, true, (uint64_t)-4},           // shra
        {5, {0x09, 0xf0, 0x08, 200, 0x26}, true, UINT64_MAX},        // shra by too much
        {2, {0x41, 0x27}, true, 77 ^ 17},                            // xor
        {7, {0x31, 0x28, 1, 0, 0x1f, 0x35, 0x22}, true, 82},         // bra taken over neg
        {7, {0x30, 0x28, 1, 0, 0x1f, 0x35, 0x22}, true, (uint64_t)-72}, // not taken
        {5, {0x2f, 1, 0, 0x1f, 0x96}, true, 77},                     // skip, nop
        {3, {0x12, 0x29, 0x96}, true, 1},                            // eq
        {3, {0x09, 0xff, 0x2a}, true, 1},                            // 77 >= -1
        {2, {0x30, 0x2d}, true, 0},                                  // 77 < 0
        {2, {0x30, 0x2b}, true, 1},                                  // gt
        {2, {0x30, 0x2c}, true, 0},                                  // le
        {2, {0x30, 0x2e}, true, 1},                                  // ne
        {1, {0x50}, true, 5},                                        // reg0
        {2, {0x90, 0}, true, 5},                                     // regx
        {2, {0x70, 0x7e}, true, 3},                                  // breg0 - 2
        {3, {0x92, 0, 3}, true, 8},                                  // bregx
        {3, {0x71, 8, 0x06}, true, 1004},                            // breg1 + 8, deref
        {4, {0x71, 8, 0x94, 1}, true, 1004 & 255},                   // deref_size
    };

    (void)state;
    run_expressions(cases, countof(cases));
}

/* If this fails, an expression in a library's table reads arbitrary memory, overflows the
 * evaluation stack or never ends, in the profiled program. */
static void
impossible_expressions_are_refused(void **state)
{
    static const struct expression_case cases[] = {
        {1, {0x13}, false, 0},                   // Ends with an empty stack.
        {2, {0x13, 0x13}, false, 0},             // Pops from an empty stack.
        {1, {0x22}, false, 0},                   // One operand of two.
        {1, {0x17}, false, 0},
        {2, {0x15, 1}, false, 0},
        {2, {0x30, 0x1b}, false, 0},             // Division by zero.
        {2, {0x30, 0x1d}, false, 0},
        {1, {0x08}, false, 0},                   // Operand missing.
        {1, {0xff}, false, 0},                   // Unknown operator.
        {1, {0x9c}, false, 0},                   // call_frame_cfa would need its own result.
        {1, {0x06}, false, 0},                   // Reads address 77.
        {3, {0x72, 0, 0x06}, false, 0},          // Only half of the word is within bounds.
        {2, {0x94, 9}, false, 0},
        {2, {0x7a, 0}, false, 0},                // r10 is unknown.
        {2, {0x81, 0}, false, 0},                // r17 does not exist.
        {3, {0x2f, 1, 0}, false, 0},             // Branches outside.
        {3, {0x2f, 0xfd, 0xff}, false, 0},       // Endless.
        {4, {0x31, 0x2f, 0xfc, 0xff}, false, 0}, // Fills the stack.
    };

    // With the preceding byte, lit0, this program would end: dup, bra to that byte.
    static const uint8_t before[] = {0x30, 0x12, 0x28, 0xfb, 0xff};
    struct cursor code = {.at = before + 1, .end = before + sizeof before};
    struct unwind_bounds bounds = {0, 0, NULL};
    struct unwind_registers r = {.valid = 0};
    uint64_t first = 1, value;

    (void)state;
    run_expressions(cases, countof(cases));
    assert_false(expression_eval(code, &r, &bounds, &first, &value));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_table_gives_its_rules),
        cmocka_unit_test(a_truncated_table_gives_no_rule),
        cmocka_unit_test(any_damaged_byte_is_survived),
        cmocka_unit_test(each_fault_of_a_table_refuses_the_rule),
        cmocka_unit_test(a_table_without_an_index_is_scanned),
        cmocka_unit_test(records_of_cxx_functions_are_read),
        cmocka_unit_test(each_instruction_means_what_dwarf_says),
        cmocka_unit_test(both_ways_of_execution_agree),
        cmocka_unit_test(impossible_programs_give_no_rule),
        cmocka_unit_test(each_operator_computes_what_dwarf_says),
        cmocka_unit_test(impossible_expressions_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
