/* restorer_musl.c: musl's return from a signal handler, with an unwind table.
 *
 * A handler returns to __restore_rt, which makes the kernel restore all registers. musl's version
 * has no unwind table, so every stack of a handler would end there. A linker accepts a table only
 * from the object that contains the code. So the archive for musl provides the code, which musl's
 * sigaction then uses: two instructions that the kernel's interface prescribes. All registers are
 * in the kernel's frame, at fixed offsets from rsp. Like every table of a signal frame, this one
 * covers one byte before the code, because return addresses are looked up minus one. */
#include "base/base.h"

/* Declare that the caller's register with this DWARF number is in memory at rsp + OFFSET, encoded
 * in two bytes. */
#define SAVED(number, offset)                                                                      \
    ".cfi_escape 0x10, " #number ", 3, 0x77, (" #offset " & 0x7f) | 0x80, " #offset " >> 7\n\t"

#define REGISTERS                                                                                  \
    SAVED(0, 144)                                                                                  \
    SAVED(1, 136)                                                                                  \
    SAVED(2, 152)                                                                                  \
    SAVED(3, 128)                                                                                  \
    SAVED(4, 112)                                                                                  \
    SAVED(5, 104)                                                                                  \
    SAVED(6, 120)                                                                                  \
    SAVED(7, 160)                                                                                  \
    SAVED(8, 40)                                                                                   \
    SAVED(9, 48)                                                                                   \
    SAVED(10, 56)                                                                                  \
    SAVED(11, 64)                                                                                  \
    SAVED(12, 72)                                                                                  \
    SAVED(13, 80)                                                                                  \
    SAVED(14, 88)                                                                                  \
    SAVED(15, 96)                                                                                  \
    SAVED(16, 168)

#define CODE                                                                                       \
    "nop\n"                                                                                        \
    "__restore:\n"                                                                                 \
    "__restore_rt:\n\t"                                                                            \
    "movq $15, %rax\n\t"                                                                           \
    "syscall\n\t"                                                                                  \
    ".cfi_endproc\n\t"                                                                             \
    ".size __restore, . - __restore\n\t"                                                           \
    ".size __restore_rt, . - __restore_rt\n\t"

/* Declare that the CFA is the word at rsp + 160. */
#define TABLE ".cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06\n\t" REGISTERS

__asm__(".pushsection .text\n\t"
        ".globl __restore, __restore_rt\n\t"
        ".hidden __restore, __restore_rt\n\t"
        ".type __restore, @function\n\t"
        ".type __restore_rt, @function\n\t"
        ".cfi_startproc simple\n\t"
        ".cfi_signal_frame\n\t" TABLE CODE ".popsection");
