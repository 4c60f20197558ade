/* test_core.c: `heaptap core` on dumps built here. If this fails, it reads a dump wrongly: blocks
 * have wrong sizes, an address is explained by the wrong block, or memory that the dump lacks reads
 * as zeros. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "build_core.h"

#include "image/elf_core.h"
#include "image/examined.h"
#include "image/memory_profile.h"
#include "image/place.h"
#include "image/saved_registers.h"
#include "image/scan.h"
#include "load/load.h"

/* The dump of R and EXTRA, opened and read. */
struct opened {
    struct examined e;
    unsigned char *file;
};

static struct opened
open_recorded(struct build_recorded *r, struct build_core extra)
{
    struct opened o = {0};
    struct err err = {""};
    size_t size_bytes;

    o.file = build_recorded_finish(r, &extra, &size_bytes);
    assert_int_equal(elf_core_parse(o.file, size_bytes, "core", &o.e.memory, &err), 0);
    assert_int_equal(record_find(&o.e.memory, &o.e.record, &err), 0);
    blocks_read(&o.e.memory, &o.e.record, &o.e.arena, &o.e.blocks);
    return o;
}

static void
close_recorded(struct opened *o)
{
    // These bytes are not mapped from a file, so they must not be unmapped.
    o->e.memory.bytes = NULL;
    memory_close(&o->e.memory);
    arena_release(&o->e.arena);
    free(o->file);
}

/* Add a thread's note: zeros, the signal, the thread's id, and registers whose values are their
 * numbers plus 1. */
static void
put_thread(struct build_core *c, uint32_t head, uint32_t tid_off, uint32_t registers, uint32_t tid)
{
    struct strbuf b = {0};

    for (uint32_t i = 0; i < tid_off; i += 2)
        build_core_number(c, &b, i == 12 ? 11 : 0, 2); // The signal.
    build_core_number(c, &b, tid, 4);
    while (b.length < head)
        strbuf_char(&b, '\0');
    for (uint32_t i = 0; i < registers; i++)
        build_core_word(c, &b, i + 1);
    build_core_note(c, NT_PRSTATUS, b.text, b.length);
    strbuf_release(&b);
}

static void
put_files(struct build_core *c)
{
    struct strbuf b = {0};

    build_core_word(c, &b, 2);
    build_core_word(c, &b, 4096);
    build_core_word(c, &b, 0x20000);
    build_core_word(c, &b, 0x21000);
    build_core_word(c, &b, 3);
    build_core_word(c, &b, 0x10000);
    build_core_word(c, &b, 0x12000);
    build_core_word(c, &b, 0);
    strbuf_add(&b, "/lib/b.so\0/bin/a", sizeof "/lib/b.so\0/bin/a");
    build_core_note(c, NT_FILE, b.text, b.length);
    strbuf_release(&b);
}

static void
core_check_machine(uint32_t word_bytes, bool big_endian, uint32_t machine, uint32_t pc, uint32_t sp)
{
    bool wide = word_bytes == 8;
    struct build_core c = build_core_new(word_bytes, big_endian, machine);
    struct memory m;
    struct err err = {""};
    unsigned char *file;
    size_t size_bytes;
    uint64_t value;

    put_thread(&c, wide ? 112 : 72, wide ? 32 : 24, wide ? 34 : 18, 77);
    put_files(&c);
    build_core_memory(&c, 0x10000, 0x2000, PF_R, "\1\2\3\4\5\6\7\10", 8);
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes, "core", &m, &err), 0);
    assert_int_equal(m.thread_count, 1);
    assert_int_equal(m.threads[0].tid, 77);
    assert_int_equal(m.threads[0].pc, pc + 1);
    assert_int_equal(m.threads[0].sp, sp + 1);
    assert_int_equal(m.signal.number, 11);
    assert_int_equal(m.mapping_count, 2);
    assert_string_equal(m.mappings[0].path, "/bin/a");
    assert_string_equal(m.mappings[1].path, "/lib/b.so");
    assert_int_equal(m.mappings[1].file_off, 3 * 4096);
    assert_true(memory_word(&m, 0x10000, 4, &value));
    assert_int_equal(value, big_endian ? 0x01020304 : 0x04030201);
    m.bytes = NULL;
    memory_close(&m);
    free(file);
}

