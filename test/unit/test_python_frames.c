/* test_python_frames.c: the adapter for Python with threads that the test builds, in the layouts of
 * all versions. They call, return, continue, call through C, run generators, free code objects and
 * memory, and have damaged links; handlers jump out of an answer. Each answer and its count of
 * unchanged frames must match the model of the thread. If this fails, stacks show Python functions
 * that did not run, or the adapter relies on cached data that has changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "language/python_layout.c"
#include "language/python_pages.c"
#define layout reach_layout
#define known  reach_known
#include "language/python_reach.c"
#undef layout
#undef known
#include "language/python_frames.c"

enum {
    CODE_COUNT = 3,
    DEPTH = 120,
    DEEP = 5000,
    FRAME_ROOM = 160,
    CHUNK_BYTES = 4096,
    EVENTS = 30000,
    DEEP_EVENTS = 4000,
    DAMAGED_ID = 7777777,
};

struct fake_frame {
    char *at_memory; // Address of the frame.
    char *shim;      // Address of its cframe or shim, if the frame is the outermost of its C frame.
    unsigned code;
    unsigned index; // Index of the current instruction.
    bool has_begun, is_large;
    bool begins_chunk;
    size_t top_before; // Value of fake.top before the call.
};

static struct {
    unsigned char thread[1024], other[1024];
    _Alignas(16) unsigned char code[CODE_COUNT][512];
    uint64_t lives[CODE_COUNT];
    _Alignas(16) unsigned char large[DEEP][512]; // malloc's blocks with generators.
    struct fake_frame frames[DEEP];               // Outermost first.
    unsigned count;
    unsigned depth, burst; // Maximum number of frames, and of frames that come or go at once.
    size_t wanted;
    bool before_is_whole; // The latest answer omitted no frame.
    char *chunk, *stack;
    size_t top; // Offset of the next frame in the chunks; 0 = there are none.
    uint64_t random;
    unsigned until_jump; // Number of names until a handler jumps out; 0 = no jump.
    jmp_buf out;
} fake;

bool python_memory_hooks_final = true;

void
python_memory_check_hooks(void)
{
}

static unsigned
python_frames_chance(unsigned n)
{
    fake.random = fake.random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(fake.random >> 33) % n;
}

uint64_t
python_name_code(const void *code)
{
    for (unsigned i = 0; i < CODE_COUNT; i++)
        if (code == fake.code[i])
            return fake.lives[i];
    return 0;
}

static unsigned
python_frames_id_of(uint64_t number, unsigned index)
{
    return (unsigned)number * 1024 + index;
}

unsigned
python_name_of(const void *code, uint64_t number, uint64_t at)
{
    assert_true(python_name_code(code) == number && at % 2 == 0);
    if (fake.until_jump > 0 && --fake.until_jump == 0)
        longjmp(fake.out, 1);
    return python_frames_id_of(number, (unsigned)(at / 2));
}

static int
python_frames_fake_can_read(const void *p, size_t bytes)
{
    return (uintptr_t)p >= 4096 && (uintptr_t)p + bytes < UINT64_C(1) << 47;
}

static unsigned
python_frames_fake_name(const char *function, const char *file, unsigned line, const char *language)
{
    (void)line;
    (void)language;
    assert_string_equal(function, "[damaged frames]");
    assert_string_equal(file, "");
    return DAMAGED_ID;
}

static size_t
python_frames_fake_wanted(void)
{
    return fake.wanted;
}

const struct heaptap_languages heaptap_languages_v1 = {.size = sizeof heaptap_languages_v1,
                                                       .can_read = python_frames_fake_can_read,
                                                       .name = python_frames_fake_name,
                                                       .frames_wanted = python_frames_fake_wanted};

static unsigned char *present;

static void *
fake_thread(void)
{
    return present;
}

/* --- Threads ---------------------------------------------------------------------------------- */

static void
python_frames_put(void *p, unsigned offset, const void *value)
{
    if (offset != PYTHON_NONE)
        memcpy((char *)p + offset, &value, sizeof value);
}

static bool
has_objects(void)
{
    return layout->chain == PYTHON_CHAIN_OBJECTS || layout->chain == PYTHON_CHAIN_CFRAMES;
}

