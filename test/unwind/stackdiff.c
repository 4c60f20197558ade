/* stackdiff.c: compare the unwinder with libunwind and libgcc, on at least 100,000 real stacks.
 *
 * An event is a call of diff_sample from the workload, from malloc or from a signal handler. At
 * each event, five walkers walk the stack:
 *
 *     recorder  walk.c, compared in stackdiff_recorder.c
 *     rule      another that is like it: cached rules over rsp and rbp, stepping where none can
 *     step      unwind_step all the way
 *     libunwind its step interface on the local process
 *     libgcc    _Unwind_Backtrace, asked of libgcc_s itself: libunwind exports the same names
 *
 * Stacks are compared from diff_sample's caller outwards, word by word: as raw return addresses and
 * interrupted pcs, without the adjustment for lookups.
 *
 * These classes of differences are permitted. Except for rsp-rule, they were defined before the
 * first run:
 *
 *     end-of-stack  The others report one frame more or less at the outer end: whether the frame
 *                   above _start or of a thread's start is a frame is a matter of convention. A pc
 *                   of 0 at the end is dropped before comparing.
 *     no-table      Our walks stopped at code that no table covers; libunwind continues by
 *                   guessing through rbp. Everything up to there must be equal. At most one event
 *                   in 100 may have this difference (usual is one in 2,000): if tables were not
 *                   found, every walk would stop like this.
 *     rsp-rule      libunwind takes the CFA for the caller's rsp in a frame whose table gives rsp
 *                   another rule (libc's longjmp while it restores registers), and libgcc agrees
 *                   with us. Added after the first runs had shown it.
 *     signal-pc     The interrupted pc of a signal frame is off by one. (Seen so far: never.)
 *
 * Any other difference fails the test; the first few are printed with both stacks. The test also
 * fails if a kind of rule never occurred, because that kind was not tested.
 *
 * Link with -lgcc_s before -lunwind. Otherwise, libunwind also throws the C++ exceptions; no table
 * describes how it restores registers, so walks from inside libunwind are wrong.
 *
 * Usage: diff [EVENTS]. Prints one line at the end; the exit status is 1 if there was a difference
 * that is not permitted. */
#include "stackdiff.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "platform/arch_x86_64.h"
#include "unwind/cfi.h"
#include "unwind/unwind.h"

enum {
    FRAMES_MAX = 512,
    CACHE_SIZE = 4096,
    SHOWN_MAX = 5,
    EVENTS_PER_NO_TABLE = 100,
};

struct walk {
    const char *name;
    unsigned count;
    enum walk_end end;
    uint64_t pc[FRAMES_MAX];
    bool exact[FRAMES_MAX]; // For `step` only.
};

enum difference {
    DIFF_NONE,
    DIFF_END_OF_STACK,
    DIFF_NO_TABLE,
    DIFF_SIGNAL_PC,
    DIFF_RSP_RULE,
    DIFF_REAL,
    DIFF_CLASSES,
};

static const char *const difference_names[DIFF_CLASSES] = {
    "equal", "end-of-stack", "no-table", "signal-pc", "rsp-rule", "REAL",
};

static const char *const kind_names[] = {
    "none", "rsp", "rbp", "rbp-deref", "signal", "full", "end", "no-table",
};

struct cache_entry {
    uint64_t lookup;
    struct unwind_rule rule;
};

struct sampler {
    bool sampling;
    bool inside;
    struct unwind_bounds bounds;
    struct cache_entry cache[CACHE_SIZE];
    struct walk rule, step, libunwind, libgcc;
};

static _Thread_local struct sampler sampler;
static _Unwind_Reason_Code (*libgcc_backtrace)(_Unwind_Trace_Fn, void *);
static _Unwind_Ptr (*libgcc_ip)(struct _Unwind_Context *);
static atomic_ulong events, frames_seen, bad_walks, steps_for_full;
static atomic_ulong differences[DIFF_CLASSES];
static atomic_ulong kinds[countof(kind_names)];
static atomic_uint shown;

static void
stackdiff_push(struct walk *w, uint64_t pc)
{
    w->pc[w->count++] = pc;
}