/* If this fails, dumps of other machines show no threads, or wrong ones. */
static void
threads_and_files_are_read_in_either_word_size_and_byte_order(void **unused)
{
    (void)unused;
    core_check_machine(8, false, EM_X86_64, 16, 19);
    core_check_machine(8, false, EM_AARCH64, 32, 31);
    core_check_machine(8, true, EM_AARCH64, 32, 31);
    core_check_machine(4, false, EM_386, 12, 15);
    core_check_machine(4, false, EM_ARM, 15, 13);
    core_check_machine(4, true, EM_ARM, 15, 13);
}

struct counted {
    uint64_t words, last_place, sum;
};

static void
count_word(void *arg, uint64_t place, uint64_t value)
{
    struct counted *c = arg;

    if (value == 0)
        return;
    c->words++;
    c->last_place = place;
    c->sum += value;
}

/* Count the words in vector registers of a dump with two notes: NT_FPREGSET of OLD_BYTES, whose
 * words are 7, then TYPE of SIZE_BYTES, whose words are 1. */
static struct counted
count_vectors(uint32_t machine, uint32_t type, size_t size_bytes, size_t old_bytes)
{
    uint32_t word_bytes = machine == EM_X86_64 || machine == EM_AARCH64 ? 8 : 4;
    struct build_core c = build_core_new(word_bytes, false, machine);
    struct counted counted = {0};
    struct err err = {""};
    struct strbuf b = {0};
    unsigned char *file;
    struct memory m;
    size_t file_bytes;

    put_thread(&c, word_bytes == 8 ? 112 : 72, word_bytes == 8 ? 32 : 24, 34, 77);
    for (size_t i = 0; i < old_bytes; i += word_bytes)
        build_core_word(&c, &b, 7);
    build_core_note(&c, NT_FPREGSET, b.text, b.length);
    b.length = 0;
    for (size_t i = 0; i < size_bytes; i += word_bytes)
        build_core_word(&c, &b, 1);
    build_core_note(&c, type, b.text, size_bytes);
    strbuf_release(&b);
    build_core_memory(&c, 0x10000, 0x2000, PF_R, "\1", 1);
    file = build_core_finish(&c, &file_bytes);
    assert_int_equal(elf_core_parse(file, file_bytes, "core", &m, &err), 0);
    assert_int_equal(m.thread_count, 1);
    // Without general registers, only vector registers are counted.
    m.threads[0].register_count = 0;
    saved_registers_scan(&m, &m.threads[0], count_word, &counted);
    m.bytes = NULL;
    memory_close(&m);
    free(file);
    return counted;
}

/* If this fails, blocks that only a vector register points to are called lost, or lost blocks are
 * called reached because of control words. */
static void
vector_registers_are_words_but_not_their_header(void **unused)
{
    struct arena arena = {0};
    struct memory m = {.machine = EM_X86_64};
    struct counted c = count_vectors(EM_X86_64, NT_X86_XSTATE, 832, 512);

    (void)unused;
    assert_int_equal(c.words, (416 - 32) / 8 + (832 - 576) / 8);
    assert_int_equal(c.sum, c.words);
    assert_string_equal(saved_registers_name(&m, c.last_place, &arena), "ymm15");
    // A larger area has more registers; a register that the area cuts off is not counted.
    assert_int_equal(count_vectors(EM_X86_64, NT_X86_XSTATE, 2695, 512).words, 48 + 264);
    // If the XSAVE area is missing or truncated, the older note is used.
    assert_int_equal(count_vectors(EM_X86_64, NT_X86_XSTATE, 504, 512).sum, 48 * 7);
    assert_int_equal(count_vectors(EM_X86_64, NT_FPREGSET, 504, 504).words, 0);
    assert_int_equal(count_vectors(EM_386, NT_PRXFPREG, 512, 108).sum, (416 - 32) / 4);
    assert_int_equal(count_vectors(EM_AARCH64, NT_FPREGSET, 528, 0).words, 64);
    assert_int_equal(count_vectors(EM_ARM, NT_ARM_VFP, 260, 116).sum, 64);
    arena_release(&arena);
}

