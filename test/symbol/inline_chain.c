/* inline_chain.c: three inlined calls below outer(). The code at the label "mark" belongs to inner,
 * which is inlined into middle at LINE:inner; middle is inlined into wrapper at LINE:middle, and
 * wrapper into outer at LINE:wrapper. */
#include <stdio.h>

#define INLINE static inline __attribute__((always_inline))

INLINE int
inner(int x)
{
    __asm__ volatile(".globl mark\nmark: nop" : "+r"(x)); /* LINE:mark */
    return x + 1;
}

INLINE int
middle(int x)
{
    return inner(x) * 3; /* LINE:inner */
}

INLINE int
wrapper(int x)
{
    if (x > 1) {
        int y = x + 2;

        return middle(y); /* LINE:middle */
    }
    return 0;
}

__attribute__((noinline)) int outer(int x);

int
outer(int x)
{
    return wrapper(x) + 7; /* LINE:wrapper */
}

int
main(int argc, char **argv)
{
    printf("%s %d\n", argv[0], outer(argc));
    return 0;
}
