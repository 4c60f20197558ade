/* cflags: -fno-optimize-sibling-calls */
/* recursive.c: recursion whose inclusive values are known. No function is inlined or cloned.
 *
 *     the paper's figure 7: main F G F G malloc(10)
 *         F and G allocated 10 inclusive, not 20; G 10 itself
 *     three functions: main one(7) two(6) three(5) one(4) two(3) three(2) one(1), each malloc(n)
 *         one     28 inclusive, 12 itself (7 4 1), called by main for 28, by three for 10
 *         two     21 inclusive,  9 itself (6 3)
 *         three   15 inclusive,  7 itself (5 2)
 *     through a pointer: main apply step apply step apply step apply step, each step malloc(100)
 *         apply  400 inclusive, step 400 inclusive and itself; step calls apply for 300
 *     itself: main down(5) ... down(1), the last malloc(8)
 *         down     8 inclusive and itself, called once and 4 times by itself
 *
 * In all 446 bytes in 13 calls, and none is freed.
 */
#include <stdlib.h>

static void *volatile kept;
// Each function adds another number, which keeps the compiler from merging them.
static volatile int sum;

#define ALONE __attribute__((noinline, noclone))

static void F(int depth);
static void one(int n);

ALONE static void
G(int depth)
{
    if (depth > 0)
        F(depth - 1);
    else
        kept = malloc(10);
    sum++;
}

ALONE static void
F(int depth)
{
    G(depth);
    sum++;
}

ALONE static void
three(int n)
{
    kept = malloc(n);
    if (n > 1)
        one(n - 1);
    sum += 3;
}

ALONE static void
two(int n)
{
    kept = malloc(n);
    if (n > 1)
        three(n - 1);
    sum += 2;
}

ALONE static void
one(int n)
{
    kept = malloc(n);
    if (n > 1)
        two(n - 1);
    sum++;
}

typedef void visit_fn(int left);

ALONE static void
apply(visit_fn *volatile visit, int left)
{
    visit(left);
    sum++;
}

ALONE static void
step(int left)
{
    kept = malloc(100);
    if (left > 1)
        apply(step, left - 1);
    sum++;
}

ALONE static void
down(int depth)
{
    if (depth > 1)
        down(depth - 1);
    else
        kept = malloc(8);
    sum++;
}

int
main(void)
{
    F(1);
    one(7);
    apply(step, 4);
    down(5);
    return sum == 0;
}