/* If this fails, a dump truncated by a full disk shows blocks of size 0 and dangling pointers,
 * where it should say unknown. */
static void
what_a_dump_that_is_cut_short_lacks_is_not_read_as_zeros(void **unused)
{
    struct build_core c = build_core_new(8, false, EM_X86_64);
    unsigned char page[4096], buffer[64];
    struct err err = {""};
    struct memory m;
    unsigned char *file;
    size_t size_bytes;
    uint64_t value;

    (void)unused;
    memset(page, 7, sizeof page);
    build_core_memory(&c, 0x10000, 4096, PF_R | PF_W, page, sizeof page);
    build_core_memory(&c, 0x11000, 4096, PF_R | PF_W, page, sizeof page);
    build_core_memory(&c, 0x12000, 4096, PF_R | PF_X, NULL, 0);
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes - 4000, "core", &m, &err), 0);
    assert_int_equal(m.missing_bytes, 4000);
    assert_int_equal(memory_read(&m, 0x11000 - 8, buffer, sizeof buffer), 64);
    assert_int_equal(memory_read(&m, 0x11000 + 90, buffer, sizeof buffer), 6);
    assert_false(memory_word(&m, 0x11000 + 96, 8, &value));
    assert_false(memory_word(&m, 0x12000, 8, &value));
    assert_non_null(memory_region_at(&m, 0x12000));
    m.bytes = NULL;
    memory_close(&m);
    free(file);
}

/* If this fails, files that are not dumps are read as dumps, or refused without advice. */
static void
what_is_no_dump_is_refused_with_a_sentence(void **unused)
{
    struct build_core c = build_core_new(8, false, EM_X86_64);
    struct err err = {""};
    struct memory m;
    unsigned char *file;
    size_t size_bytes;

    (void)unused;
    assert_int_equal(elf_core_parse((const unsigned char *)"hello", 5, "x", &m, &err),
                     HEAPTAP_BAD_INPUT);
    assert_non_null(strstr(err.text, "no core dump"));
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes, "x", &m, &err), HEAPTAP_BAD_INPUT);
    assert_non_null(strstr(err.text, "truncated before any memory"));
    file[16] = ET_DYN;
    assert_int_equal(elf_core_parse(file, size_bytes, "x", &m, &err), HEAPTAP_BAD_INPUT);
    assert_non_null(strstr(err.text, "program or library"));
    free(file);
}

static void
expect_sizes(uint32_t version)
{
    struct build_recorded *r = malloc(sizeof *r);
    struct opened o;

    build_recorded_init(r);
    r->record.version = version;
    build_recorded_block(r, 16, 32, 20, 5);
    build_recorded_block(r, 48, 112, 100, 6);
    build_recorded_block(r, 160, 64, 56, 7);
    build_recorded_end(r, 160);
    r->side[2] = BUILD_HEAP + 512;             // A plain block
    r->side[3] = 1000 | UINT64_C(8) << 42;
    r->side[5] = BUILD_HEAP + 2048;            // a sample
    r->side[6] = 24 | UINT64_C(9) << 42;
    r->side[7] = (3 + 1) << 1 | 1;
    r->side[8] = (BUILD_HEAP + 16) | CORE_HOOKED_KEY; // a block of another allocator
    r->side[9] = 8 | UINT64_C(10) << 42;
    o = open_recorded(r, build_core_new(8, false, EM_X86_64));
    assert_int_equal(o.e.blocks.count, 5);
    assert_int_equal(o.e.blocks.v[0].address, BUILD_HEAP + 16);
    assert_int_equal(o.e.blocks.v[0].size_bytes, 20);
    assert_int_equal(o.e.blocks.v[0].site, 5);
    assert_int_equal(o.e.blocks.v[1].flags, BLOCK_HOOKED);
    assert_int_equal(o.e.blocks.v[1].size_bytes, 8);
    assert_int_equal(o.e.blocks.v[2].size_bytes, 100);
    assert_int_equal(o.e.blocks.v[3].size_bytes, 1000);
    assert_int_equal(o.e.blocks.v[3].site, 8);
    assert_int_equal(o.e.blocks.v[4].flags, BLOCK_SAMPLE | BLOCK_ROUNDED_UP);
    assert_int_equal(o.e.blocks.v[4].mode, 3);
    assert_int_equal(o.e.blocks.damaged, 0);
    close_recorded(&o);
    free(r);
}

