/* selftest_board.c: the two words that a Cortex-M reads at reset, for embedded_selftest.c with
 * newlib, which prints through the emulator (semihosting). */
#include <stdint.h>

extern char stack_end[];

void _start(void);

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[] = {
    (uintptr_t)stack_end,
    (uintptr_t)_start,
};
