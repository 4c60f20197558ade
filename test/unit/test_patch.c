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

enum {
    PAGE = 4096,
    TARGET_AT = 1024,
    CALLED_AT = 1536,
    TRAMPOLINE_AT = 2048,
    DATA_AT = 3072,
    JUMPED = 42
};

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
    static const char called[] = "\x8d\x04\x7f\xc3"; // lea eax, [rdi+2*rdi]; ret
    unsigned char trampoline[TRAMPOLINE_BYTES] = {0};
    struct err err;
    int r;

    memset(page, 0xcc, PAGE);
    memcpy(page, code, size_bytes);
    memcpy(page + TARGET_AT, target, sizeof target - 1);
    memcpy(page + CALLED_AT, called, sizeof called - 1);
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
    assert_memory_equal(page, code, p.at - p.function);
    assert_false(patch_apply(&self, &p)); // It is not the original any more.
    assert_true(patch_remove(&self, &p));
    assert_memory_equal(page, code, size_bytes);
    assert_true(patch_remove(&self, &p)); // An earlier detach has not come further.
    page[p.at - p.function] ^= 1;
    assert_false(patch_remove(&self, &p)); // Another program has changed it.
    page[p.at - p.function] ^= 1;
}

#define MOVES(code)   moves(code, sizeof(code) - 1)
#define REFUSES(code)                                                                              \
    do {                                                                                           \
        struct patch refused = {0};                                                                \
        assert_int_equal(prepare(code, sizeof(code) - 1, &refused), HEAPTAP_BAD_INPUT);            \
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

/* If this fails, an indirect call of a patched function ends a program with IBT. */
static void
endbr64_stays_first(void **unused)
{
    // endbr64; lea eax, [rdi+1]; nop; ret
    static const char code[] = "\xf3\x0f\x1e\xfa\x8d\x47\x01\x66\x90\xc3";
    struct patch p = {0};

    (void)unused;
    MOVES("\xf3\x0f\x1e\xfa\x8d\x47\x01\x66\x90\xc3");
    assert_int_equal(prepare(code, sizeof code - 1, &p), 0);
    assert_int_equal(p.at, p.function + 4);
    assert_memory_equal(page + TRAMPOLINE_AT, code, 4); // The recorder calls it indirectly.
    assert_true(patch_apply(&self, &p));
    assert_memory_equal(page, code, 4);
    assert_int_equal(page[4], 0xe9);
    assert_true(patch_remove(&self, &p));
}

/* If this fails, a called function returns into the trampoline, which a detach unmaps. */
static void
a_moved_call_returns_to_the_original(void **unused)
{
    struct patch p = {0};

    (void)unused;
    // call CALLED; inc eax; ret
    MOVES("\xe8\xfb\x05\x00\x00\xff\xc0\xc3");
    // push rbx; mov ebx, edi; call CALLED, which begins below the fifth byte; add eax, ebx; pop
    // rbx; ret
    MOVES("\x53\x89\xfb\xe8\xf8\x05\x00\x00\x01\xd8\x5b\xc3");
    // endbr64; sub rsp, 8; call CALLED; add rsp, 8; ret
    MOVES("\xf3\x0f\x1e\xfa\x48\x83\xec\x08\xe8\xf3\x05\x00\x00\x48\x83\xc4\x08\xc3");
    // lea rax, [rip+CALLED-7], which is moved; call rax, which is not; ret
    MOVES("\x48\x8d\x05\xf9\x05\x00\x00\xff\xd0\xc3");
    // push rbp; lea ebp, [rdi]; call [rip+12], the word at 22; pop rbp; ret
    assert_int_equal(prepare("\x55\x8d\x2f\xff\x15\x0b\x00\x00\x00\x5d\xc3", 11, &p), 0);
    *(uint64_t *)(void *)(page + 20) = (uint64_t)(uintptr_t)page + CALLED_AT;
    assert_int_equal(at(0)(5), 15);
    assert_int_equal(at(TRAMPOLINE_AT)(5), 15);
    self.has_shadow_stack = true;
    REFUSES("\xe8\xfb\x05\x00\x00\xff\xc0\xc3");
    self.has_shadow_stack = false;
}

/* If this fails, a loop at the start of a function jumps into the middle of a written jump. */
static void
a_short_function_with_a_loop_is_copied_whole(void **unused)
{
    struct patch p = {0};

    (void)unused;
    // xor eax, eax; mov ecx, 3; add eax, edi; dec ecx; jne to the add, which starts at 7; ret
    MOVES("\x31\xc0\xb9\x03\x00\x00\x00\x01\xf8\xff\xc9\x75\xfa\xc3");
    // mov eax, edi; mov cl, 3; inc eax; dec cl; jne to the inc at 4, below the fifth byte; ret
    MOVES("\x89\xf8\xb1\x03\xff\xc0\xfe\xc9\x75\xfa\xc3");
    // endbr64; the same, where the branch leads to the ninth byte.
    MOVES("\xf3\x0f\x1e\xfa\x89\xf8\xb1\x03\xff\xc0\xfe\xc9\x75\xfa\xc3");
    // A thread in the loop continues in the copy, and comes back.
    assert_int_equal(prepare("\x89\xf8\xb1\x03\xff\xc0\xfe\xc9\x75\xfa\xc3", 11, &p), 0);
    assert_int_equal(p.left_bytes, 11);
    assert_int_equal(patch_moves(&p, p.function, true), 0);
    assert_int_equal(patch_moves(&p, p.function + 6, true), p.trampoline + 6);
    assert_int_equal(patch_moves(&p, p.trampoline + 6, false), p.function + 6);
    assert_int_equal(patch_moves(&p, p.trampoline, false), p.function);
    assert_int_equal(patch_moves(&p, p.function + 11, true), 0);
    // It calls a function from the loop.
    REFUSES("\x89\xf8\xb1\x03\xe8\xf7\x05\x00\x00\xfe\xc9\x75\xf7\xc3");
}

/* If this fails, an allocator whose free does nothing cannot be recorded, or the next function is
 * overwritten. */
static void
padding_may_be_overwritten(void **unused)
{
    (void)unused;
    MOVES("\x31\xc0\xc3\x90\x90\x90");     // xor eax, eax; ret; three nops
    MOVES("\x31\xc0\xc3");                 // int3 follows.
    MOVES("\x31\xc0\xc3\x0f\x1f\x40\x00"); // A long nop.
    MOVES("\xeb\x04\xcc\xcc\xcc\xcc\x8d\x47\x03\xc3"); // jmp +4; lea eax, [rdi+3]; ret
    REFUSES("\x31\xc0\xc3\x31\xc0\xc3");   // Another function.
}

/* If this fails, an instruction that cannot run elsewhere is moved, and the program crashes. */
static void
functions_that_cannot_be_moved_are_refused(void **unused)
{
    (void)unused;
    REFUSES("\xe3\x03\x31\xc0\x90\xc3\xc3");         // jrcxz has a short form only.
    REFUSES("\x31\xc0\xeb\x02\x31\xc0\xc3");         // A short jump, then other code.
    REFUSES("\xff\xd0\x31\xc0\xc3");                 // call rax, which returns to the third byte.
    REFUSES("\x53\xff\x54\x24\x08\x5b\xc3"); // push rbx; call [rsp+8]: the push would move rsp.
    REFUSES("\x06\x06\x06\x06\x06\x06");             // No instructions of 64-bit mode.
}

/* If this fails, a jump to a distant library lands elsewhere. */
static void
a_relay_reaches_any_address(void **unused)
{
    (void)unused;
    patch_relay(page, (uint64_t)(uintptr_t)page + CALLED_AT);
    memcpy(page + CALLED_AT, "\x8d\x04\x7f\xc3", 4); // lea eax, [rdi+2*rdi]; ret
    assert_int_equal(at(0)(7), 21);
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
        cmocka_unit_test(endbr64_stays_first),
        cmocka_unit_test(a_moved_call_returns_to_the_original),
        cmocka_unit_test(a_short_function_with_a_loop_is_copied_whole),
        cmocka_unit_test(padding_may_be_overwritten),
        cmocka_unit_test(functions_that_cannot_be_moved_are_refused),
        cmocka_unit_test(a_relay_reaches_any_address),
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
