/* firmware_board.c: run the firmware on a Cortex-M3, from its vector table to the end of the
 * program, without a C library except for the functions that the compiler calls. It writes its
 * memory to RAM_FILE on the emulator's host by semihosting, calls that debuggers answer, as a debug
 * probe would read the memory. */
#include <stdint.h>

#include "firmware.h"

enum { SYS_OPEN = 1, SYS_CLOSE = 2, SYS_WRITE = 5, SYS_EXIT = 0x18, OPEN_WRITE_BINARY = 5 };

extern char ram_begin[], ram_end[], bss_begin[], bss_end[], data_begin[], data_end[], data_load[];
extern char stack_end[];

void reset(void);

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[] = {
    (uintptr_t)stack_end,
    (uintptr_t)reset,
};

static intptr_t
ask_host(uintptr_t what, const void *parameters)
{
    register uintptr_t r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = parameters;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return (intptr_t)r0;
}

static void
send_memory(void)
{
    static const char name[] = RAM_FILE;
    uintptr_t open[] = {(uintptr_t)name, OPEN_WRITE_BINARY, sizeof name - 1};
    uintptr_t file = (uintptr_t)ask_host(SYS_OPEN, open);
    uintptr_t write[] = {file, (uintptr_t)ram_begin, (uintptr_t)(ram_end - ram_begin)};

    ask_host(SYS_WRITE, write);
    ask_host(SYS_CLOSE, &file);
}

void
reset(void)
{
    for (char *p = bss_begin; p < bss_end; p++)
        *p = 0;
    for (char *p = data_begin, *from = data_load; p < data_end;)
        *p++ = *from++;
    firmware_run();
    send_memory();
    // The argument is the reason: the application has ended.
    ask_host(SYS_EXIT, (const void *)0x20026);
    for (;;)
        ;
}
