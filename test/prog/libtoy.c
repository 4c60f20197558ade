/* cflags: -fno-builtin -fno-optimize-sibling-calls -fno-inline -fno-toplevel-reorder */
/* libtoy.c: a made-up language, its interpreter, and the adapter for it.
 *
 * The interpreter only calls, returns, steps to the next line, throws and allocates, at random. A
 * function of the language runs in the C frame of its caller, or in a new frame of toy_eval, which
 * is called directly or through a C function outside the runtime. The language's frames are in an
 * array. Each has an address in its C frame, or NULL if it shares its caller's C frame.
 *
 * The interpreter records the expected result: at each allocation, it builds the chain of all
 * frames from the allocating C function outwards, with the relevant C frames, and counts that
 * chain. This uses no part of heaptap. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

#include "heaptap/language.h"

enum {
    FRAMES = 1600,
    FUNCTIONS = 5,
    LINES = 4,
    DEPTH_MAX = 14, /* Maximum of nested calls of toy_eval in a shallow program. */
    COUNT_MAX = 96, /* Maximum of frames of the language in a shallow program. */
    TEXT_BYTES = 1 << 16,
    CHAINS = 1 << 18
};

struct toy_frame {
    unsigned function, line;
    const void *at;       /* Address in its C frame; NULL = shares its caller's C frame. */
    const char *native;   /* C frames between this frame and its caller's: "toy_eval", or more. */
};

struct catcher {
    jmp_buf env;
    struct catcher *outer;
    unsigned count;
};

static __thread struct {
    struct toy_frame frames[FRAMES];
    unsigned count, depth;
    unsigned depth_max, count_max;
    /* RISES is true in a stretch with few returns. DEEP is true for a deep program, which
     * alternates between such stretches and stretches with few calls. */
    int rises, deep;
    int flat; /* True if most calls share their caller's C frame. */
    unsigned long random, left;
    const char *via; /* The C function that makes the next call of toy_eval. */
    struct catcher *catcher;
    void *blocks[64];
} toy;

static const char *const names[FUNCTIONS] = {"alpha", "beta", "gamma", "delta", "epsilon"};
static unsigned ids[FUNCTIONS][LINES];

static struct {
    char *text;
    unsigned long count;
} chains[CHAINS];
static char pool[256 << 20];
static size_t pool_used;
static char busy;
static enum toy_adapter how;

static unsigned
chance(unsigned n)
{
    toy.random = toy.random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(toy.random >> 33) % n;
}

/* --- The adapter ------------------------------------------------------------------------------ */

static size_t
frames(struct heaptap_frame *to, size_t max)
{
    size_t n = 0;

    for (unsigned i = toy.count; i > 0 && n < max; i--, n++) {
        const struct toy_frame *f = &toy.frames[i - 1];

        to[n].id = ids[f->function][f->line];
        to[n].extra = f->at != NULL;
        to[n].at = how == TOY_PLACED || how == TOY_PLACED_AGAIN ? 0 : (unsigned long)f->at;
    }
    /* A frame has the address of the frame that began its C frame. */
    for (size_t i = n; i-- > 0;)
        if (to[i].at == 0)
            to[i].at = i + 1 < n ? to[i + 1].at : 0;
    return n;
}

/* Set the addresses of the COUNT frames F. Each run of frames ends with the frame that began a C
 * frame. The first frame of the n-th run gets an address in the n-th C frame of toy_eval, the
 * others get 0. Return 0 if there are too few C frames. */
static int
place_inner(struct heaptap_frame *f, size_t count, const struct heaptap_native *n, size_t natives)
{
    size_t at = 0;
    int begins = 1, all = 1;

    for (size_t i = 0; i < count; i++) {
        f[i].at = 0;
        if (begins) {
            while (at < natives && (n[at].pc <= (unsigned long)toy_eval ||
                                    n[at].pc >= (unsigned long)toy_runtime_ends))
                at++;
            if (at < natives)
                f[i].at = n[at++].slot + 1;
            else
                all = 0;
        }
        begins = f[i].extra != 0;
    }
    return all;
}

static void
place(struct heaptap_frame *f, size_t count, const struct heaptap_native *n, size_t natives)
{
    (void)place_inner(f, count, n, natives);
}

