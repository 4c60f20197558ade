/* widths.cc: make accesses that are not plain words: bit-fields (a block of 48 bytes), a vector of
 * 32 bytes (320), an array with a cookie (88), a member of a packed structure across words
 * (112). */
#include <cstdlib>

#define HIDE(p) __asm__ volatile("" : "+r"(p) : : "memory")

struct bits {
    unsigned a : 3, b : 5;
};
typedef long vector __attribute__((vector_size(32)));
struct element {
    int x;
    ~element() { __asm__ volatile(""); }
};
struct __attribute__((packed)) packed {
    char c[5];
    long across;
};

int
main()
{
    bits *b = static_cast<bits *>(calloc(1, 48));
    vector *v = static_cast<vector *>(aligned_alloc(64, 320));
    packed *p = static_cast<packed *>(malloc(112));
    element *e = new element[20];
    int sum;

    HIDE(b);
    HIDE(v);
    HIDE(p);
    HIDE(e);
    b->a = 1;
    HIDE(b);
    sum = b->b;
    HIDE(b);
    *v = vector{1, 2, 3, 4};
    HIDE(v);
    p->across = 1;
    HIDE(p);
    delete[] e;
    free(b);
    free(v);
    free(p);
    return sum;
}
