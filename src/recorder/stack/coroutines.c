/* coroutines.c: remembers stacks other than the thread's own.
 *
 * A thread's own stack is mapped while the thread runs, so stack.c reads remembered words of it
 * without a check. Any other stack may be unmapped between two events, by a raw system call, and a
 * smaller one mapped in its place. So each event proves the pages of such a stack again before it
 * compares words of them. The proof needs to know where the stack ends:
 *
 *     page of malloc's caller      pages[hash]: {page, end}                        end
 *     [--------- slot -----------)[- page)[- page)[- page)  …  [- outermost frame -)
 *      mapped: code runs on it     sys_is_readable, one call each
 *
 * At the first event on a page, the stack is walked completely (walk_full), which proves the pages
 * on which its frames lie. The end of the last of these pages is stored in `pages`, under the page
 * of malloc's caller. The next event on that page proves the pages up to this end. If one is
 * unreadable, the stack is walked completely again. Otherwise another struct thread serves as the
 * memo. [slot, end) is its "own stack", where stack.c finds the stack with rules, a memo and
 * variant stacks, as it does for the thread's own.
 *
 * Stacks, identified by their ends, get the MEMOS memos in turn, so a few deep coroutines that
 * alternate keep their memos. If there are more coroutines, several share a memo; shallow stacks
 * are then found among its variant stacks. So a memo and its variant stacks may reach beyond the
 * present end. Two conditions keep reads inside [slot, end):
 *
 *     - the memo is dropped if it overlaps this range and was made with a larger end. If it does
 *       not overlap, no walk in the range joins it, because a walk joins the memo only at a frame
 *       with the same slot;
 *     - a variant stack is compared only if its outermost check is below the end (stack.c).
 *
 * Checks are compared from the innermost frame out, and each proves that the next one is a word of
 * the same stack. So an event reads no word beyond the first frame that has changed, and bounds.c's
 * limit does not become worse: a page that another thread unmaps right after the proof is read only
 * if wrong tables lead there.
 *
 * A frame that needs more than a rule (a signal's, code without tables) leads to a complete walk
 * each time. So does a thread whose stacks get frames of languages, which need the thread's own
 * memo. */
#include "stack/coroutines.h"

#include "account/account_state.h"
#include "base/atomics.h"
#include "platform/mem.h"
#include "platform/sys.h"
#include "stack/bounds.h"
#include "stack/memo.h"
#include "stack/path_ids.h"
#include "stack/walk.h"

enum {
    PAGES_NOTED = 256, // A power of two.
    MEMOS = 8,
};

struct coroutine_memo {
    struct thread thread; // Only the fields that stack.c uses.
    uint64_t memo_end;    // Upper bound of the addresses in its memo.
};

struct coroutines {
    struct coroutine_memo *memos[MEMOS]; // NULL until needed.
    uint64_t ends[MEMOS];                // The latest stack that got this memo.
    uint32_t next_memo;
    // The memo in use, and its version and end before the event.
    struct coroutine_memo *memo;
    uint64_t version, memo_end;
    struct noted_page {
        uint64_t page; // 0 = unused.
        uint64_t end;
        uint32_t memo;
    } pages[PAGES_NOTED];
};