static const struct heaptap_language language = {
    .size = sizeof language,
    .name = "Toy",
    .frames = frames,
};
static const struct heaptap_language language_placed = {
    .size = sizeof language,
    .name = "Toy",
    .frames = frames,
    .place = place,
    .place_inner = place_inner,
};


/* Number of frames in the last answer. */
struct memo {
    size_t count;
};

static size_t
frames_again(struct heaptap_frame *end, void *memo, const unsigned long *notes, size_t *ret_same)
{
    static __thread struct heaptap_frame now[HEAPTAP_FRAMES_MAX];
    size_t n = frames(now, HEAPTAP_FRAMES_MAX), same = 0;
    struct memo *m = memo;

    (void)notes;
    while (same < n && same < m->count &&
           memcmp(&end[-1 - (long)same], &now[n - 1 - same], sizeof *now) == 0)
        same++;
    m->count = n;
    // Keep the unchanged outer frames and write the others again.
    memcpy(end - n, now, (n - same) * sizeof *now);
    *ret_same = same;
    return n;
}

static const struct heaptap_language language_again = {
    .size = sizeof language,
    .name = "Toy",
    .frames_again = frames_again,
    .memo_bytes = sizeof(struct memo),
};
static const struct heaptap_language language_placed_again = {
    .size = sizeof language,
    .name = "Toy",
    .place = place,
    .place_inner = place_inner,
    .frames_again = frames_again,
    .memo_bytes = sizeof(struct memo),
};

int
toy_begin(enum toy_adapter adapter)
{
    static const struct heaptap_language *const adapters[] = {
        [TOY_PLAIN] = &language,
        [TOY_PLACED] = &language_placed,
        [TOY_AGAIN] = &language_again,
        [TOY_PLACED_AGAIN] = &language_placed_again,
    };
    char file[] = "toy.toy";

    how = adapter;
    for (unsigned f = 0; f < FUNCTIONS; f++)
        for (unsigned l = 0; l < LINES; l++)
            ids[f][l] = heaptap_frame_name(names[f], file, 10 * f + l + 1, "Toy");
    heaptap_runtime_code((const void *)toy_runtime_begins, (const void *)toy_runtime_ends);
    return heaptap_language_add(adapters[adapter]);
}

/* --- The expected chains ---------------------------------------------------------------------- */

static void
count_chain(const char *leaf)
{
    static __thread char text[TEXT_BYTES];
    size_t size = (size_t)snprintf(text, sizeof text, "%s", leaf);
    unsigned long hash = 5381;

    for (unsigned i = toy.count; i > 0; i--) {
        const struct toy_frame *f = &toy.frames[i - 1];

        size += (size_t)snprintf(text + size, sizeof text - size, " %s:%u", names[f->function],
                                 10 * f->function + f->line + 1);
        if (f->at != NULL)
            size += (size_t)snprintf(text + size, sizeof text - size, " %s", f->native);
    }
    for (size_t i = 0; i <= size; i++)
        hash = hash * 33 + (unsigned char)text[i];
    while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
        continue;
    for (hash %= CHAINS; chains[hash].text != NULL; hash = (hash + 1) % CHAINS)
        if (strcmp(chains[hash].text, text) == 0)
            break;
    if (chains[hash].text == NULL) {
        chains[hash].text = memcpy(pool + pool_used, text, size + 1);
        pool_used += size + 1;
        if (pool_used > sizeof pool - TEXT_BYTES)
            abort();
    }
    chains[hash].count++;
    __atomic_clear(&busy, __ATOMIC_RELEASE);
}

void
toy_write(FILE *to)
{
    for (size_t i = 0; i < CHAINS; i++)
        if (chains[i].text != NULL)
            fprintf(to, "%lu %s\n", chains[i].count, chains[i].text);
}

/* --- The interpreter -------------------------------------------------------------------------- */

static void
keep(void *p)
{
    unsigned i = chance(64);

    free(toy.blocks[i]);
    toy.blocks[i] = p;
}

void
toy_leaf_small(void)
{
    count_chain("toy_leaf_small");
    keep(malloc(1 + chance(200)));
}

void
toy_leaf_deep(unsigned n)
{
    char room[64];

    room[n % 64] = (char)n;
    if (n > 0) {
        toy_leaf_deep(n - 1);
    } else {
        count_chain("toy_leaf_deep");
        keep(calloc(1, 64));
    }
    __asm__ volatile("" ::"r"(room));
}

