/* libc_model.h: the contents of blocks, and the accesses that libc_calls.c expects. The model is
 * compiled without counting, and passes blocks to no counted function, so its own accesses do not
 * count. */
#ifndef LIBC_MODEL_H
#define LIBC_MODEL_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* Return a pseudo-random number below N. The same seed gives the same sequence. */
size_t pick(size_t n);
void pick_seed(uint64_t seed);

/* Make B of SIZE_BYTES the block under test, and fill it with bytes other than zero. */
void expect_block(void *b, size_t size_bytes);

/* Expect a read, or a write, of SIZE_BYTES at P. Ignore a range that is not inside the block. */
void reads(const void *p, size_t size_bytes);
void writes(const void *p, size_t size_bytes);

/* Print the result of a call, or a hash of the block's contents, to stderr. */
void result(const char *name, long long r);
void contents(void);

/* Write N characters to P, and a terminating zero: all C, or random letters, or random digits other
 * than 0. Return P. */
char *same(char *p, size_t n, char c);
char *letters(char *p, size_t n);
char *digits(char *p, size_t n);
char *copy(char *p, const char *text);
wchar_t *wide_same(wchar_t *p, size_t n, wchar_t c);
void put(char *p, size_t at, char c);
void put_wide(wchar_t *p, size_t at, wchar_t c);
void copy_bytes(void *to, const void *from, size_t n);
size_t length_of(const char *p);

/* Write the expected accesses, by size of block and by word, to the file PATH. */
void expected_write(const char *path);

#endif