/* If this fails, blocks of a dump have wrong sizes, or are missing. */
static void
blocks_have_the_size_that_was_requested(void **unused)
{
    (void)unused;
    expect_sizes(CORE_VERSION);
}

/* If this fails, dumps of earlier recorders are misread. */
static void
version_1_is_read(void **unused)
{
    (void)unused;
    expect_sizes(1);
}

/* If this fails, a program with more than 2^18 sites has blocks without sizes or sites. */
static void
blocks_of_high_sites_are_in_the_wide_ledger(void **unused)
{
    struct build_recorded *r = malloc(sizeof *r);
    struct build_core c = build_core_new(8, false, EM_X86_64);
    uint64_t span_bytes = UINT64_C(1) << CORE_SPAN_BITS, wide[3] = {0};
    struct ended_block ended;
    struct opened o;

    (void)unused;
    build_recorded_init(r);
    build_recorded_block(r, 16, 32, 20, 5);
    r->leaf[1] = (uint32_t)CORE_KIND_WIDE << CORE_KIND_SHIFT | 1u << CORE_PACKED_SUB_SHIFT;
    r->leaf[2] = (uint32_t)CORE_KIND_ENDED << CORE_KIND_SHIFT;
    wide[1] = UINT64_C(30) << 32 | 300000;
    wide[2] = UINT64_C(31) << 32 | 300001;
    r->leaves[1] = (struct core_leaf){(BUILD_HEAP & -span_bytes) + CORE_LEAF_WIDE, BUILD_WIDE};
    r->record.leaf_count = 2;
    build_core_memory(&c, BUILD_WIDE + BUILD_HEAP % span_bytes / 32 * 8, sizeof wide, PF_R | PF_W,
                      wide, sizeof wide);
    o = open_recorded(r, c);
    assert_int_equal(o.e.blocks.count, 2);
    assert_int_equal(o.e.blocks.v[1].address, BUILD_HEAP + 48);
    assert_int_equal(o.e.blocks.v[1].size_bytes, 30);
    assert_int_equal(o.e.blocks.v[1].site, 300000);
    assert_true(blocks_ended_before(&o.e.memory, &o.e.record, &o.e.blocks, BUILD_HEAP + 70, 64,
                                    &ended));
    assert_int_equal(ended.address, BUILD_HEAP + 64);
    assert_int_equal(ended.site, 300001);
    close_recorded(&o);
    free(r);
}

/* If this fails, one overflow makes a block of many gigabytes, and the sums are worthless. */
static void
a_size_word_that_was_written_over_is_damage_and_no_size(void **unused)
{
    struct build_recorded *r = malloc(sizeof *r);
    struct opened o;

    (void)unused;
    build_recorded_init(r);
    build_recorded_block(r, 16, 32, 20, 5);
    build_recorded_block(r, 48, 32, 20, 6);
    build_recorded_block(r, 80, 32, 20, 7);
    memset(r->heap + 40, 'A', 8);
    o = open_recorded(r, build_core_new(8, false, EM_X86_64));
    assert_int_equal(o.e.blocks.count, 3);
    assert_int_equal(o.e.blocks.damaged, 1);
    assert_int_equal(o.e.blocks.v[1].flags, BLOCK_CORRUPTED);
    assert_int_equal(o.e.blocks.v[1].size_bytes, 0);
    assert_int_equal(o.e.blocks.v[2].size_bytes, 20);
    close_recorded(&o);
    free(r);
}

/* If this fails, a copy of a record, such as one in a buffer of a program that reads dumps, is
 * taken for the process's own. */
static void
a_record_elsewhere_than_it_says_is_not_believed(void **unused)
{
    struct build_recorded *r = malloc(sizeof *r);
    struct build_core c = build_core_new(8, false, EM_X86_64);
    struct core_record found;
    struct err err = {""};
    struct memory m;
    unsigned char *file;
    size_t size_bytes;

    (void)unused;
    build_recorded_init(r);
    build_core_memory(&c, 0x9000, 8192, PF_R | PF_W, &r->record, sizeof r->record);
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes, "core", &m, &err), 0);
    assert_int_equal(record_find(&m, &found, &err), HEAPTAP_NOT_FOUND);
    m.bytes = NULL;
    memory_close(&m);
    free(file);
    free(r);
}

