/* cflags: -fno-optimize-sibling-calls */
/* widgets.c [COUNT]: the producers and the consumer of the paper on mprof (Zorn and Hilfinger
 * 1988). The producers allocate COUNT widgets, 10,000 by default, red or blue in a fixed sequence,
 * and the consumer frees only the blue ones.
 *
 *     COUNT     red      blue     of 204 bytes
 *      10,000    5,019    4,981   1,023,876 bytes stay, 2,040,000 were allocated
 *     100,000   50,004   49,996   10,200,816 bytes stay, 20,400,000 were allocated
 *
 * Nothing else is allocated, and no function is inlined into another. */
#include <stdlib.h>

enum color { RED, BLUE };

typedef struct {
    enum color c;
    int data[50];
} widget;

enum { COUNT = 10000, COUNT_MAX = 1000000 };

static widget *queue[COUNT_MAX];
static int recorded[2];

/* Return 1 for a blue widget. The start and the bit are chosen to give the counts above. */
static int
random_flip(void)
{
    static unsigned state = 296;

    state = (state * 1103515245u + 12345u) & 0x7fffffffu;
    return state >> 20 & 1;
}

__attribute__((noinline, noclone)) static widget *
make_widget(void)
{
    widget *w = malloc(sizeof *w);

    if (w == NULL)
        abort();
    return w;
}

__attribute__((noinline, noclone)) static widget *
make_blue_widget(void)
{
    widget *w = make_widget();

    w->c = BLUE;
    return w;
}

__attribute__((noinline, noclone)) static widget *
make_red_widget(void)
{
    widget *w = make_widget();

    w->c = RED;
    return w;
}

__attribute__((noinline, noclone)) static void
consume_widget(widget *w)
{
    recorded[w->c]++;
    if (w->c == BLUE)
        free(w);
}

int
main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : COUNT;

    if (count < 0 || count > COUNT_MAX)
        return 2;
    for (int i = 0; i < count; i++)
        queue[i] = random_flip() ? make_blue_widget() : make_red_widget();
    for (int i = 0; i < count; i++)
        consume_widget(queue[i]);
    return recorded[RED] + recorded[BLUE] != count;
}
