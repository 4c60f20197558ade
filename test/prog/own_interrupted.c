/* cflags: -fno-builtin -fno-optimize-sibling-calls -fno-inline */
/* libs: -Lbuild/test/prog -lbump -Wl,-rpath,$ORIGIN */
/* own_interrupted.c: like interrupted.c, for the events of heaptap.h.
 *
 *     own_interrupted EVENT HANDLER TURNS
 *
 * Makes EVENT TURNS times, each time between two marks. The tracer sends SIGUSR1 between the marks.
 * Its handler allocates two blocks of 20 bytes in the same heap, frees one, sets a label, allocates
 * and frees a block of malloc, and performs the action HANDLER. Blocks of the events have 100
 * bytes; blocks of forked children have 40. A reset frees all live blocks at the end.
 *
 * At the end it prints its counts: "events N signals M". */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../interrupt/stepper.h"
#include "heaptap/heaptap.h"

typedef void function(char *p);

static const char *handler_kind;
static heaptap_heap *heap;
static long events, signals;
static pid_t forked = -1;
static sigjmp_buf before;

static void
mark(int number)
{
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

static void
wait_for(pid_t child)
{
    int status;

    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        _exit(11);
}

static void
on_signal(int number)
{
    char *p = (char *)0x40000000 + 64 * signals++;
    heaptap_labels labels = heaptap_labels_get();

    (void)number;
    heaptap_alloc(heap, p, 1, 20);
    heaptap_alloc(heap, p + 32, 1, 20);
    heaptap_free(heap, p);
    heaptap_label("in", "handler");
    free(malloc(20));
    heaptap_labels_set(labels);
    if (strcmp(handler_kind, "fork") == 0) {
        forked = fork();
        if (forked != 0)
            wait_for(forked);
    } else if (strcmp(handler_kind, "jump") == 0) {
        siglongjmp(before, 1);
    }
}

static void
event_alloc(char *p)
{
    mark(MARK_BEGIN);
    heaptap_alloc(heap, p, 1, 100);
    mark(MARK_END);
}

static void
event_free(char *p)
{
    heaptap_alloc(heap, p, 1, 100);
    mark(MARK_BEGIN);
    heaptap_free(heap, p);
    mark(MARK_END);
}

static void
event_resize(char *p)
{
    heaptap_alloc(heap, p, 1, 50);
    mark(MARK_BEGIN);
    heaptap_resize(heap, p, p + 16, 100);
    mark(MARK_END);
}

static void
event_reset(char *p)
{
    heaptap_alloc(heap, p, 1, 100);
    mark(MARK_BEGIN);
    heaptap_reset(heap);
    mark(MARK_END);
}

static void
event_arena(char *p)
{
    heaptap_heap *arena;

    mark(MARK_BEGIN);
    arena = heaptap_heap_create("arena", 0);
    heaptap_alloc(arena, p, 1, 100);
    heaptap_heap_destroy(arena);
    mark(MARK_END);
}

static void
event_backing(char *p)
{
    void *chunk = malloc(100);

    (void)p;
    mark(MARK_BEGIN);
    heaptap_backing(heap, chunk, 100);
    free(chunk);
    mark(MARK_END);
}

static void
event_label(char *p)
{
    mark(MARK_BEGIN);
    heaptap_label("in", "event");
    heaptap_alloc(heap, p, 1, 100);
    heaptap_label("in", NULL);
    mark(MARK_END);
}

/* Each size is larger than all before, so the event takes the path that prepares a counter. */
static void
event_malloc(char *p)
{
    static size_t size_bytes = 100;
    void *block;

    (void)p;
    free(malloc(20)); // Opens the fast path, which turn() has closed by a label.
    mark(MARK_BEGIN);
    block = malloc(size_bytes++);
    mark(MARK_END);
    free(block);
}

static const struct {
    const char *name;
    function *run;
} table[] = {
    {"alloc", event_alloc}, {"free", event_free},   {"resize", event_resize},
    {"reset", event_reset}, {"arena", event_arena}, {"backing", event_backing},
    {"label", event_label}, {"malloc", event_malloc},
};

static void
turn(const char *name, long i)
{
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (strcmp(table[k].name, name) == 0 && sigsetjmp(before, 1) == 0)
            table[k].run((char *)0x10000000 + 64 * i);
    heaptap_label("in", NULL);
    if (forked == 0) {
        heaptap_alloc(heap, NULL, 1, 40);
        _exit(0);
    }
    forked = -1;
    events++;
}

int
main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    char text[100];
    int length;

    if (argc != 4)
        return 2;
    handler_kind = argv[2];
    heap = heaptap_heap_create("heap", 0);
    sigaction(SIGUSR1, &action, NULL);
    for (long i = 0; i < atol(argv[3]); i++)
        turn(argv[1], i);
    heaptap_reset(heap);
    length = snprintf(text, sizeof text, "events %ld signals %ld\n", events, signals);
    return write(1, text, (size_t)length) != length;
}