static struct noted_page *
coroutines_page(struct coroutines *c, uint64_t page)
{
    static_assert(PAGES_NOTED == 1 << (64 - 56), "the hash");
    return &c->pages[(page * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

/* Prove the pages above that of SLOT, up to END. */
static bool
coroutines_prove(uint64_t slot, uint64_t end)
{
    for (uint64_t page = round_up(slot + 8, BOUNDS_PAGE_BYTES); page < end;
         page += BOUNDS_PAGE_BYTES)
        if (!sys_is_readable(page))
            return false;
    return true;
}

/* Return the table of T; NULL without memory. A quiet process proves no page, so it needs none. */
static struct coroutines *
coroutines_table(struct thread *t)
{
    if (unlikely(t->coroutines == NULL) && !t->coroutines_failed && !sys_is_quiet()) {
        t->coroutines = mem_private(sizeof *t->coroutines);
        t->coroutines_failed = t->coroutines == NULL;
    }
    return t->coroutines;
}

static struct coroutine_memo *
coroutines_memo(struct thread *t, struct coroutines *c, uint32_t i)
{
    struct coroutine_memo *m = c->memos[i];

    if (m != NULL || t->coroutines_failed)
        return m;
    m = mem_private(sizeof *m);
    t->coroutines_failed = m == NULL;
    if (m == NULL)
        return NULL;
    m->thread.is_coroutine = true;
    m->thread.disk = t->disk;
    memo_forget(&m->thread);
    return c->memos[i] = m;
}

/* Return the index of the memo for the stack that ends at END. */
static uint32_t
coroutines_index(struct coroutines *c, uint64_t end)
{
    uint32_t i = 0;

    while (i < MEMOS && c->ends[i] != end)
        i++;
    if (i < MEMOS)
        return i;
    i = c->next_memo++ % MEMOS;
    c->ends[i] = end;
    return i;
}

/* Make [SLOT, END) the own stack of M. */
static void
coroutines_begin(struct coroutine_memo *m, uint64_t slot, uint64_t end)
{
    struct thread *t = &m->thread;

    if (unlikely(m->memo_end > end) && t->memo_count > 0 && t->memo[1].slot >= slot &&
        t->memo[t->memo_count].slot < end)
        memo_forget(t);
    if (unlikely(path_ids_are_used_up(t))) {
        memo_forget_all(t);
        path_ids_reset(t);
    }
    t->stack_low = slot;
    t->stack_high = end;
    t->frames_reused = 0;
}

COLD struct thread *
coroutines_enter(struct thread *t, uint64_t slot)
{
    uint64_t page = round_down(slot, BOUNDS_PAGE_BYTES);
    struct coroutines *c = t->coroutines;
    const struct noted_page *p;
    struct coroutine_memo *m;

    if (unlikely(c == NULL) || t->merges || (slot & 7) != 0)
        return NULL;
    p = coroutines_page(c, page);
    if (unlikely(p->page != page) || !coroutines_prove(slot, p->end))
        return NULL;
    m = c->memos[p->memo];
    coroutines_begin(m, slot, p->end);
    c->memo = m;
    c->version = m->thread.memo_version;
    c->memo_end = m->memo_end;
    signal_fence();
    m->memo_end = UINT64_MAX; // A handler may jump out before coroutines_leave.
    return &m->thread;
}

COLD void
coroutines_leave(struct thread *t)
{
    struct coroutines *c = t->coroutines;
    struct coroutine_memo *m = c->memo;

    signal_fence();
    m->memo_end = m->thread.memo_version != c->version ? m->thread.stack_high : c->memo_end;
    t->frames_reused += m->thread.frames_reused;
}

COLD void
coroutines_note(struct thread *t, uint64_t slot)
{
    uint64_t page = round_down(slot, BOUNDS_PAGE_BYTES), end = t->walked_end;
    struct coroutines *c;
    struct noted_page *p;
    uint32_t i;

    if (end == 0 || t->merges || (slot & 7) != 0 || (c = coroutines_table(t)) == NULL ||
        coroutines_memo(t, c, i = coroutines_index(c, end)) == NULL)
        return;
    p = coroutines_page(c, page);
    p->page = 0; // Unused until it is complete: a handler may jump out of here.
    signal_fence();
    p->end = end;
    p->memo = i;
    signal_fence();
    p->page = page;
}

COLD void
coroutines_forget(struct thread *t)
{
    for (uint32_t i = 0; t->coroutines != NULL && i < MEMOS; i++)
        if (t->coroutines->memos[i] != NULL)
            memo_forget_all(&t->coroutines->memos[i]->thread);
}

COLD void
coroutines_forget_code(struct thread *t)
{
    coroutines_forget(t);
    for (uint32_t i = 0; t->coroutines != NULL && i < MEMOS; i++)
        if (t->coroutines->memos[i] != NULL)
            rules_forget(t->coroutines->memos[i]->thread.rules);
}

COLD const struct thread *
coroutines_owner(const struct thread *t, const struct stack_target *target)
{
    for (uint32_t i = 0; t->coroutines != NULL && i < MEMOS; i++) {
        const struct coroutine_memo *m = t->coroutines->memos[i];

        if (m != NULL && (uintptr_t)target - (uintptr_t)m < sizeof *m)
            return &m->thread;
    }
    return t;
}
