/* oracle_book.h: the interface between the oracle's intercepted functions, its records, and the
 * stacks of their callers. */
#ifndef ORACLE_BOOK_H
#define ORACLE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A block in the oracle's records. Site 0 = unknown. */
struct oracle_block {
    uint64_t address;
    uint64_t size_bytes;
    uint64_t thread; // Thread that allocated the block.
    uint64_t serial; // Index of the block among that thread's blocks.
    uint32_t site;
    uint32_t next;
};

/* The stack of one event, and its buffer. */
struct oracle_stack {
    uint64_t *words;
    uint32_t depth;
};

/* Open the records. Returns false, also in later calls, if ORACLE_OUT is not set or nothing can be
 * written. */
bool book_open(void);

/* Return true if events of this process are recorded. False before book_open and in a forked
 * child. */
bool book_is_open(void);

/* Record one event. Call these between event_begins and event_ends. */
void book_alloc(const void *p, size_t size_bytes, const struct oracle_stack *stack);
void book_free(const void *p);
struct oracle_block book_take(const void *p);
void book_put_back(struct oracle_block block);
void book_realloc(struct oracle_block old, const void *p, size_t size_bytes,
                  const struct oracle_stack *stack);
void book_failed_call(void);
void book_inside_call(void);

/* Return the requested size of the live block P, 0 if unknown. */
size_t book_size(const void *p);

/* Return a buffer for a stack, to be given back by book_return_words. */
uint64_t *book_borrow_words(void);
void book_return_words(uint64_t *words);

enum { ORACLE_DEPTH_MAX = 16384 };

/* Choose the unwinder by ORACLE_UNWINDER: "libunwind" (the default) or "libgcc". */
void stack_choose(const char *name);

/* Capture the caller's stack without the innermost frames that belong to the oracle or the
 * recorder. Return the number of the oracle's operator frames on the whole stack. */
uint32_t stack_take(struct oracle_stack *stack);

/* Return the object of the innermost frame outside oracle and recorder, as a handle for dlsym. */
void *stack_caller_object(void);

/* Drop all cached data about code, because code was unloaded. */
void stack_invalidate(void);

/* The operators are the functions in this section; a block allocated below an operator may be the
 * operator's result. */
#define ORACLE_OPERATOR __attribute__((section("oracle_operators"), noinline))

/* Stop with a message: the oracle must never be silently wrong. */
_Noreturn void oracle_die(const char *why);

#endif
