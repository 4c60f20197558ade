/* bounds.c: finds where stacks are, and which of their words a walk may read.
 *
 * The main thread's stack ends where the kernel put the program's arguments and may grow down to
 * its limit. Another thread's stack ends at its thread control block if glibc allocated it. Raw
 * system calls read /proc/thread-self/maps to confirm these bounds. Reading gets slower with more
 * threads, so it stops when it has shown where glibc stores the bounds in the control block.
 *
 * While a thread is alive, its own stack is mapped from the running function up to the stack's end.
 * A walk that begins on the thread's own stack reads it without a check.
 *
 * Any other stack (a coroutine's, a signal handler's) may have disappeared since the latest event.
 * The program may have unmapped it by a raw system call and mapped a smaller one in its place. So
 * no event trusts the bounds from an earlier event: each walk proves that the pages are readable
 * before it reads them.
 *
 *     here                slot                                          a hole, or the limit
 *     | recorder's frames | caller's frames ...    :                    :
 *     [--- mapped: code runs on it ---------- page)[- page)[- page) ... |
 *                                                  one system call each
 *
 * The recorder runs on the pages up to the caller's return address, so these are mapped. Most walks
 * need no more. When a frame reaches further, sys_is_readable proves each further page, including
 * those in between. So no frame reaches across a guard page into another stack. A walk by wrong
 * unwind tables or wild frame pointers ends at the first hole. Limits bound the number of pages.
 *
 * If a signal has interrupted a third stack, the proof starts again on that stack. On the thread's
 * own stack, the whole part outwards from the memo's innermost frame is mapped.
 *
 * Limit: a page that another thread unmaps between its proof and its read still faults. This can
 * happen only to a walk that wrong tables lead into memory of that thread.
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
#include "stack/stack_state.h"

enum {
    RED_ZONE_BYTES = 128,
    PAGE_BYTES = BOUNDS_PAGE_BYTES,
    OVERFLOW_BYTES = 1 << 20, // Maximum distance of an overflow below the stack.
    // Bytes of stack that the start of a process or thread uses: _start, the dynamic linker's first
    // instructions, and musl's functions between _start or clone and the program's code. Less than
    // the frames of glibc's __libc_start_main.
    START_BYTES = 128,
    // Maximum distance upwards that a frame may reach on a stack other than the thread's own.
    FRAME_BYTES = 512 * PAGE_BYTES,
    WALK_PAGES = 4096, // Maximum number of pages to prove in one walk.
};

#define STACK_GROWTH_MAX ((uint64_t)1 << 30)

/* Find the mapping that contains ADDRESS in /proc/thread-self/maps. Return false if there is none
 * or the file is unreadable. /proc/self is unsuitable: it is empty after the main thread has left
 * by pthread_exit. */
static bool
find_mapping(struct thread *t, uint64_t address, uint64_t *ret_low, uint64_t *ret_high)
{
    char *buffer = t->text; // A buffer outside the stack, which may be a signal handler's small
                            // one.
    size_t kept = 0;
    uint64_t off = 0;
    bool found = false;
    bool in_rest = false; // True if the text continues a line that is longer than the buffer.
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
            in_rest = true; // Skip the rest of a long line: a path may be that long, and contain
                            // text that looks like an address.
        }
        __builtin_memmove(buffer, line, kept);
    }
    if (fd >= 0)
        sys_close(fd);
    return found;
}

/* Return the number of bytes that the main stack may grow. The kernel lays out the address space by
 * the limit at the time of exec. A limit raised later has no effect: the addresses below may be in
 * use by then. */
static uint64_t growth_bytes;

__attribute__((constructor)) static void
note_growth(void)
{
    uint64_t limit = sys_limit(RLIMIT_STACK);

    if (growth_bytes == 0)
        growth_bytes = limit < STACK_GROWTH_MAX ? limit : STACK_GROWTH_MAX;
}

/* Store the size and alignment of the program's thread-local variables. */
static void
note_tls(void)
{
    const Elf64_Phdr *s = (const Elf64_Phdr *)(uintptr_t)process_value(AT_PHDR);

    for (uint64_t i = 0; s != NULL && i < process_value(AT_PHNUM); i++) {
        if (s[i].p_type == PT_TLS) {
            stack_state()->tls_bytes = s[i].p_memsz;
            stack_state()->tls_align = s[i].p_align;
        }
    }
}

void
bounds_process_begins(void)
{
    note_growth(); // The first event may precede the constructors.
    // The bytes of AT_RANDOM are above the first frame, in the stack's mapping.
    stack_state()->stack_top = round_down(process_value(AT_RANDOM), 8);
    stack_state()->stack_limit =
        stack_state()->stack_top > growth_bytes ? stack_state()->stack_top - growth_bytes : 0;
    stack_state()->stack_start = process_stack_start();
    note_tls();
}

