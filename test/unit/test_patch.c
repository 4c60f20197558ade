/* test_patch.c: jumps in functions of a running process, here this one, and the search for its
 * functions. */
#include "attach/patch.h"

#include <setjmp.h> // cmocka.h needs these.
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int function(int);

enum { PAGE = 4096, TARGET_AT = 1024, TRAMPOLINE_AT = 2048, DATA_AT = 3072, JUMPED = 42 };

static struct target self;
static unsigned char *page;

static int
open_self(void **unused)
{
    struct err err;

    (void)unused;
    if (!patch_is_available())
        return -1;
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED ? target_open((uint32_t)getpid(), &self, &err) : -1;
}

static int
close_self(void **unused)
{
    (void)unused;
    target_close(&self);
    return munmap(page, PAGE);
}

/* Return the function at OFF of the page. */
static function *
at(size_t off)
{
    function *f;
    void *address = page + off;

    memcpy(&f, &address, sizeof f);
    return f;
}

/* Write the SIZE_BYTES of CODE as a function, and prepare its patch. The target returns JUMPED. */
static int
prepare(const char *code, size_t size_bytes, struct patch *p)
{
    static const char target[] = "\xb8\x2a\x00\x00\x00\xc3"; // mov eax, 42; ret
    unsigned char trampoline[TRAMPOLINE_BYTES] = {0};
    struct err err;
    int r;

    memset(page, 0xcc, PAGE);
    memcpy(page, code, size_bytes);
    memcpy(page + TARGET_AT, target, sizeof target - 1);
    page[DATA_AT] = 7;
    memset(page + DATA_AT + 1, 0, 3);
    p->trampoline = (uint64_t)(uintptr_t)page + TRAMPOLINE_AT;
    r = patch_prepare(&self, "f", (uint64_t)(uintptr_t)page, size_bytes,
                      (uint64_t)(uintptr_t)page + TARGET_AT, p, trampoline, &err);
    memcpy(page + TRAMPOLINE_AT, trampoline, sizeof trampoline);
    return r;
}

/* Check that the trampoline of CODE does the same as CODE, and that a jump can be written and
 * removed. */
static void
moves(const char *code, size_t size_bytes)
{
    struct patch p = {0};

    assert_int_equal(prepare(code, size_bytes, &p), 0);
    for (int i = -2; i <= 2; i++)
        assert_int_equal(at(TRAMPOLINE_AT)(i), at(0)(i));
    assert_true(patch_apply(&self, &p));
    assert_int_equal(at(0)(1), JUMPED);
    assert_false(patch_apply(&self, &p)); // It is not the original any more.
    assert_true(patch_remove(&self, &p));
    assert_memory_equal(page, code, size_bytes);
    assert_true(patch_remove(&self, &p)); // An earlier detach has not come further.
    page[0] ^= 1;
    assert_false(patch_remove(&self, &p)); // Another program has changed it.
    page[0] ^= 1;
}

#define MOVES(code)   moves(code, sizeof(code) - 1)
#define REFUSES(code)                                                                              \
    do {                                                                                           \
        struct patch p = {0};                                                                      \
        assert_int_equal(prepare(code, sizeof(code) - 1, &p), HEAPTAP_BAD_INPUT);                  \
    } while (0)

/* If this fails, a patched malloc does something else than the original. */
static void
instructions_do_the_same_in_the_trampoline(void **unused)
{
    (void)unused;
    // endbr64; lea eax, [rdi+1]; ret
    MOVES("\xf3\x0f\x1e\xfa\x8d\x47\x01\xc3");
    // push rbx; mov ebx, edi; lea eax, [rbx+rbx]; pop rbx; ret
    MOVES("\x53\x89\xfb\x8d\x04\x1b\x5b\xc3");
    // lea eax, [rdi+1]; ret, with the last byte behind the jump.
    MOVES("\x8d\x47\x01\x66\x90\xc3");
}

/* If this fails, a moved instruction reads another variable than before. */
static void
addresses_relative_to_the_instruction_are_adjusted(void **unused)
{
    (void)unused;
    // mov eax, [rip+DATA_AT-6]; add eax, edi; ret
    MOVES("\x8b\x05\xfa\x0b\x00\x00\x01\xf8\xc3");
    // lea rax, [rip+DATA_AT-7]; mov eax, [rax]; ret
    MOVES("\x48\x8d\x05\xf9\x0b\x00\x00\x8b\x00\xc3");
    // cmp byte [rip+DATA_AT-7], 7: the address counts from the end, behind the constant;
    // sete al; movzx eax, al; ret
    MOVES("\x80\x3d\xf9\x0b\x00\x00\x07\x0f\x94\xc0\x0f\xb6\xc0\xc3");
}

