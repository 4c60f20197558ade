/* fuzz_thread_stack.c: unwind a thread whose registers and stack are any bytes, with the tables of
 * this program. The walk ends, its first frame is the thread's pc, and nothing outside the stack is
 * read. */
/* covers: thread_stack.c */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/thread_stack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REGISTERS = 34 };
#define STACK_BASE UINT64_C(0x7ffd00000000)
#define CODE_BASE UINT64_C(0x555500000000)
#define CODE_BYTES (64 * MIB)

struct stack_bytes {
    const uint8_t *v;
    size_t size;
};

static bool
fuzz_read_word(const void *memory, uint64_t address, uint64_t *ret)
{
    const struct stack_bytes *s = memory;
    uint64_t off = address - STACK_BASE;

    if (address < STACK_BASE || off > s->size || s->size - off < sizeof *ret)
        return false;
    memcpy(ret, s->v + off, sizeof *ret);
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile_module modules[2] = {
        {.path = ""},
        {.path = "/proc/self/exe", .start = CODE_BASE, .end = CODE_BASE + CODE_BYTES,
         .bias = CODE_BASE}};
    const struct profile p = {.modules = modules, .module_count = 2};
    const struct symbol_paths paths = {0};
    uint64_t registers[REGISTERS] = {0};
    struct thread_frame frames[THREAD_FRAMES_MAX];
    struct thread_state t = {.registers = registers, .read_word = fuzz_read_word};
    struct stack_bytes stack;
    size_t count;

    if (size < sizeof registers + 1)
        return 0;
    memcpy(registers, data, sizeof registers);
    stack = (struct stack_bytes){data + sizeof registers, size - sizeof registers};
    t.machine = stack.v[0] % 3 == 0 ? EM_X86_64 : stack.v[0] % 3 == 1 ? EM_AARCH64 : EM_ARM;
    t.register_count = stack.v[0] % 16 == 15 ? 3 : REGISTERS;
    // Most addresses are in the program and in the stack, else each walk would end at once.
    t.pc = CODE_BASE + registers[16] % CODE_BYTES;
    t.sp = STACK_BASE + registers[19] % (stack.size + 1);
    t.memory = &stack;
    count = thread_stack(&p, &paths, &t, frames);
    if (count == 0 || count > THREAD_FRAMES_MAX || frames[0].address != t.pc || !frames[0].exact)
        abort();
    return 0;
}