/* If this fails, a crash is explained by the wrong block. */
static void
an_address_is_explained_by_the_block_that_it_is_in_or_behind(void **unused)
{
    struct build_recorded *r = malloc(sizeof *r);
    struct build_core c = build_core_new(8, false, EM_X86_64);
    struct opened o;
    struct place p;

    (void)unused;
    build_recorded_init(r);
    build_recorded_block(r, 16, 32, 20, 5);
    build_recorded_block(r, 80, 32, 20, 7);
    build_recorded_end(r, 80);
    put_thread(&c, 112, 32, 27, 77); // The stack pointer is 20.
    put_files(&c);
    build_core_memory(&c, 0x10000, 0x2000, PF_R | PF_X, NULL, 0);
    build_core_memory(&c, 0x12000, 0x1000, PF_R | PF_W, NULL, 0);
    o = open_recorded(r, c);
    p = place_of(&o.e, BUILD_HEAP + 16 + 19);
    assert_int_equal(p.kind, PLACE_BLOCK);
    assert_int_equal(p.off, 19);
    p = place_of(&o.e, BUILD_HEAP + 16 + 20);
    assert_int_equal(p.kind, PLACE_BEHIND);
    assert_int_equal(p.off, 0);
    assert_int_equal(p.block->site, 5);
    p = place_of(&o.e, BUILD_HEAP + 80 + 3);
    assert_int_equal(p.kind, PLACE_ENDED);
    assert_int_equal(p.ended.address, BUILD_HEAP + 80);
    assert_int_equal(p.ended.site, 7);
    p = place_of(&o.e, 0x10004);
    assert_int_equal(p.kind, PLACE_MODULE);
    assert_string_equal(p.mapping->path, "/bin/a");
    assert_int_equal(p.off, 4);
    p = place_of(&o.e, 0x12008); // The memory after a module's file holds its variables.
    assert_int_equal(p.kind, PLACE_MODULE);
    assert_int_equal(p.off, 0x2008);
    assert_int_equal(place_of(&o.e, 8).kind, PLACE_NULL);
    assert_int_equal(place_of(&o.e, UINT64_C(0x7f0000000000)).kind, PLACE_NOWHERE);
    assert_int_equal(place_of(&o.e, BUILD_SIDE).kind, PLACE_OTHER);
    close_recorded(&o);
    free(r);
}

/* Fill a page with the headers of a library whose variables end at 0x1800. */
static void
fill_object(unsigned char *page)
{
    Elf64_Ehdr file = {.e_ident = ELFMAG, .e_phoff = 64, .e_phentsize = 56, .e_phnum = 2};
    Elf64_Phdr segments[2] = {{.p_type = PT_LOAD, .p_vaddr = 0, .p_memsz = 0x1000},
                              {.p_type = PT_LOAD, .p_vaddr = 0x1100, .p_memsz = 0x700}};

    memcpy(page, &file, sizeof file);
    memcpy(page + 64, segments, sizeof segments);
}

/* If this fails, the heap of a runtime (Ruby's) that follows a library in memory is mistaken for
 * the library's variables: its blocks are called reached, although only mapped memory keeps
 * them. */
