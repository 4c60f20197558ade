/* fake_recorder.h: state of the recorder and an allocator that reports sizes, for tests that
 * compile the recorder's sources under sanitizers. Include it once, before the .c files under
 * test. */
#ifndef TEST_FAKE_RECORDER_H
#define TEST_FAKE_RECORDER_H

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/real.h"
#include "platform/state.h"

struct state *state;
__thread struct tls tls;

size_t
real_usable(const void *p)
{
    return malloc_usable_size((void *)(uintptr_t)p);
}

__attribute__((unused)) static void
fake_state_begin(void)
{
    state = calloc(1, sizeof *state);
}

__attribute__((unused)) static void
fake_state_end(void)
{
    free(state);
    state = NULL;
}

#endif