/* Write frame I, 0 being the outermost, into the thread's memory. */
static void
write_frame(unsigned i)
{
    struct fake_frame *f = &fake.frames[i];
    const struct fake_frame *outer = i > 0 ? f - 1 : NULL;
    char *previous = outer != NULL ? outer->at_memory : NULL;
    unsigned char *code = fake.code[f->code];
    unsigned unit = layout->minor == 9 ? 2 : 1;
    int32_t index = (int32_t)(f->index * unit);

    python_frames_put(f->at_memory, layout->frame_code, code);
    if (has_objects())
        memcpy(f->at_memory + layout->frame_at, &index, sizeof index);
    else
        python_frames_put(f->at_memory, layout->frame_at,
                          code + layout->code_begin + (f->has_begun ? 2 * f->index : 2));
    if (layout->frame_owner != PYTHON_NONE)
        f->at_memory[layout->frame_owner] = 0;
    if (layout->frame_entry != PYTHON_NONE)
        f->at_memory[layout->frame_entry] = f->shim != NULL;
    if (layout->chain == PYTHON_CHAIN_SHIMS && f->shim != NULL) {
        python_frames_put(f->shim, layout->frame_previous, previous);
        f->shim[layout->frame_owner] = PYTHON_OWNER_SHIM;
        previous = f->shim;
    } else if (f->shim != NULL) {
        const void *cframe = present + layout->thread_root;

        for (unsigned k = i; k-- > 0 && cframe == present + layout->thread_root;)
            if (fake.frames[k].shim != NULL)
                cframe = fake.frames[k].shim;
        python_frames_put(f->shim, layout->cframe_previous, cframe);
    }
    python_frames_put(f->at_memory, layout->frame_previous, previous);
}

static void
write_thread(void)
{
    char *top = fake.count > 0 ? fake.frames[fake.count - 1].at_memory : NULL;
    char *cframe = (char *)present + layout->thread_root;

    for (unsigned k = fake.count; k-- > 0 && cframe == (char *)present + layout->thread_root;)
        if (layout->chain != PYTHON_CHAIN_SHIMS && fake.frames[k].shim != NULL)
            cframe = fake.frames[k].shim;
    if (has_objects() || layout->cframe_top == PYTHON_NONE) {
        python_frames_put(present, layout->thread_top, top);
        python_frames_put(present, layout->thread_cframe, cframe);
    } else {
        python_frames_put(present, layout->thread_top, cframe);
        python_frames_put(cframe, layout->cframe_top, top);
    }
}

/* Place F, inside the frames that exist. Map a chunk if the present one is full; the outermost
 * chunk has a longer header. Up to 3.10 there are no chunks. */
static void
place_frame(struct fake_frame *f, unsigned i)
{
    size_t at = i * FRAME_ROOM;
    char *base;

    f->top_before = fake.top;
    if (!has_objects()) {
        at = fake.top > 0 ? fake.top : PYTHON_CHUNK_HEAD + 8;
        f->begins_chunk = at % CHUNK_BYTES + 2 * FRAME_ROOM > CHUNK_BYTES;
        if (f->begins_chunk) {
            base = fake.chunk + round_up(at, CHUNK_BYTES);
            python_frames_put(base, 0, base - CHUNK_BYTES);
            python_chunk_begins(base, CHUNK_BYTES);
            at = (size_t)(base - fake.chunk) + PYTHON_CHUNK_HEAD;
        }
        fake.top = at + FRAME_ROOM;
    }
    f->at_memory = fake.chunk + at + (!f->begins_chunk && python_frames_chance(4) == 0 ? 8 : 0);
}

/* Remove the innermost frame F from its chunk. */
static void
unplace_frame(const struct fake_frame *f)
{
    char *base = f->at_memory - PYTHON_CHUNK_HEAD;

    if (f->begins_chunk)
        python_chunk_ends(base, CHUNK_BYTES);
    fake.top = f->top_before;
}

/* Set the number of trace functions that run. */
static void
python_frames_trace(int32_t tracing)
{
    memcpy(present + layout->thread_tracing, &tracing, sizeof tracing);
}

static void
python_frames_call(void)
{
    unsigned i = fake.count;
    struct fake_frame *f = &fake.frames[i];

    if (i == fake.depth)
        return;
    *f = (struct fake_frame){.code = python_frames_chance(CODE_COUNT),
                             .index = 4 + python_frames_chance(3),
                             .has_begun = has_objects() || python_frames_chance(8) != 0};
    if (python_frames_chance(8) == 0) {
        f->is_large = true;
        f->at_memory = (char *)fake.large[i] + layout->frame_head;
    } else {
        place_frame(f, i);
    }
    if (i == 0 || has_objects() || python_frames_chance(3) == 0)
        f->shim = fake.stack + (size_t)(fake.depth - i) * FRAME_ROOM;
    write_frame(i);
    fake.count++;
}

