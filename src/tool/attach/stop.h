/* stop.h: stop the threads of a process, move them to other instructions, and resume them. */
#ifndef ATTACH_STOP_H
#define ATTACH_STOP_H

#include <sys/user.h>

#include "attach/target.h"

struct stopped {
    uint32_t tid;
    uint32_t pending; // Signal to deliver when the thread is resumed; 0 = none.
    bool has_ended;
    bool is_changed; // The registers must be written before the thread is resumed.
    struct user_regs_struct registers;
};

/* Threads that we have stopped. */
struct threads {
    struct target *target;
    struct stopped *v;
    size_t count, capacity;
    uint64_t began_ns, stopped_ns; // Times of the first stop, and when all were stopped.
};

/* Stop all threads of T. Returns 0, or HEAPTAP_BAD_INPUT with ERR set and no thread stopped. In
 * both cases, system calls that fail with EINTR are repeated. */
int threads_stop(struct target *t, struct threads *ret, struct err *err);

/* Stop one thread that sleeps, if possible. Returns like threads_stop. */
int threads_stop_one(struct target *t, struct threads *ret, struct err *err);

/* Stop thread TID only. Return false if it has ended or does not stop. */
bool threads_stop_this(struct target *t, uint32_t tid, struct threads *ret);

/* Return true if T, which is stopped, has a signal that it will get first when it runs. Such a
 * thread cannot be borrowed. */
bool threads_has_signal(struct target *target, const struct stopped *t);

/* Sleep for NS, at least a millisecond. Resume threads that stop only now, after a stop of all
 * threads that they have prevented. */
void threads_pause(const struct target *t, uint64_t ns);

/* Write changed registers, and resume all threads of S. S is then empty. */
void threads_resume(struct threads *s);

struct word_range {
    uint64_t low, high; // [low, high)
};

/* Return the number of words in the used parts of the stacks of S in the COUNT RANGES, and of
 * threads whose next instruction does. If there are none, no thread of S will return
 * into them. */
size_t threads_words_in(const struct threads *s, const struct word_range *ranges, size_t count);

/* Return the monotonic clock in ns. */
uint64_t threads_now_ns(void);

#endif
