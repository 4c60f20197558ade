/* cflags: -fno-builtin */
/* wide_names.c: functions with Chinese and Japanese names allocate 10 blocks of 100 bytes. One name
 * takes 90 columns and has 45 characters; with an argument, this function calls itself 11 times. */
#include <stdlib.h>

#define SHORT_NAME \u5206\u914d\u5185\u5b58
#define LONG_NAME \
\u65e5\u672c\u8a9e\u306e\u95a2\u6570\u540d\u3067\u3059\
\u65e5\u672c\u8a9e\u306e\u95a2\u6570\u540d\u3067\u3059\
\u65e5\u672c\u8a9e\u306e\u95a2\u6570\u540d\u3067\u3059\
\u65e5\u672c\u8a9e\u306e\u95a2\u6570\u540d\u3067\u3059\
\u65e5\u672c\u8a9e\u306e\u95a2\u6570\u540d\u3067\u3059

void *SHORT_NAME(size_t size_bytes);
void *LONG_NAME(size_t size_bytes, int again);

__attribute__((noinline, noclone)) void *
SHORT_NAME(size_t size_bytes)
{
    void *p = malloc(size_bytes);

    // Prevents a tail call, since the test searches for this frame.
    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}

__attribute__((noinline, noclone)) void *
LONG_NAME(size_t size_bytes, int again)
{
    void *p = again > 0 ? LONG_NAME(size_bytes, again - 1) : SHORT_NAME(size_bytes);

    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}

int
main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 10; i++)
        LONG_NAME(100, argc > 1 ? 11 : 0);
    return 0;
}