static void
variables_end_where_the_library_says_and_not_with_the_memory(void **unused)
{
    struct build_core c = build_core_new(8, false, EM_X86_64);
    unsigned char page[4096] = {0}, zeros[0x4000] = {0};
    struct examined e = {0};
    struct scan_range *ranges;
    struct strbuf files = {0};
    struct err err = {""};
    unsigned char *file;
    size_t size_bytes;

    (void)unused;
    fill_object(page);
    build_core_memory(&c, 0x20000, 4096, PF_R, page, sizeof page);
    build_core_memory(&c, 0x21000, 0x4000, PF_R | PF_W, zeros, sizeof zeros);
    build_core_word(&c, &files, 1);
    build_core_word(&c, &files, 4096);
    build_core_word(&c, &files, 0x20000);
    build_core_word(&c, &files, 0x21000);
    build_core_word(&c, &files, 0);
    strbuf_add(&files, "/lib/b.so", sizeof "/lib/b.so");
    build_core_note(&c, NT_FILE, files.text, files.length);
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes, "core", &e.memory, &err), 0);
    assert_int_equal(scan_ranges(&e, &e.arena, &ranges), 2);
    assert_int_equal(ranges[0].kind, SCAN_VARIABLE);
    assert_int_equal(ranges[0].start, 0x21000);
    assert_int_equal(ranges[0].end, 0x22000);
    assert_int_equal(ranges[1].kind, SCAN_MAPPED);
    assert_int_equal(ranges[1].start, 0x22000);
    assert_int_equal(ranges[1].end, 0x25000);
    assert_int_equal(place_of(&e, 0x21abc).kind, PLACE_MODULE);
    assert_int_equal(place_of(&e, 0x22abc).kind, PLACE_OTHER);
    e.memory.bytes = NULL;
    memory_close(&e.memory);
    arena_release(&e.arena);
    strbuf_release(&files);
    free(file);
}

/* If this fails, blocks that only main's stack keeps, while main is inside a coroutine, are
 * reported as kept by mapped memory alone. */
static void
the_stack_that_the_kernel_made_is_one_wherever_the_thread_is(void **unused)
{
    struct build_core c = build_core_new(8, false, EM_X86_64);
    unsigned char zeros[0x2000] = {0};
    uint64_t auxiliary[] = {AT_PAGESZ, 4096, AT_RANDOM, 0x31ff0, AT_NULL, 0};
    struct examined e = {0};
    struct scan_range *ranges;
    struct err err = {""};
    unsigned char *file;
    size_t size_bytes;

    (void)unused;
    build_core_memory(&c, 0x30000, 0x2000, PF_R | PF_W, zeros, sizeof zeros);
    build_core_note(&c, NT_AUXV, auxiliary, sizeof auxiliary);
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes, "core", &e.memory, &err), 0);
    assert_int_equal(scan_ranges(&e, &e.arena, &ranges), 1);
    assert_int_equal(ranges[0].kind, SCAN_STACK);
    assert_int_equal(ranges[0].start, 0x30000);
    assert_int_equal(place_of(&e, 0x30010).kind, PLACE_STACK);
    e.memory.bytes = NULL;
    memory_close(&e.memory);
    arena_release(&e.arena);
    free(file);
}

static uint32_t
mixed(uint32_t sum, uint32_t v)
{
    sum = (sum ^ v) * UINT32_C(0x9e3779b1);
    return sum ^ sum >> 15;
}

/* If this fails, the time and the thread in an annotation of `run --annotate` are not shown, or are
 * read from bytes that only resemble an annotation. */
static void
an_annotated_block_says_itself_who_and_when(void **unused)
{
    enum { BLOCK = 0x10100, START = 5000000 };

    struct build_core c = build_core_new(8, false, EM_X86_64);
    unsigned char page[4096] = {0}, *annotation = page + 0x100 - 48;
    uint64_t words[] = {40, START + 777, 4711, 0x401000};
    struct examined e = {.raw.header.start_monotonic_ns = START};
    struct block b = {.address = BLOCK, .size_bytes = 40, .site = 5};
    uint32_t sum = mixed(0x50616548, 0xa1 | 1u << 8 | 6u << 24);
    struct err err = {""};
    struct birth birth;
    unsigned char *file;
    size_t size_bytes;

    (void)unused;
    memcpy(annotation, "HeaP\xa1\1\0\6", 8);
    memcpy(annotation + 8, words, sizeof words);
    for (size_t i = 0; i < countof(words); i++)
        sum = mixed(mixed(sum, (uint32_t)words[i]), (uint32_t)(words[i] >> 32));
    sum += BLOCK;
    memcpy(annotation + 40, &sum, sizeof sum);
    memcpy(annotation + 44, "ProF", 4);
    build_core_memory(&c, 0x10000, 4096, PF_R | PF_W, page, sizeof page);
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes, "core", &e.memory, &err), 0);
    birth_find(&e, &b, &e.arena, &birth);
    assert_true(birth.annotated && birth.has_time);
    assert_int_equal(birth.thread_count, 1);
    assert_int_equal(birth.threads[0].tid, 4711);
    assert_int_equal(birth.from_ns, 777);
    assert_int_equal(birth.to_ns, 777);
    b.address += 16;
    birth_find(&e, &b, &e.arena, &birth);
    assert_false(birth.annotated || birth.has_time);
    assert_int_equal(birth.thread_count, 0);
    e.memory.bytes = NULL;
    memory_close(&e.memory);
    arena_release(&e.arena);
    free(file);
}

