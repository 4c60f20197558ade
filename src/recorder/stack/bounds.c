/* bounds.c: where stacks lie.
 *
 * The main thread's stack ends where the kernel put the program's arguments and may grow down to
 * its limit. Another thread's ends at its thread control block if glibc made it. What is known is
 * confirmed by /proc/thread-self/maps, read once per foreign stack with raw system calls. That
 * takes the longer the more threads there are, so for their own stacks it is read only until it has
 * shown where in its control block glibc keeps them.
 */
#include "stack/bounds.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "base/atomics.h"
#include "base/fmt.h"
#include "platform/arch_x86_64.h"
#include "platform/process.h"
#include "platform/sys.h"

enum {
    RED_ZONE_BYTES = 128,
    PAGE_BYTES = 4096,
    OVERFLOW_BYTES = 1 << 20, // How far below its stack a function that overflows it may reach.
    DOUBTFUL_PAGES = 32,      // How far up a frame may reach after a guess on a foreign stack.
};

#define STACK_GROWTH_MAX ((uint64_t)1 << 30)

/* The mapping that contains ADDRESS, by /proc/thread-self/maps: false if none, or if that cannot
 * be read. Not by /proc/self, which is empty once the main thread has left by pthread_exit. */
static bool
find_mapping(struct thread *t, uint64_t address, uint64_t *ret_low, uint64_t *ret_high)
{
    char *buffer = t->text; // The stack may be a signal handler's, which is small.
    size_t kept = 0;
    uint64_t off = 0;
    bool found = false;
    bool in_rest = false; // Of a line longer than the buffer.
    int fd = sys_open("/proc/thread-self/maps", O_RDONLY, 0);

    while (fd >= 0 && !found) {
        long got = sys_pread(fd, buffer + kept, sizeof t->text - 1 - kept, off);
        char *line = buffer;
        char *end;

        if (got <= 0)
            break;
        off += (uint64_t)got;
        end = buffer + kept + got;
        *end = '\0';
        for (char *p = buffer; p < end; p++) {
            const char *s = line;
            uint64_t low, high;

            if (*p != '\n')
                continue;
            low = parse_hex(&s);
            s += *s == '-';
            high = parse_hex(&s);
            line = p + 1;
            if (!in_rest && address >= low && address < high) {
                *ret_low = low;
                *ret_high = high;
                found = true;
                break;
            }
            in_rest = false;
        }
        kept = (size_t)(end - line);
        if (kept >= sizeof t->text - 1) {
            kept = 0;
            in_rest = true; // A path may be that long, and say what looks like an address.
        }
        __builtin_memmove(buffer, line, kept);
    }
    if (fd >= 0)
        sys_close(fd);
    return found;
}

/* How far the main stack may grow, as the kernel saw it when it laid out the address space. A limit
 * that the program raises later moves nothing: what it would claim belongs to others. */
static uint64_t growth_bytes;

__attribute__((constructor)) static void
note_growth(void)
{
    uint64_t limit = sys_limit(RLIMIT_STACK);

    if (growth_bytes == 0)
        growth_bytes = limit < STACK_GROWTH_MAX ? limit : STACK_GROWTH_MAX;
}

void
bounds_process_begins(void)
{
    note_growth(); // The first event may come before the constructors.
    // AT_RANDOM's bytes lie above the first frame, in the stack's own mapping.
    state->stack_top = round_down(process_value(AT_RANDOM), 8);
    state->stack_limit = state->stack_top > growth_bytes ? state->stack_top - growth_bytes : 0;
}

static bool
on_main_stack(uint64_t slot)
{
    return slot >= state->stack_limit && slot < state->stack_top;
}

static void
take_main_stack(struct thread *t)
{
    t->stack_low = state->stack_limit;
    t->stack_high = state->stack_top;
    t->thread_pointer = 0;
}

void
bounds_thread_begins(struct thread *t)
{
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    uint64_t pointer = arch_thread_pointer();

    // What the row's former thread took for foreign may be this one's own stack.
    __builtin_memset(t->foreign, 0, sizeof t->foreign);
    if (on_main_stack(here)) {
        take_main_stack(t);
        return;
    }
    // glibc reuses the stacks of ended threads: the same control block is the same stack.
    if (t->thread_pointer != pointer || here < t->stack_low || here >= t->stack_high)
        t->stack_low = t->stack_high = 0;
    t->thread_pointer = pointer;
}

/* What glibc notes of a stack in the thread's control block, at an offset that is not ours to
 * know. */
struct stack_block {
    uint64_t start, size_bytes, guard_bytes;
};