static void
go_back(void)
{
    if (fake.count == 0)
        return;
    fake.count--;
    if (!fake.frames[fake.count].is_large)
        unplace_frame(&fake.frames[fake.count]);
    else if (python_frames_chance(2) == 0)
        python_reach_freed(fake.large[fake.count]);
}

static void
python_frames_go_on(void)
{
    if (fake.count == 0)
        return;
    fake.frames[fake.count - 1].index = 4 + python_frames_chance(3);
    fake.frames[fake.count - 1].has_begun = true;
    write_frame(fake.count - 1);
}

/* Free a code object and create another one in its place. */
static void
free_code(void)
{
    fake.lives[python_frames_chance(CODE_COUNT)] += CODE_COUNT;
    python_goes();
}

static void
python_frames_step(void)
{
    unsigned what = python_frames_chance(100);

    if (what < 35)
        python_frames_call();
    else if (what < 65)
        go_back();
    else if (what < 92)
        python_frames_go_on();
    else if (what < 94)
        for (unsigned n = python_frames_chance(fake.burst); n > 0; n--)
            python_frames_call();
    else if (what < 96)
        for (unsigned n = python_frames_chance(fake.burst); n > 0; n--)
            go_back();
    else if (what < 98)
        free_code();
    else if (what < 99) {
        python_mark_pages(&python_chunks, fake.chunk, 4096, false);
        python_mark_pages(&python_chunks, fake.chunk, 4096, true);
        python_goes();
    } else if (fake.count == 0)
        present = present == fake.thread ? fake.other : fake.thread;
    write_thread();
}

/* --- Answers ---------------------------------------------------------------------------------- */

/* Store the frames that the adapter can know, innermost first. Frames outside of DAMAGED are
 * unreachable. */
static size_t
known_frames(struct heaptap_frame *to, unsigned damaged)
{
    size_t n = 0, placed = 0;

    for (unsigned i = fake.count; i-- > damaged;) {
        const struct fake_frame *f = &fake.frames[i];

        if (f->has_begun)
            to[n++] =
                (struct heaptap_frame){0, python_frames_id_of(fake.lives[f->code], f->index), 0};
        for (; f->shim != NULL && placed < n && layout->chain != PYTHON_CHAIN_OBJECTS; placed++)
            to[placed].at = (uintptr_t)f->shim;
    }
    if (damaged > 0)
        to[n++] = (struct heaptap_frame){0, DAMAGED_ID, 0};
    return n;
}

/* Get an answer and compare it with the model; the links end at frame DAMAGED. On a deep stack,
 * only the wanted frames are compared. */
static size_t
ask(struct python_memo *m, struct heaptap_frame *end, unsigned damaged, bool was_whole)
{
    static struct heaptap_frame before[HEAPTAP_FRAMES_MAX], right[DEEP + 1];
    size_t same, count, expected = known_frames(right, damaged);
    bool is_whole = expected <= fake.wanted, both = is_whole && fake.before_is_whole;

    memcpy(before, end - HEAPTAP_FRAMES_MAX, sizeof before);
    count = python_frames_again(end, m, NULL, &same);
    if (is_whole)
        assert_int_equal(count, expected);
    else
        assert_true(count > fake.wanted);
    assert_true(same <= count);
    fake.before_is_whole = is_whole;
    for (size_t i = 0; i < (is_whole ? count : fake.wanted); i++) {
        assert_int_equal(end[-(long)count + (long)i].id, right[i].id);
        if (damaged == 0)
            assert_int_equal(end[-(long)count + (long)i].at, right[i].at);
    }
    if (was_whole)
        assert_memory_equal(end - same, before + HEAPTAP_FRAMES_MAX - same,
                            same * sizeof *before);
    return both ? same : 0;
}

/* Damage a link in the middle for one answer, then restore it. Choose a link that is read: one
 * inside the innermost chunk's first frame. */
static void
ask_damaged(struct python_memo *m, struct heaptap_frame *end)
{
    unsigned first = fake.count, i;
    struct fake_frame *f;
    bool behind;

    while (first > 1 && !fake.frames[first - 1].begins_chunk)
        first--;
    if (first == fake.count)
        return;
    i = first + python_frames_chance(fake.count - first);
    f = &fake.frames[i];
    behind = layout->chain == PYTHON_CHAIN_SHIMS && f->shim != NULL;
    python_frames_put(behind ? f->shim : f->at_memory, layout->frame_previous, (void *)16);
    (void)ask(m, end, i, true);
    write_frame(i);
}