/* If this fails, a made-up dump keeps the command busy for hours: it has a million files, whose
 * names have no end and are searched again for each file. */
static void
names_that_do_not_end_are_no_names(void **unused)
{
    enum { FILES = 1 << 20, NAME_BYTES = 16 << 20, PAGE = 4096 };

    struct build_core c = build_core_new(8, false, EM_X86_64);
    size_t head = 2 + 3 * (size_t)FILES, note_bytes = head * sizeof(uint64_t) + NAME_BYTES;
    uint64_t *note = malloc(note_bytes);
    struct err err = {""};
    struct memory m;
    unsigned char *file;
    size_t size_bytes;

    (void)unused;
    assert_non_null(note);
    note[0] = FILES;
    note[1] = PAGE;
    for (uint64_t i = 0; i < FILES; i++) {
        note[2 + 3 * i] = (16 + i) * PAGE;
        note[3 + 3 * i] = (17 + i) * PAGE;
        note[4 + 3 * i] = 0;
    }
    memset(&note[head], 'a', NAME_BYTES);
    memcpy(&note[head], "/bin/a", sizeof "/bin/a");
    build_core_note(&c, NT_FILE, note, note_bytes);
    build_core_memory(&c, 0x10000, PAGE, PF_R, "", 1);
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes, "core", &m, &err), 0);
    assert_int_equal(m.mapping_count, FILES);
    assert_string_equal(m.mappings[0].path, "/bin/a");
    assert_string_equal(m.mappings[1].path, "");
    assert_string_equal(m.mappings[FILES - 1].path, "");
    m.bytes = NULL;
    memory_close(&m);
    free(file);
    free(note);
}

/* If this fails, a made-up dump of some megabytes, whose spans all share one leaf, expands to
 * billions of blocks. */
static void
leaves_have_no_more_bytes_than_the_memory(void **unused)
{
    struct build_recorded *r = malloc(sizeof *r);
    struct build_core c = build_core_new(8, false, EM_X86_64);
    uint64_t span = UINT64_C(1) << CORE_SPAN_BITS, held = 0;
    struct opened o;

    (void)unused;
    build_recorded_init(r);
    for (size_t i = 0; i < sizeof r->leaf / sizeof r->leaf[0]; i++)
        r->leaf[i] = 5;
    for (uint64_t i = 0; i < CORE_CHUNK_LEAVES; i++)
        r->leaves[i] = (struct core_leaf){(BUILD_HEAP & -span) + span * (1 + i), BUILD_LEAF};
    r->record.leaf_count = CORE_CHUNK_LEAVES;
    build_core_memory(&c, (BUILD_HEAP & -span) + span, CORE_CHUNK_LEAVES * span, PF_R | PF_W, NULL,
                      0);
    o = open_recorded(r, c);
    for (size_t i = 0; i < o.e.memory.region_count; i++)
        held += o.e.memory.regions[i].readable_bytes;
    assert_in_range(o.e.blocks.count, 1, held / sizeof r->leaf[0]);
    assert_true(o.e.blocks.missing_leaves > 0);
    close_recorded(&o);
    free(r);
}

/* If this fails, a leaf is read a million times, because it claims as many kinds. */
static void
a_leaf_is_of_a_kind_that_there_is(void **unused)
{
    struct build_recorded *r = malloc(sizeof *r);
    struct opened o;

    (void)unused;
    build_recorded_init(r);
    build_recorded_block(r, 16, 32, 20, 5);
    for (uint64_t i = 1; i < CORE_CHUNK_LEAVES; i++)
        r->leaves[i] = (struct core_leaf){r->leaves[0].span + CORE_LEAF_WIDE + i, BUILD_LEAF};
    r->record.leaf_count = CORE_CHUNK_LEAVES;
    o = open_recorded(r, build_core_new(8, false, EM_X86_64));
    assert_int_equal(o.e.blocks.leaves, 1);
    assert_int_equal(o.e.blocks.count, 1);
    close_recorded(&o);
    free(r);
}

