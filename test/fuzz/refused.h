/* refused.h: the value that a target returns for an input that it refuses entirely.
 *
 * replay.c counts these values. If a target refuses every input of its corpus, the corpus has an
 * outdated format and tests nothing. A fuzzer gets 0 instead of -1, because it would drop an input
 * for -1, and inputs that are refused late lead to accepted ones. */
#ifndef FUZZ_REFUSED_H
#define FUZZ_REFUSED_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's own mutator; absent when inputs are only replayed. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size_bytes, size_t limit_bytes);

#define REFUSED (LLVMFuzzerMutate == NULL ? -1 : 0)

#endif