/* Let a trace function change the instruction of any frame. It makes an answer before. */
static void
ask_traced(struct python_memo *m, struct heaptap_frame *end, bool was_whole)
{
    unsigned i = python_frames_chance(fake.count);

    python_frames_trace(1);
    assert_true(python_frames_is_traced());
    if (python_frames_chance(2) == 0)
        (void)ask(m, end, 0, was_whole);
    else
        python_goes(); // As the hook on allocators does.
    fake.frames[i].index = 4 + python_frames_chance(3);
    write_frame(i);
    python_frames_trace(0);
}

/* Let a handler jump out of an answer. */
static void
jump_out(struct python_memo *m, struct heaptap_frame *end)
{
    size_t same;

    fake.until_jump = 1 + python_frames_chance(3);
    if (setjmp(fake.out) == 0)
        python_frames_again(end, m, NULL, &same);
    fake.until_jump = 0;
}

static void
ask_at_random(struct python_memo *m, struct heaptap_frame *end, unsigned events)
{
    size_t reused = 0, deep = 0;

    for (unsigned i = 0; i < events; i++) {
        bool is_whole = python_frames_chance(20) != 0;

        for (unsigned n = python_frames_chance(4); n > 0; n--)
            python_frames_step();
        if (fake.count > 1 && python_frames_chance(50) == 0)
            ask_damaged(m, end);
        if (fake.count > 1 && !has_objects() && python_frames_chance(50) == 0)
            ask_traced(m, end, true);
        if (!is_whole)
            jump_out(m, end);
        reused += ask(m, end, 0, is_whole);
        deep += !fake.before_is_whole;
    }
    if (fake.wanted >= fake.depth)
        assert_true(reused > events);
    else
        assert_true(deep > events / 4);
}

/* Test a version: get EVENTS answers with up to DEPTH frames. The recorder reads WANTED frames. */
static void
try_version(unsigned minor, unsigned depth, size_t wanted, unsigned events)
{
    static const int type_of_generators;
    static struct heaptap_frame frames[HEAPTAP_FRAMES_MAX];
    const struct python_layout *l = python_layout_of(minor);
    const struct python_owners its = {.generator = &type_of_generators};
    const struct python_asked functions = {.current = fake_thread, .of_thread = fake_thread};
    char stack_here[(DEEP + 2) * FRAME_ROOM];
    size_t chunk_bytes = round_up((size_t)depth * FRAME_ROOM, 65536);
    struct python_memo *m = test_calloc(1, sizeof *m);

    memset(&fake, 0, sizeof fake);
    memset(stack_here, 0, sizeof stack_here);
    fake.random = minor;
    fake.depth = depth;
    fake.burst = depth > DEPTH ? depth / 2 : 30;
    fake.wanted = wanted;
    fake.before_is_whole = true;
    fake.stack = (char *)round_up((uintptr_t)stack_here, 16);
    fake.chunk =
        mmap(NULL, chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(fake.chunk != MAP_FAILED);
    python_mark_pages(&python_chunks, fake.chunk, chunk_bytes, true);
    present = fake.thread;
    python_reach_begin(l, &its);
    python_frames_begin(l, &functions);
    for (unsigned i = 0; i < CODE_COUNT; i++) {
        fake.lives[i] = i + 1;
        if (l->code_first != PYTHON_NONE)
            fake.code[i][l->code_first] = 4;
    }
    for (unsigned i = 0; i < depth; i++)
        python_frames_put(fake.large[i], PYTHON_COLLECTED_HEAD + PYTHON_OBJECT_TYPE,
                          &type_of_generators);
    write_thread();
    ask_at_random(m, frames + HEAPTAP_FRAMES_MAX, events);
    python_mark_pages(&python_chunks, fake.chunk, chunk_bytes, false);
    munmap(fake.chunk, chunk_bytes);
    test_free(m);
}

/* If this fails, an answer differs from the thread's frames, or reports changed frames as
 * unchanged. */
static void
each_version_is_answered_as_it_is(void **state)
{
    (void)state;
    for (unsigned minor = 9; minor <= 13; minor++)
        try_version(minor, DEPTH, HEAPTAP_FRAMES_MAX / 2, EVENTS);
}

/* If this fails, a recursion deeper than a profile's stacks shows functions that did not run, or a
 * truncated stack looks whole. */
static void
deep_python_stacks_are_answered_as_they_are(void **state)
{
    (void)state;
    for (unsigned minor = 9; minor <= 13; minor++) {
        try_version(minor, DEEP, HEAPTAP_FRAMES_MAX / 2, DEEP_EVENTS);
        try_version(minor, 600, 13, DEEP_EVENTS);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_version_is_answered_as_it_is),
        cmocka_unit_test(deep_python_stacks_are_answered_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
