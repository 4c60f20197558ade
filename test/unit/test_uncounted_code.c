/* test_uncounted_code.c: find lines of clang's intermediate code that access memory uncounted.
 * Older releases print types of pointers, later ones do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/base.h"
#include "launch/compiler.h"

/* If this fails, `access` says "never" of blocks that uncounted code uses. */
static void
code_that_clang_does_not_count_is_found(void **state)
{
    static const struct {
        unsigned found;
        const char *line;
    } lines[] = {
        {UNCOUNTED_STRUCTURES, "  %10 = call i64 @f(%struct.B* byval(%struct.B) align 8 %9)"},
        {UNCOUNTED_STRUCTURES, "  invoke void @f(ptr noundef byval(%struct.B) align 8 %9)"},
        {UNCOUNTED_ATOMICS, "  %7 = atomicrmw add i32* %6, i32 1 seq_cst, align 4"},
        {UNCOUNTED_ATOMICS, "  %7 = cmpxchg ptr %6, i32 1, i32 2 seq_cst seq_cst, align 4"},
        {UNCOUNTED_ASSEMBLER, "  call void asm sideeffect \"movl $$5,($0)\", \"r\"(ptr %8) #2"},
        {UNCOUNTED_ASSEMBLER, "  call void asm sideeffect \"movl $$5,($0)\", \"r\"(i32* %8) #2"},
        {UNCOUNTED_ASSEMBLER, "  call void asm \"sti\", \"~{memory},~{dirflag}\"()"},
        {UNCOUNTED_ASSEMBLER, "  call void asm \"inc $0\", \"=*m,*m\"(i32* elementtype(i32) %1)"},
        {UNCOUNTED_ASSEMBLER, "module asm \".globl f\""},
        {UNCOUNTED_ASSEMBLER, "  %1 = call <4 x i32> @llvm.x86.avx2.gather(<4 x i32> %a, i8* %p)"},
        {UNCOUNTED_ASSEMBLER, "  %1 = call <4 x i32> @llvm.x86.avx2.gather(<4 x i32> %a, ptr %p)"},
        {UNCOUNTED_ASSEMBLER, "  %1 = call i32 @llvm.eh.sjlj.setjmp(ptr %p)"},
    };

    (void)state;
    for (size_t i = 0; i < countof(lines); i++)
        assert_int_equal(uncounted_code_of_line(lines[i].line), lines[i].found);
}

/* If this fails, programs lose the proof that their code counts all accesses. */
static void
code_that_counts_is_not_found(void **state)
{
    static const char *const lines[] = {
        "  call void asm sideeffect \"\", \"~{memory},~{dirflag},~{fpsr},~{flags}\"() #2",
        "  %1 = call i64 asm \"rdtsc\", \"={ax},~{dirflag},~{fpsr},~{flags}\"()",
        "  %1 = load atomic i32, i32* %0 seq_cst, align 4",
        "  store atomic i32 1, ptr %0 seq_cst, align 4",
        "define i64 @f(ptr noundef byval(%struct.B) align 8 %0) {",
        "declare i64 @f(ptr noundef byval(%struct.B) align 8)",
        "  call void @llvm.memcpy.p0.p0.i64(ptr %0, ptr %1, i64 64, i1 false)",
        "  call void @llvm.x86.sse2.pause()",
        "",
    };

    (void)state;
    for (size_t i = 0; i < countof(lines); i++)
        assert_int_equal(uncounted_code_of_line(lines[i]), 0);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_that_clang_does_not_count_is_found),
        cmocka_unit_test(code_that_counts_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
