/* access_structs.c: structures with known layouts, for the picture of fields. The program never
 * runs: a test builds a profile that names it, and heaptap reads its debug information. */
/* cflags: -g */
#include <stdatomic.h>

struct inner {
    long left, right;
};

struct node {
    long key;           // 0
    char name[56];      // 8
    int count;          // 64
    unsigned dirty : 1; // 68
    unsigned pinned : 2;
    long never;         // 72
    struct inner links; // 80
    char flag;          // 96
    long total;         // 104
};

struct pair {
    long first, second;
};

struct shared {
    _Atomic long hits; // 0
    long limit;        // 8
};

typedef struct {
    short low;
    long high;
} nameless;

struct node node;
struct pair pair;
struct shared shared;
nameless typedefed;
union both {
    long whole;
    int half;
} both;

int
main(void)
{
    return (int)(node.key + pair.first + shared.limit + typedefed.high + both.whole);
}