/* If this fails, the report of a moment says that it shows damage and accesses of the whole run,
 * although it shows neither. */
static void
a_moment_has_nothing_of_the_run_but_its_stacks(void **unused)
{
    struct raw_file raw = {.header = {.magic = DISK_MAGIC,
                                      .version = DISK_VERSION,
                                      .recorder_bytes = 5000,
                                      .damaged_blocks = 3,
                                      .counting = {.flags = DISK_COUNTING, .granule_bytes = 8}},
                           .file_bytes = 1 << 20};
    struct strbuf file = {0};
    struct blocks none = {0};
    struct err err = {""};
    struct profile *p;

    (void)unused;
    assert_int_equal(heap_snapshot_write(&raw, &none, "core", true, &file, &err), 0);
    if (load_bytes(file.text, file.length, "core", &p, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(p->note_count, 0);
    assert_int_equal(p->losses.damaged_blocks, 0);
    assert_int_equal(p->accesses.granule_bytes, 0);
    assert_int_equal(p->recorder.memory_bytes, (1 << 20) + 5000);
    profile_free(p);
    strbuf_release(&file);
}

/* If this fails, a made-up dump of a few kilobytes, whose million ranges all have the same bytes,
 * keeps a search busy for hours. */
static void
no_byte_of_a_dump_is_at_two_addresses(void **unused)
{
    struct build_core c = build_core_new(8, false, EM_X86_64);
    unsigned char page[4096] = {7};
    struct err err = {""};
    uint64_t held = 0;
    struct memory m;
    unsigned char *file;
    size_t size_bytes;

    (void)unused;
    build_core_memory(&c, 0x10000, 4096, PF_R | PF_W, page, sizeof page);
    for (size_t i = 1; i < BUILD_LOADS; i++) {
        build_core_memory(&c, 0x10000 + i * 4096, 4096, PF_R | PF_W, NULL, 0);
        c.loads[i].stored = 4096;
        c.loads[i].off = 0;
    }
    file = build_core_finish(&c, &size_bytes);
    assert_int_equal(elf_core_parse(file, size_bytes, "core", &m, &err), 0);
    for (size_t i = 0; i < m.region_count; i++)
        held += m.regions[i].readable_bytes;
    assert_in_range(held, 4096, size_bytes);
    assert_true(m.missing_bytes > 0);
    m.bytes = NULL;
    memory_close(&m);
    free(file);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_files_are_read_in_either_word_size_and_byte_order),
        cmocka_unit_test(vector_registers_are_words_but_not_their_header),
        cmocka_unit_test(what_a_dump_that_is_cut_short_lacks_is_not_read_as_zeros),
        cmocka_unit_test(what_is_no_dump_is_refused_with_a_sentence),
        cmocka_unit_test(blocks_have_the_size_that_was_requested),
        cmocka_unit_test(version_1_is_read),
        cmocka_unit_test(blocks_of_high_sites_are_in_the_wide_ledger),
        cmocka_unit_test(a_size_word_that_was_written_over_is_damage_and_no_size),
        cmocka_unit_test(a_record_elsewhere_than_it_says_is_not_believed),
        cmocka_unit_test(an_address_is_explained_by_the_block_that_it_is_in_or_behind),
        cmocka_unit_test(variables_end_where_the_library_says_and_not_with_the_memory),
        cmocka_unit_test(an_annotated_block_says_itself_who_and_when),
        cmocka_unit_test(names_that_do_not_end_are_no_names),
        cmocka_unit_test(leaves_have_no_more_bytes_than_the_memory),
        cmocka_unit_test(a_leaf_is_of_a_kind_that_there_is),
        cmocka_unit_test(a_moment_has_nothing_of_the_run_but_its_stacks),
        cmocka_unit_test(no_byte_of_a_dump_is_at_two_addresses),
        cmocka_unit_test(the_stack_that_the_kernel_made_is_one_wherever_the_thread_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
