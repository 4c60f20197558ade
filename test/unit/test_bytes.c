/* test_bytes.c: the recorder's own memory and string functions, compared with libc's for all short
 * lengths, positions and overlaps. If it fails, names, paths and labels in a profile are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void *own_memcpy(void *restrict to, const void *restrict from, size_t size_bytes);
void *own_memmove(void *to, const void *from, size_t size_bytes);
void *own_memset(void *to, int c, size_t size_bytes);
int own_memcmp(const void *a, const void *b, size_t size_bytes);
int own_bcmp(const void *a, const void *b, size_t size_bytes);
size_t own_strlen(const char *s);
int own_strcmp(const char *a, const char *b);
int own_strncmp(const char *a, const char *b, size_t bytes_max);
char *own_strchr(const char *s, int c);
char *own_strrchr(const char *s, int c);

#define memcpy  own_memcpy
#define memmove own_memmove
#define memset  own_memset
#define memcmp  own_memcmp
#define bcmp    own_bcmp
#define strlen  own_strlen
#define strcmp  own_strcmp
#define strncmp own_strncmp
#define strchr  own_strchr
#define strrchr own_strrchr
#include "platform/bytes.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef bcmp
#undef strlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strrchr

enum { BYTES = 64 };

static void
bytes_fill(unsigned char *p)
{
    for (size_t i = 0; i < BYTES; i++)
        p[i] = (unsigned char)(i * 37 + 11);
}

static int
sign(int x)
{
    return (x > 0) - (x < 0);
}

/* If this fails, a name, path or label that the recorder copies has wrong bytes, or the memory
 * beside it is overwritten. */
static void
copies_move_the_bytes_that_libc_moves(void **unused)
{
    unsigned char a[BYTES], b[BYTES], source[BYTES];

    (void)unused;
    bytes_fill(source);
    for (size_t to = 0; to < 24; to++) {
        for (size_t from = 0; from < 24; from++) {
            for (size_t size = 0; size < 40; size++) {
                bytes_fill(a);
                bytes_fill(b);
                assert_ptr_equal(own_memmove(a + to, a + from, size), a + to);
                memmove(b + to, b + from, size);
                assert_memory_equal(a, b, BYTES);
                assert_ptr_equal(own_memcpy(a + to, source + from, size), a + to);
                memcpy(b + to, source + from, size);
                assert_memory_equal(a, b, BYTES);
                assert_ptr_equal(own_memset(a + to, (int)from - 12, size), a + to);
                memset(b + to, (int)from - 12, size);
                assert_memory_equal(a, b, BYTES);
            }
        }
    }
}

/* If this fails, the recorder mistakes one name for another: HEAPTAP_ONLY records the wrong
 * program, a path is cut at the wrong slash, labels are out of order. */
static void
texts_compare_as_in_libc(void **unused)
{
    static const char *const texts[] = {"",   "a",        "ab",          "abc", "b", "\xff",
                                        "a,", "a/b/c,/d", "linux-vdso.", ",",   "/", "//"};

    (void)unused;
    for (size_t i = 0; i < countof(texts); i++) {
        const char *a = texts[i];

        assert_int_equal(own_strlen(a), strlen(a));
        for (const char *c = ",/a\xff"; *c != '\0'; c++) {
            assert_ptr_equal(own_strchr(a, *c), strchr(a, *c));
            assert_ptr_equal(own_strrchr(a, *c), strrchr(a, *c));
        }
        assert_ptr_equal(own_strchr(a, '\0'), a + strlen(a));
        assert_ptr_equal(own_strrchr(a, '\0'), a + strlen(a));
        for (size_t k = 0; k < countof(texts); k++) {
            const char *b = texts[k];
            size_t both = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

            assert_int_equal(sign(own_strcmp(a, b)), sign(strcmp(a, b)));
            assert_int_equal(sign(own_memcmp(a, b, both)), sign(memcmp(a, b, both)));
            assert_int_equal(own_bcmp(a, b, both) == 0, memcmp(a, b, both) == 0);
            for (size_t size = 0; size < 12; size++)
                assert_int_equal(sign(own_strncmp(a, b, size)), sign(strncmp(a, b, size)));
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_move_the_bytes_that_libc_moves),
        cmocka_unit_test(texts_compare_as_in_libc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
