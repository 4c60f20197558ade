/* refused.h: what a target returns for an input of which it takes nothing.
 *
 * replay.c counts these: if all of a corpus are refused, its format is not today's, and nothing is
 * tested any more. A fuzzer is told 0, because inputs that are refused late lead to those that are
 * not, and it keeps none for which it is told -1.
 */
#ifndef FUZZ_REFUSED_H
#define FUZZ_REFUSED_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's own mutator; absent when inputs are only replayed. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size_bytes, size_t limit_bytes);

#define REFUSED (LLVMFuzzerMutate == NULL ? -1 : 0)

#endif