static bool
is_block_of(const struct stack_block *b, uint64_t slot, uint64_t pointer)
{
    return ((b->start | b->size_bytes | b->guard_bytes) & (PAGE_BYTES - 1)) == 0 &&
           b->guard_bytes < b->size_bytes && b->start + b->guard_bytes <= slot &&
           pointer - b->start < b->size_bytes;
}

/* The control block's words at POINTER + OFF, if they are surely mapped: glibc's are in the page of
 * POINTER when it made the stack, a foreign one may end anywhere. */
static const struct stack_block *
block_at(uint64_t pointer, uint32_t off)
{
    uint64_t at = pointer + off;

    if (off == 0 || at / PAGE_BYTES != pointer / PAGE_BYTES ||
        (at + sizeof(struct stack_block) - 1) / PAGE_BYTES != pointer / PAGE_BYTES)
        return NULL;
    return (const struct stack_block *)(uintptr_t)at;
}

/* T's stack is known to begin at LOW: find the words that say so. */
static void
learn_block_off(struct thread *t, uint64_t low)
{
    const struct stack_block *b;

    for (uint32_t off = 8; (b = block_at(t->thread_pointer, off)) != NULL; off += 8)
        if (b->guard_bytes != 0 && b->start + b->guard_bytes == low &&
            is_block_of(b, low, t->thread_pointer))
            store_relaxed(&state->block_off, off);
}

/* Is SLOT on the stack that T's control block names? */
static bool
is_in_block(struct thread *t, uint64_t slot)
{
    const struct stack_block *b = block_at(t->thread_pointer, load_relaxed(&state->block_off));

    if (b == NULL || slot >= t->thread_pointer || !is_block_of(b, slot, t->thread_pointer))
        return false;
    t->stack_low = b->start + b->guard_bytes;
    t->stack_high = round_down(t->thread_pointer, 8);
    return true;
}

/* The end of what can be read from FROM on, up to HIGH and a limit. What is known of a foreign
 * stack may be out of date, which does not matter for frames that are there, but a guess may point
 * anywhere. */
static uint64_t
readable_until(uint64_t from, uint64_t high)
{
    uint64_t end = from;

    for (uint32_t i = 0; i < DOUBTFUL_PAGES && end < high; i++) {
        if (!sys_is_readable(end))
            break;
        end = round_down(end, PAGE_BYTES) + PAGE_BYTES;
    }
    return end < high ? end : high;
}

bool
bounds_own_stack(struct thread *t, uint64_t slot)
{
    uint64_t low, high;

    if (t->thread_pointer != 0 && is_in_block(t, slot))
        return true;
    // The main thread's first event was on another stack.
    if (t->stack_low == 0 && on_main_stack(slot)) {
        take_main_stack(t);
        return true;
    }
    for (uint32_t i = 0; i < FOREIGN_STACKS; i++)
        if (slot >= t->foreign[i].low && slot < t->foreign[i].high)
            return false;
    if (!find_mapping(t, slot, &low, &high)) {
        // No /proc, as in a bare chroot: what can be read around here.
        low = round_down(slot, PAGE_BYTES);
        high = readable_until(low, UINT64_MAX);
        if (high <= slot)
            return false;
    }
    if (t->thread_pointer > low && t->thread_pointer < high && slot < t->thread_pointer) {
        t->stack_low = low;
        t->stack_high = round_down(t->thread_pointer, 8);
        if (load_relaxed(&state->block_off) == 0)
            learn_block_off(t, low);
        return true;
    }
    t->foreign[t->foreign_next].low = low;
    t->foreign[t->foreign_next].high = high;
    t->foreign_next = (t->foreign_next + 1) % FOREIGN_STACKS;
    return false;
}

/* An interrupted function may still own what lies in the red zone below: between the pop of a
 * register and its return the tables say that it is there. One that has overflowed the stack has
 * its rsp below it. */
bool
bounds_at(struct thread *t, uint64_t sp, bool exact, bool doubtful, struct unwind_bounds *ret)
{
    uint64_t low = exact ? sp - RED_ZONE_BYTES : sp;

    if ((sp >= t->stack_low && sp < t->stack_high) || bounds_own_stack(t, sp)) {
        *ret = (struct unwind_bounds){low, t->stack_high};
        return true;
    }
    for (uint32_t i = 0; i < FOREIGN_STACKS; i++) {
        if (sp >= t->foreign[i].low && sp < t->foreign[i].high) {
            uint64_t high = t->foreign[i].high;

            *ret = (struct unwind_bounds){low, doubtful ? readable_until(sp, high) : high};
            return true;
        }
    }
    if (exact && t->stack_low == 0 && on_main_stack(sp + OVERFLOW_BYTES))
        take_main_stack(t);
    *ret = (struct unwind_bounds){t->stack_low, t->stack_high};
    return exact && sp < t->stack_low && t->stack_low - sp < OVERFLOW_BYTES;
}