static struct unwind_rule
cached_rule(uint64_t lookup)
{
    struct cache_entry *e = &sampler.cache[(lookup * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
    struct unwind_object object;

    if (e->rule.kind != RULE_NONE && e->lookup == lookup)
        return e->rule;
    e->lookup = lookup;
    e->rule = (struct unwind_rule){.kind = RULE_NO_TABLE};
    if (unwind_find_object(lookup, &object))
        e->rule = unwind_compile(lookup, &object);
    atomic_fetch_add(&kinds[e->rule.kind], 1);
    return e->rule;
}

static bool
read_word(uint64_t address, uint64_t *ret_word)
{
    const struct unwind_bounds *b = &sampler.bounds;

    if (address < b->low || address > b->high - 8)
        return false;
    memcpy(ret_word, (const void *)(uintptr_t)address, 8);
    return true;
}

struct frame {
    uint64_t rsp, pc, rbp;
    bool exact;
};

/* Step out of F by RULE, whose kind must be a kind that needs only rsp and rbp. */
static bool
apply(const struct unwind_rule *rule, struct frame *f)
{
    uint64_t offset = (uint64_t)(int64_t)rule->cfa_offset;
    uint64_t saved = (uint64_t)(int64_t)rule->rbp_words * 8;
    uint64_t cfa = (rule->kind == RULE_RSP ? f->rsp : f->rbp) + offset;
    uint64_t rbp = f->rbp;

    if (rule->kind == RULE_RBP_DEREF) {
        if (!read_word(cfa, &cfa) || !read_word(f->rbp + saved, &rbp))
            return false;
    } else if (saved && !read_word(cfa + saved, &rbp)) {
        return false;
    }
    if (cfa <= f->rsp || !read_word(cfa - 8, &f->pc))
        return false;
    f->rsp = cfa;
    f->rbp = rbp;
    f->exact = false;
    return true;
}

/* Step R, which has made *STEPPED steps, until it has made TARGET steps. */
static enum unwind_step_result
catch_up(struct unwind_registers *r, unsigned *stepped, unsigned target)
{
    enum unwind_step_result result = UNWIND_STEPPED;

    while (result == UNWIND_STEPPED && *stepped < target) {
        result = unwind_step(r, &sampler.bounds);
        ++*stepped;
        atomic_fetch_add(&steps_for_full, 1);
    }
    return result;
}

static enum walk_end
stackdiff_end_of(enum unwind_step_result result)
{
    return result == UNWIND_END ? END_WHOLE : result == UNWIND_NO_TABLE ? END_NO_TABLE : END_BAD;
}

static struct frame
frame_of(const struct unwind_registers *r)
{
    return (struct frame){r->r[UNWIND_RSP], r->r[UNWIND_PC], r->r[UNWIND_RBP], r->exact};
}

static enum walk_end
walk_rules(struct unwind_registers r, struct walk *w)
{
    struct frame f = frame_of(&r);
    bool rbp_known = true;
    unsigned stepped = 0;

    while (f.pc != 0) {
        struct unwind_rule rule = cached_rule(f.pc - !f.exact);

        if (w->count == FRAMES_MAX)
            return END_LIMIT;
        stackdiff_push(w, f.pc);
        if (rule.kind == RULE_END)
            break;
        if (rule.kind == RULE_NO_TABLE)
            return END_NO_TABLE;
        if (rule.kind == RULE_FULL || rule.kind == RULE_SIGNAL || !rbp_known) {
            enum unwind_step_result result = catch_up(&r, &stepped, w->count);

            if (result != UNWIND_STEPPED)
                return stackdiff_end_of(result);
            f = frame_of(&r);
            rbp_known = r.valid >> UNWIND_RBP & 1;
        } else if (!apply(&rule, &f)) {
            return END_BAD;
        }
    }
    return END_WHOLE;
}

static enum walk_end
walk_steps(struct unwind_registers r, struct walk *w)
{
    enum unwind_step_result result;

    do {
        if (w->count == FRAMES_MAX)
            return END_LIMIT;
        w->exact[w->count] = r.exact;
        stackdiff_push(w, r.r[UNWIND_PC]);
        result = unwind_step(&r, &sampler.bounds);
    } while (result == UNWIND_STEPPED);
    return stackdiff_end_of(result);
}

static enum walk_end
stackdiff_walk_libunwind(uint64_t first, struct walk *w)
{
    unw_context_t context;
    unw_cursor_t cursor;
    int result;

    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    do {
        unw_word_t pc;

        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        if (w->count == FRAMES_MAX)
            return END_LIMIT;
        if (w->count > 0 || pc == first)
            stackdiff_push(w, pc);
        result = unw_step(&cursor);
    } while (result > 0);
    return result == 0 ? END_WHOLE : END_BAD;
}

struct libgcc_walk {
    struct walk *w;
    uint64_t first;
};

static _Unwind_Reason_Code
stackdiff_libgcc_frame(struct _Unwind_Context *context, void *arg)
{
    struct libgcc_walk *l = arg;
    uint64_t pc = libgcc_ip(context);

    if (l->w->count == FRAMES_MAX) {
        l->w->end = END_LIMIT;
        return _URC_END_OF_STACK;
    }
    if (l->w->count > 0 || pc == l->first)
        stackdiff_push(l->w, pc);
    return _URC_NO_REASON;
}

static void
walk_libgcc(uint64_t first, struct walk *w)
{
    struct libgcc_walk l = {w, first};

    w->end = END_WHOLE;
    libgcc_backtrace(stackdiff_libgcc_frame, &l);
}

static void
print_walk(const struct walk *w)
{
    fprintf(stderr, "  %s: %u frames, end %d\n", w->name, w->count, (int)w->end);
    for (unsigned i = 0; i < w->count && i < 40; i++) {
        Dl_info info = {0};

        dladdr((void *)(uintptr_t)w->pc[i], &info);
        fprintf(stderr, "    %2u %#lx %s %s+%#lx\n", i, (unsigned long)w->pc[i],
                info.dli_fname ? info.dli_fname : "?", info.dli_sname ? info.dli_sname : "?",
                (unsigned long)(w->pc[i] - (uintptr_t)info.dli_saddr));
    }
}

static enum difference
classify(const struct walk *ours, const struct walk *other)
{
    unsigned shared = ours->count < other->count ? ours->count : other->count;
    enum difference d = DIFF_NONE;

    for (unsigned i = 0; i < shared; i++) {
        if (ours->pc[i] == other->pc[i])
            continue;
        if (ours->pc[i] - other->pc[i] + 1 > 2)
            return DIFF_REAL;
        d = DIFF_SIGNAL_PC;
    }
    if (ours->count == other->count || ours->end == END_LIMIT)
        return d;
    if (ours->end == END_NO_TABLE && other->count > ours->count)
        return DIFF_NO_TABLE;
    if (ours->end == END_WHOLE && ours->count + 1 - other->count <= 2)
        return DIFF_END_OF_STACK;
    return DIFF_REAL;
}

/* Return true if some frame of W has a table that gives rsp explicitly. */
static bool
has_rsp_rule(const struct walk *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        struct unwind_object object;
        struct cfi_row row;

        if (unwind_find_object(w->pc[i], &object) &&
            cfi_row_at(w->pc[i], &object, &row) == CFI_FOUND && !row.signal &&
            row.reg[UNWIND_RSP].how != CFI_UNSET)
            return true;
    }
    return false;
}

static void
stackdiff_count(enum difference d, const struct walk *ours, const struct walk *other)
{
    atomic_fetch_add(&differences[d], 1);
    if (d == DIFF_REAL && atomic_fetch_add(&shown, 1) < SHOWN_MAX) {
        fprintf(stderr, "difference:\n");
        print_walk(ours);
        print_walk(other);
    }
}

static void
stackdiff_compare(const struct sampler *s)
{
    enum difference step = classify(&s->rule, &s->step);
    enum difference libunwind = classify(&s->rule, &s->libunwind);
    enum difference libgcc = classify(&s->rule, &s->libgcc);

    // heaptap's two walks must not differ, not even in their ends.
    if (step != DIFF_NONE || s->rule.end != s->step.end)
        step = DIFF_REAL;
    if (libunwind == DIFF_REAL && libgcc == DIFF_NONE && has_rsp_rule(&s->rule))
        libunwind = DIFF_RSP_RULE;
    stackdiff_count(step, &s->rule, &s->step);
    stackdiff_count(libunwind, &s->rule, &s->libunwind);
    stackdiff_count(libgcc, &s->rule, &s->libgcc);
}

static void
compare_recorder(const struct sampler *s, struct arch_caller caller)
{
    const struct walk *w = &s->step;
    struct diff_stack wanted = {w->count, w->end, w->pc, w->exact};

    if (recorder_agrees(caller.slot, caller.rbp, &wanted))
        return;
    atomic_fetch_add(&differences[DIFF_REAL], 1);
    if (atomic_fetch_add(&shown, 1) < SHOWN_MAX) {
        fprintf(stderr, "difference: the recorder's walk is not\n");
        print_walk(w);
    }
}

static void
stackdiff_reset(struct walk *w, const char *name)
{
    w->name = name;
    w->count = 0;
    w->end = END_WHOLE;
}

static void
drop_final_zero(struct walk *w)
{
    if (w->count > 0 && w->pc[w->count - 1] == 0)
        w->count--;
}

static void
stackdiff_walk_all(const struct unwind_registers *caller, uint64_t first)
{
    struct sampler *s = &sampler;

    stackdiff_reset(&s->rule, "rule");
    stackdiff_reset(&s->step, "step");
    stackdiff_reset(&s->libunwind, "libunwind");
    stackdiff_reset(&s->libgcc, "libgcc");
    s->rule.end = walk_rules(*caller, &s->rule);
    s->step.end = walk_steps(*caller, &s->step);
    s->libunwind.end = stackdiff_walk_libunwind(first, &s->libunwind);
    walk_libgcc(first, &s->libgcc);
    drop_final_zero(&s->libunwind);
    drop_final_zero(&s->libgcc);
    stackdiff_compare(s);
    atomic_fetch_add(&frames_seen, s->rule.count);
    if (s->rule.end == END_BAD)
        atomic_fetch_add(&bad_walks, 1);
}

NOINLINE void
diff_sample(void)
{
    struct unwind_registers r;
    uint64_t first = (uint64_t)(uintptr_t)__builtin_return_address(0);
    int saved_errno = errno;

    if (!sampler.sampling || sampler.inside)
        return;
    sampler.inside = true;
    unwind_capture(&r);
    // Walks start at the caller, one step out of this function.
    if (unwind_step(&r, &sampler.bounds) != UNWIND_STEPPED || r.r[UNWIND_PC] != first) {
        atomic_fetch_add(&differences[DIFF_REAL], 1);
        fprintf(stderr, "difference: cannot step out of diff_sample\n");
    } else {
        stackdiff_walk_all(&r, first);
        compare_recorder(&sampler, ARCH_CALLER());
    }
    atomic_fetch_add(&events, 1);
    sampler.inside = false;
    errno = saved_errno;
}

void
diff_begin(uint64_t low, uint64_t high)
{
    sampler.bounds = (struct unwind_bounds){low, high, NULL};
    recorder_begin();
    sampler.sampling = true;
}

void
diff_stop(void)
{
    sampler.sampling = false;
    recorder_stop();
}

struct diff_bounds
diff_set_bounds(struct diff_bounds bounds)
{
    struct diff_bounds old = {sampler.bounds.low, sampler.bounds.high};

    sampler.bounds = (struct unwind_bounds){bounds.low, bounds.high, NULL};
    return old;
}

void
diff_flush(void)
{
    sampler.inside = true;
    memset(sampler.cache, 0, sizeof sampler.cache);
    unw_flush_cache(unw_local_addr_space, 0, 0);
    recorder_flush();
    sampler.inside = false;
}

/* The program defines malloc and samples in it, so it needs glibc's functions under their internal
 * names. This is the recorder's situation, with the dynamic linker's frames among its callers. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

void *
malloc(size_t size)
{
    diff_sample();
    return __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
    diff_sample();
    return __libc_calloc(count, size);
}

void *
realloc(void *block, size_t size)
{
    diff_sample();
    return __libc_realloc(block, size);
}

static int
stackdiff_report(void)
{
    int status = differences[DIFF_REAL] != 0;

    printf("events %lu  frames %lu  differences:", events, frames_seen);
    for (int d = DIFF_NONE; d < DIFF_CLASSES; d++)
        printf(" %s %lu", difference_names[d], differences[d]);
    printf("  bad walks %lu  steps for full %lu  rules:", bad_walks, steps_for_full);
    for (unsigned k = RULE_RSP; k < countof(kind_names); k++) {
        printf(" %s %lu", kind_names[k], kinds[k]);
        if (kinds[k] == 0)
            status = 1;
    }
    if (!recorder_report())
        status = 1;
    printf("\n");
    if (differences[DIFF_NO_TABLE] * EVENTS_PER_NO_TABLE > events) {
        fprintf(stderr, "difference: too many walks stopped for want of a table\n");
        status = 1;
    }
    return status;
}

static void
find_libgcc(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW);

    *(void **)&libgcc_backtrace = library ? dlsym(library, "_Unwind_Backtrace") : NULL;
    *(void **)&libgcc_ip = library ? dlsym(library, "_Unwind_GetIP") : NULL;
    if (!libgcc_backtrace || !libgcc_ip) {
        fprintf(stderr, "diff: libgcc_s.so.1 or a function of it is missing: %s\n", dlerror());
        exit(2);
    }
}

int
main(int argc, char **argv)
{
    unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    pthread_attr_t attributes;
    void *stack;
    size_t size;

    find_libgcc();
    recorder_start();
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
    diff_begin((uint64_t)(uintptr_t)stack, (uint64_t)(uintptr_t)stack + size);
    for (unsigned seed = 1; events < wanted; seed++)
        workload_round(seed);
    diff_stop();
    return stackdiff_report();
}
