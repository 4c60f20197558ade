/* fake_recorder.h: the recorder's structures in an ordinary test program, where sanitizers see
 * them. A test includes it once, and after it the .c files under test. It provides their state and
 * an allocator that can report sizes. */
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

static void
fake_state_begin(void)
{
    state = calloc(1, sizeof *state);
}

static void
fake_state_end(void)
{
    free(state);
    state = NULL;
}

#endif