/* If this fails, a condition in the first instructions leads to a wrong place. */
static void
branches_keep_their_targets(void **unused)
{
    (void)unused;
    // test edi, edi; je +6; mov eax, 1; ret; mov eax, 2; ret
    MOVES("\x85\xff\x74\x06\xb8\x01\x00\x00\x00\xc3\xb8\x02\x00\x00\x00\xc3");
    // test edi, edi; js +6 in the long form; mov eax, 1; ret; mov eax, 2; ret
    MOVES("\x85\xff\x0f\x88\x06\x00\x00\x00\xb8\x01\x00\x00\x00\xc3\xb8\x02\x00\x00\x00\xc3");
    // jmp +1; int3; lea eax, [rdi+3]; ret: the function may be a jump to another.
    MOVES("\xe9\x01\x00\x00\x00\xcc\x8d\x47\x03\xc3");
    // mov eax, 5, which has five bytes; test edi, edi; jg +1; ret; mov eax, edi; ret
    MOVES("\xb8\x05\x00\x00\x00\x85\xff\x7f\x01\xc3\x89\xf8\xc3");
}

/* If this fails, an instruction that cannot run elsewhere is moved, and the program crashes. */
static void
functions_that_cannot_be_moved_are_refused(void **unused)
{
    (void)unused;
    REFUSES("\xe8\x03\x00\x00\x00\xc3\x90\x90\xc3"); // A call: its return address would move.
    REFUSES("\x31\xc0\xc3\x90\x90\x90");             // It ends before the fifth byte.
    REFUSES("\xe3\x03\x31\xc0\x90\xc3\xc3");         // jrcxz has a short form only.
    REFUSES("\x31\xc0\xeb\x02\x90\x90\xc3");         // A short jump, then other code.
    // add eax, 1; dec edi; jne to the second instruction, which the jump overwrites.
    REFUSES("\x31\xc0\x83\xc0\x01\xff\xcf\x75\xf9\xc3");
    REFUSES("\x06\x06\x06\x06\x06\x06");             // No instructions of 64-bit mode.
}

/* If this fails, realloc's inner call of malloc counts as an allocation of the program. */
static void
direct_branches_are_found(void **unused)
{
    // nop; call f; jmp f; je f; call of another function
    static const unsigned char code[] = "\x90\xe8\xfa\xfe\xff\xff\xe9\xf5\xfe\xff\xff\x0f\x84\xef"
                                        "\xfe\xff\xff\xe8\x00\x00\x00\x00";
    const uint64_t start = (uint64_t)(uintptr_t)page + 256;
    struct branch found[8];
    struct patch p = {0};

    (void)unused;
    assert_int_equal(prepare("\xf3\x0f\x1e\xfa\x8d\x47\x01\xc3", 8, &p), 0);
    memcpy(page + 256, code, sizeof code);
    assert_int_equal(patch_branches(&self, start, start + sizeof code, &p, 1, found, 8), 3);
    for (int i = 0; i < 3; i++) {
        uint64_t next = found[i].at + sizeof(int32_t);

        assert_int_equal(next + (uint64_t)(int64_t)found[i].original, p.function);
        assert_int_equal(next + (uint64_t)(int64_t)found[i].changed, p.trampoline);
    }
    // More than there is room for.
    assert_int_equal(patch_branches(&self, start, start + sizeof code, &p, 1, found, 1), 3);
}

/* If this fails, attach replaces a function that the program does not call. */
static void
names_are_found_as_by_the_dynamic_linker(void **unused)
{
    static const char *const names[] = {"malloc", "free", "posix_memalign", "reallocarray",
                                        "strlen", "pthread_create", "environ", "stderr",
                                        "ZSTD_compress", "_dl_find_object", "no_such_function"};
    struct target_symbol s;

    (void)unused;
    for (size_t i = 0; i < countof(names); i++) {
        void *expected = dlsym(RTLD_DEFAULT, names[i]);

        assert_int_equal(target_find(&self, names[i], &s), expected != NULL);
        // dlsym calls the resolver of an indirect function.
        if (expected != NULL && s.type != STT_GNU_IFUNC)
            assert_int_equal(s.address, (uint64_t)(uintptr_t)expected);
    }
}

/* If this fails, the recorder is mapped out of reach of the jumps, or over other memory. */
static void
gaps_are_free_and_near(void **unused)
{
    uint64_t malloc_at = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "malloc");
    uint64_t gap = target_gap(&self, malloc_at, malloc_at + PAGE, 8 << 20);
    int64_t distance = (int64_t)(gap - malloc_at);
    void *taken;

    (void)unused;
    assert_true(gap != 0 && distance == (int32_t)distance);
    taken = mmap((void *)(uintptr_t)gap, 8 << 20, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    assert_int_equal((uintptr_t)taken, gap);
    munmap(taken, 8 << 20);
    assert_int_equal(target_gap(&self, malloc_at, malloc_at + PAGE, (uint64_t)1 << 46), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_do_the_same_in_the_trampoline),
        cmocka_unit_test(addresses_relative_to_the_instruction_are_adjusted),
        cmocka_unit_test(branches_keep_their_targets),
        cmocka_unit_test(functions_that_cannot_be_moved_are_refused),
        cmocka_unit_test(direct_branches_are_found),
        cmocka_unit_test(names_are_found_as_by_the_dynamic_linker),
        cmocka_unit_test(gaps_are_free_and_near),
    };

    if (!patch_is_available()) {
        print_message("built without Zydis\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, open_self, close_self);
}
