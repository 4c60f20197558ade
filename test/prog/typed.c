/* typed.c: allocate blocks of known types, each type in another way. heaptap can determine the
 * types of the functions known_…, guess those of likely_…, and not find those of hidden_….
 * type_tables.py lists the type that each function allocates.
 *
 * Each type has another size, so that a wrong answer is detected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 3 };

struct item {
    long id;
    struct item *next;
    double weight;
}; // 24

struct gadget {
    struct item *items;
    char name[60];
    int count;
}; // 72

typedef struct {
    int color;
    int data[50];
} widget; // 204

union value {
    double number;
    char text[40];
}; // 40

struct text {
    size_t length;
    char bytes[];
}; // 8 and more

struct base {
    int kind;
    int references;
}; // 8

struct derived {
    struct base base;
    long more[5];
}; // 48

struct trap {
    long a[7];
}; // 56

struct lonely {
    char bytes[555];
}; // 555

static struct lonely *last_lonely; // Without this, compilers would not emit the type.

static void *kept[64];
static int kept_count;
int given_count;
static volatile int three = 3;

#define SITE __attribute__((noinline)) static

__attribute__((noinline)) static void
keep(void *p)
{
    kept[kept_count++ % 64] = p;
}

__attribute__((noinline)) static void *
checked(size_t size)
{
    void *p = malloc(size);

    if (p == NULL)
        abort();
    return p;
}

__attribute__((noinline)) static void *
checked_zero(size_t size)
{
    void *p = checked(size);

    return memset(p, 0, size);
}

__attribute__((noinline)) static void *
headed(size_t size)
{
    long *p = malloc(size + sizeof *p);

    if (p == NULL)
        abort();
    *p = (long)size;
    return p + 1;
}

#define NEW(type) ((type *)checked_zero(sizeof(type)))

SITE void
known_result(void)
{
    struct gadget *g = malloc(sizeof *g);

    g->count = three;
    keep(g);
}

SITE void
known_typedef(void)
{
    widget *w = malloc(sizeof(widget));

    w->color = three;
    keep(w);
}

SITE void
known_union(void)
{
    union value *v = malloc(sizeof *v);

    v->number = three;
    keep(v);
}

SITE void
known_sizeof_only(void)
{
    keep(malloc(sizeof(struct lonely)));
}

SITE void
known_cast(void)
{
    keep((struct gadget *)malloc(72));
}

SITE void
known_wrapped(void)
{
    struct gadget *g = checked(sizeof *g);

    g->count = three;
    keep(g);
}

/* Returns memory through its second parameter, which does not exist after inlining. */
static inline __attribute__((always_inline)) void
given(int size, void **ret)
{
    void *p = malloc((size_t)size);

    if (p != NULL)
        given_count++;
    *ret = p;
}

static __attribute__((noinline)) void *
taken(size_t size)
{
    void *p;

    if (size > 1000000)
        p = NULL;
    else
        given((int)size, &p);
    return p;
}

SITE void
known_given(void)
{
    struct gadget *g = taken(sizeof *g);

    g->count = three;
    keep(g);
}

SITE void
known_wrapped_twice(void)
{
    widget *w = checked_zero(sizeof *w);

    w->color = three;
    keep(w);
}

SITE void
known_macro(void)
{
    struct gadget *g = NEW(struct gadget);

    g->count = three;
    keep(g);
}

SITE void
known_array(void)
{
    int n = three + kept_count % 5;
    struct item *v = malloc((size_t)n * sizeof *v);

    v[0].id = n;
    keep(v);
}

SITE void
known_member(struct gadget *g)
{
    g->items = malloc((size_t)three * sizeof(struct item));
    g->items[0].id = 1;
    keep(g->items);
}

SITE void
known_tail(const char *s)
{
    size_t n = strlen(s);
    struct text *t = malloc(sizeof(struct text) + n + 1);

    t->length = n;
    memcpy(t->bytes, s, n + 1);
    keep(t);
}

SITE void
known_pointers(void)
{
    struct item **v = calloc((size_t)three, sizeof *v);

    v[0] = NULL;
    keep(v);
}

SITE void
known_integers(void)
{
    int *v = malloc((size_t)(three + kept_count % 3) * sizeof(int));

    v[0] = three;
    keep(v);
}

SITE void
known_text(void)
{
    keep(strdup("some text"));
}

SITE struct gadget *
known_returned(void)
{
    return malloc(sizeof(struct gadget));
}

SITE void
known_grown(void)
{
    struct item *v = NULL;

    for (size_t n = 1; n <= 4; n++) {
        v = realloc(v, n * sizeof *v);
        v[n - 1].id = three;
    }
    keep(v);
}

__attribute__((noinline)) static struct base *
hidden_object(size_t size)
{
    struct base *b = malloc(size);

    b->kind = three;
    return b;
}

SITE void
known_derived(void)
{
    struct derived *d = (struct derived *)hidden_object(sizeof *d);

    d->more[0] = three;
    keep(d);
}

SITE void
likely_headed(void)
{
    struct gadget *g = headed(sizeof *g);

    g->count = three;
    keep(g);
}

SITE void
hidden_raw(void)
{
    void *p = malloc(555);

    memset(p, three, 555);
    keep(p);
}

SITE void
hidden_trap(struct trap *t)
{
    char *bytes = malloc(56);

    bytes[0] = (char)t->a[0];
    keep(bytes);
}

int
main(void)
{
    struct gadget g = {0};
    struct trap t = {{0}};

    for (int i = 0; i < CALLS; i++) {
        known_result();
        known_typedef();
        known_union();
        known_sizeof_only();
        known_cast();
        known_wrapped();
        known_given();
        known_wrapped_twice();
        known_macro();
        known_array();
        known_member(&g);
        known_tail(i ? "longer text than that" : "text");
        known_pointers();
        known_integers();
        known_text();
        keep(known_returned());
        known_grown();
        known_derived();
        likely_headed();
        hidden_raw();
        hidden_trap(&t);
    }
    return kept_count == 0 || last_lonely != NULL;
}