void
toy_leaf_grows(void)
{
    unsigned i = chance(64);

    count_chain("toy_leaf_grows");
    toy.blocks[i] = realloc(toy.blocks[i], 8 + chance(4000));
}

void toy_eval(void);

void
toy_runtime_begins(void)
{
    __asm__ volatile("");
}

/* Return the number of additional calls that a flat program makes at once. */
static unsigned
flat_calls(void)
{
    return toy.flat && (toy.rises || chance(4) == 0) ? chance(6) : 0;
}

/* Interpret a call in the C frame of toy_eval that contains ROOM, which comes from alloca. */
static void
eval_in(char *room)
{
    const char *native = toy.via != NULL ? toy.via : "toy_eval";
    unsigned base = toy.count;

    toy.via = NULL;
    toy.frames[toy.count] = (struct toy_frame){chance(FUNCTIONS), 0, room, native};
    toy.count++;
    while (toy.left > 0 && toy.count > base) {
        struct toy_frame *f = &toy.frames[toy.count - 1];

        toy.left--;
        switch (chance(11)) {
        case 0:
        case 1:
            f->line = (f->line + 1) % LINES;
            if (toy.deep && chance(toy.flat ? toy.count_max / 2 : toy.depth_max / 2) == 0)
                toy.rises = !toy.rises;
            break;
        case 2:
            for (unsigned n = 1 + flat_calls(); n > 0; n--)
                if (toy.count < toy.count_max && (toy.flat || toy.count < base + 6)) {
                    toy.frames[toy.count] =
                        (struct toy_frame){chance(FUNCTIONS), 0, NULL, NULL};
                    toy.count++;
                }
            break;
        case 3:
        case 4:
            if ((toy.count > base + 1 || chance(4) == 0) && (!toy.rises || chance(8) == 0))
                toy.count--;
            break;
        case 5:
            if ((toy.deep && !toy.rises && chance(8) != 0) || (toy.flat && chance(16) != 0))
                break;
            if (toy.depth < toy.depth_max && toy.count < toy.count_max)
                toy_eval();
            break;
        case 6:
            if ((toy.deep && !toy.rises && chance(8) != 0) || (toy.flat && chance(16) != 0))
                break;
            if (toy.depth < toy.depth_max && toy.count < toy.count_max)
                toy_calls_back();
            break;
        case 7:
            toy_leaf_small();
            break;
        case 8:
            toy_leaf_deep(chance(4));
            break;
        case 9:
            toy_leaf_grows();
            break;
        default:
            if (toy.catcher != NULL && chance(toy.rises ? 200 : 8) == 0)
                longjmp(toy.catcher->env, 1);
        }
    }
    toy.count = base;
}

/* Run the interpreter in a C frame of random size, so that slots differ from call to call. */
void
toy_eval(void)
{
    char *room = __builtin_alloca(16 + 16 * chance(3));
    struct catcher catcher = {.outer = toy.catcher, .count = toy.count};
    unsigned depth = toy.depth++;

    if (chance(3) != 0) {
        eval_in(room);
    } else if (setjmp(catcher.env) == 0) {
        toy.catcher = &catcher;
        eval_in(room);
    } else {
        toy.count = catcher.count;
    }
    toy.catcher = catcher.outer;
    toy.depth = depth;
}

void
toy_runtime_ends(void)
{
    __asm__ volatile("");
}

/* A C function of the program that the language calls, and that calls the language. */
void
toy_calls_back(void)
{
    toy.via = "toy_eval toy_calls_back";
    toy_eval();
}

int toy_keeps;

void
toy_run(unsigned long seed, unsigned long steps, unsigned depth, unsigned flat)
{
    toy.random = seed;
    toy.deep = depth != 0;
    toy.depth_max = depth != 0 ? depth : DEPTH_MAX;
    toy.flat = flat != 0;
    toy.count_max = flat != 0 ? flat : depth != 0 ? FRAMES - 2 : COUNT_MAX;
    toy.left = steps;
    while (toy.left > 0)
        toy_eval();
    for (unsigned i = 0; i < 64 && !toy_keeps; i++)
        free(toy.blocks[i]);
}