/* glibc's code that starts a thread has unwind tables. musl's has none. Its stack begins below the
 * thread-local variables, which end at the thread control block, and below the padding that aligns
 * them. */
COLD bool
bounds_is_outermost(const struct thread *t, uint64_t slot)
{
    const struct stack_state *s = stack_state();

    if (t->thread_pointer == 0)
        return s->stack_start - slot < START_BYTES;
    return t->thread_pointer - s->tls_bytes - slot < START_BYTES + 4 * s->tls_align;
}

static bool
on_main_stack(uint64_t slot)
{
    return slot >= stack_state()->stack_limit && slot < stack_state()->stack_top;
}

static void
take_main_stack(struct thread *t)
{
    t->stack_low = stack_state()->stack_limit;
    t->stack_high = stack_state()->stack_top;
    t->thread_pointer = 0;
}

void
bounds_thread_begins(struct thread *t)
{
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    uint64_t pointer = arch_thread_pointer();

    t->stack_sought = false;
    if (on_main_stack(here)) {
        take_main_stack(t);
        return;
    }
    // glibc reuses the stacks of ended threads, so an equal control block means an equal stack.
    if (t->thread_pointer != pointer || here < t->stack_low || here >= t->stack_high)
        t->stack_low = t->stack_high = 0;
    t->thread_pointer = pointer;
}

/* glibc's record of a stack's bounds, at an undocumented offset in the thread control block. */
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

/* Return the address of the control block's words at POINTER + OFF if they are certainly mapped,
 * else NULL. If glibc allocated the stack, the words are in the page of POINTER. A control block
 * that glibc did not allocate may end anywhere. */
static const struct stack_block *
bounds_block_at(uint64_t pointer, uint32_t off)
{
    uint64_t at = pointer + off;

    if (off == 0 || at / PAGE_BYTES != pointer / PAGE_BYTES ||
        (at + sizeof(struct stack_block) - 1) / PAGE_BYTES != pointer / PAGE_BYTES)
        return NULL;
    return (const struct stack_block *)(uintptr_t)at;
}

/* Find the words of the control block that contain the bounds of T's stack, which begins at LOW. */
static void
learn_block_off(struct thread *t, uint64_t low)
{
    const struct stack_block *b;

    for (uint32_t off = 8; (b = bounds_block_at(t->thread_pointer, off)) != NULL; off += 8)
        if (b->guard_bytes != 0 && b->start + b->guard_bytes == low &&
            is_block_of(b, low, t->thread_pointer))
            store_relaxed(&stack_state()->block_off, off);
}

/* Return true if SLOT is on the stack that T's control block describes, and store the stack's
 * bounds in T. */
static bool
is_in_block(struct thread *t, uint64_t slot)
{
    const struct stack_block *b =
        bounds_block_at(t->thread_pointer, load_relaxed(&stack_state()->block_off));

    if (b == NULL || slot >= t->thread_pointer || !is_block_of(b, slot, t->thread_pointer))
        return false;
    t->stack_low = b->start + b->guard_bytes;
    t->stack_high = round_down(t->thread_pointer, 8);
    return true;
}

/* Return the end of the readable pages that begin at FROM, the start of a page. The result is at
 * most END. */
static uint64_t
readable_until(uint64_t from, uint64_t end)
{
    while (from < end && sys_is_readable(from))
        from += PAGE_BYTES;
    return from < end ? from : end;
}

/* Return true if SLOT is a short distance below the control block, or below the known part of the
 * stack, with only readable pages in between. This is a fallback if /proc is missing, as in a bare
 * chroot. */
static bool
is_shortly_below(const struct thread *t, uint64_t slot)
{
    uint64_t end = slot < t->stack_low ? t->stack_low : t->thread_pointer;

    return slot < end && end - slot < BOUNDS_DOUBTFUL_BYTES &&
           readable_until(round_down(slot, PAGE_BYTES), end) == end;
}

/* Return true if SLOT is on T's stack, which is the part of the control block's mapping below the
 * block. The main thread's control block is in another mapping. */
static COLD bool
seek_own_stack(struct thread *t, uint64_t slot)
{
    uint64_t low = round_down(slot, PAGE_BYTES), high;

    t->stack_sought = find_mapping(t, t->thread_pointer, &low, &high);
    if (t->stack_sought && load_relaxed(&stack_state()->block_off) == 0)
        learn_block_off(t, low);
    if (is_in_block(t, slot))
        return true;
    if (sys_gettid() == sys_getpid() || (!t->stack_sought && !is_shortly_below(t, slot)))
        return false;
    t->stack_low = low;
    t->stack_high = round_down(t->thread_pointer, 8);
    return slot >= low && slot < t->stack_high;
}

