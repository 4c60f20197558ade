/* refused.h: the result of a target for an input that it refuses entirely.
 *
 * replay.c counts these: if all of a corpus are refused, its format is outdated, and nothing is
 * tested any more. A fuzzer gets 0, because inputs that are refused late lead to accepted ones, and
 * it drops an input for -1. */
#ifndef FUZZ_REFUSED_H
#define FUZZ_REFUSED_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's own mutator; absent when inputs are only replayed. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size_bytes, size_t limit_bytes);

#define REFUSED (LLVMFuzzerMutate == NULL ? -1 : 0)

#endif
