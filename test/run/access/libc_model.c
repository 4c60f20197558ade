/* libc_model.c: the contents of blocks and their expected accesses; see libc_model.h. The code uses
 * loops only, because functions of libc would count. */
#include "libc_model.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 1 << 12, WORDS = 1 << 9 };

static struct {
    uint64_t reads, writes;
} expected[SIZES / 16][WORDS];

static struct {
    char *p;
    size_t size_bytes;
} block;

static uint64_t state;

void
pick_seed(uint64_t seed)
{
    state = seed * 2654435761u + 12345;
}

size_t
pick(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 11) % n;
}

void
expect_block(void *b, size_t size_bytes)
{
    block.p = b;
    block.size_bytes = size_bytes;
    for (size_t i = 0; i < size_bytes; i++)
        ((volatile char *)b)[i] = (char)('A' + i % 26);
}

static void
expect(const void *p, size_t size_bytes, int is_write)
{
    uintptr_t from = (uintptr_t)p, to = from + size_bytes, start = (uintptr_t)block.p;

    if (size_bytes == 0 || from < start || to > start + block.size_bytes)
        return;
    for (uintptr_t w = (from - start) / 8; w <= (to - 1 - start) / 8; w++)
        if (is_write)
            expected[block.size_bytes / 16][w].writes++;
        else
            expected[block.size_bytes / 16][w].reads++;
}

void
reads(const void *p, size_t size_bytes)
{
    expect(p, size_bytes, 0);
}

void
writes(const void *p, size_t size_bytes)
{
    expect(p, size_bytes, 1);
}

void
result(const char *name, long long r)
{
    fprintf(stderr, "%s %lld\n", name, r);
}

void
contents(void)
{
    uint32_t hash = 0;

    for (size_t i = 0; i < block.size_bytes; i++)
        hash = hash * 31 + (unsigned char)((volatile char *)block.p)[i];
    fprintf(stderr, "  %08x\n", hash);
}

char *
same(char *p, size_t n, char c)
{
    for (size_t i = 0; i < n; i++)
        ((volatile char *)p)[i] = c;
    ((volatile char *)p)[n] = '\0';
    return p;
}

char *
letters(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile char *)p)[i] = (char)('a' + pick(26));
    ((volatile char *)p)[n] = '\0';
    return p;
}

char *
digits(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile char *)p)[i] = (char)('1' + pick(9));
    ((volatile char *)p)[n] = '\0';
    return p;
}

char *
copy(char *p, const char *text)
{
    copy_bytes(p, text, length_of(text) + 1);
    return p;
}

wchar_t *
wide_same(wchar_t *p, size_t n, wchar_t c)
{
    for (size_t i = 0; i < n; i++)
        ((volatile wchar_t *)p)[i] = c;
    ((volatile wchar_t *)p)[n] = L'\0';
    return p;
}

void
put(char *p, size_t at, char c)
{
    ((volatile char *)p)[at] = c;
}

void
put_wide(wchar_t *p, size_t at, wchar_t c)
{
    ((volatile wchar_t *)p)[at] = c;
}

void
copy_bytes(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile char *)to)[i] = ((const volatile char *)from)[i];
}

size_t
length_of(const char *p)
{
    size_t n = 0;

    while (((const volatile char *)p)[n] != '\0')
        n++;
    return n;
}

void
expected_write(const char *path)
{
    FILE *f = fopen(path, "w");

    if (f == NULL)
        abort();
    for (size_t s = 0; s < SIZES / 16; s++)
        for (size_t w = 0; w < WORDS; w++)
            if (expected[s][w].reads + expected[s][w].writes > 0)
                fprintf(f, "%zu %zu %llu %llu\n", s * 16, w,
                        (unsigned long long)expected[s][w].reads,
                        (unsigned long long)expected[s][w].writes);
    fclose(f);
}