bool
bounds_own_stack(struct thread *t, uint64_t slot)
{
    if (t->thread_pointer != 0 && is_in_block(t, slot))
        return true;
    // stack_high is 0 if the main thread's first event was on another stack.
    if (t->stack_high == 0 && on_main_stack(slot)) {
        take_main_stack(t);
        return true;
    }
    return t->thread_pointer != 0 && !t->stack_sought && seek_own_stack(t, slot);
}

/* Prove that the page at PAGE is readable. */
static bool
prove(struct bounds *b, uint64_t page)
{
    if (b->pages_left == 0 || !sys_is_readable(page))
        return false;
    b->pages_left--;
    return true;
}

static bool
bounds_extend(struct unwind_reach *reach, uint64_t address)
{
    struct bounds *b = (struct bounds *)((char *)reach - offsetof(struct bounds, reach));

    // Include the page below, where the red zone of an interrupted function may begin.
    if (address < reach->low) {
        if (!prove(b, reach->low - PAGE_BYTES))
            return false;
        reach->low -= PAGE_BYTES;
    }
    for (; reach->high < address + 8; reach->high += PAGE_BYTES)
        if (!prove(b, reach->high))
            return false;
    return true;
}

/* Restart the proof at the page of SP. */
static bool
reach_from(struct bounds *b, uint64_t sp)
{
    uint64_t page = round_down(sp, PAGE_BYTES);

    if (!prove(b, page))
        return false;
    b->reach.low = page;
    b->reach.high = page + PAGE_BYTES;
    return true;
}

static inline bool
bounds_is_own(const struct thread *t, uint64_t sp)
{
    return sp >= t->stack_low && sp < t->stack_high;
}

void
bounds_begin(struct bounds *b, struct thread *t, uint64_t sp, uint64_t slot)
{
    uint64_t inner = t->memo_count > 0 ? t->memo[t->memo_count].slot : 0;

    b->t = t;
    b->pages_left = WALK_PAGES;
    b->reach.low = round_down(sp, PAGE_BYTES);
    b->reach.high = round_up(slot + 8, PAGE_BYTES);
    b->reach.extend = bounds_extend;
    if (bounds_is_own(t, slot) || bounds_own_stack(t, slot))
        b->own_low = sp;
    else
        b->own_low = bounds_is_own(t, inner) ? inner : t->stack_high;
}

/* Set *RET to the bounds for a function that has overflowed the thread's own stack, so that its
 * rsp, SP, is below the mapped part. Search the lowest mapped page. */
static COLD bool
bounds_of_overflow(struct bounds *b, uint64_t sp, struct unwind_bounds *ret)
{
    struct thread *t = b->t;
    uint64_t page;

    if (t->stack_high == 0 && on_main_stack(sp + OVERFLOW_BYTES)) {
        take_main_stack(t);
        b->own_low = t->stack_high;
    }
    if (sp >= t->stack_high || sp + OVERFLOW_BYTES <= t->stack_low)
        return false;
    page = round_down(sp > t->stack_low ? sp : t->stack_low, PAGE_BYTES);
    for (; page < b->own_low && page < sp + OVERFLOW_BYTES; page += PAGE_BYTES) {
        if (reach_from(b, page)) {
            *ret = (struct unwind_bounds){page, t->stack_high, &b->reach};
            return true;
        }
    }
    *ret = (struct unwind_bounds){b->own_low, t->stack_high, NULL};
    return page >= b->own_low && page < t->stack_high;
}

/* Set *RET to the readable bounds at SP. The bounds for an interrupted function include the red
 * zone, which may still contain its saved registers: between the pop of a register and the return,
 * the tables locate that register in the red zone. */
bool
bounds_at(struct bounds *b, uint64_t sp, bool exact, bool uncertain, struct unwind_bounds *ret)
{
    const struct thread *t = b->t;
    uint64_t low = exact ? sp - RED_ZONE_BYTES : sp;
    uint64_t high = t->stack_high;

    if (sp >= b->own_low && sp < high) {
        *ret = (struct unwind_bounds){low, high, NULL};
        return true;
    }
    if ((sp < b->reach.low || sp > b->reach.high) && !reach_from(b, sp))
        return exact && bounds_of_overflow(b, sp, ret);
    if (!bounds_is_own(t, sp))
        high = b->reach.high + (uint64_t)(uncertain ? BOUNDS_DOUBTFUL_BYTES : FRAME_BYTES);
    *ret = (struct unwind_bounds){low, high, &b->reach};
    return true;
}
