/* counted_objects.h: functions of libc that access an object of fixed size, such as a mutex.
 *
 * X(result, name, parameters, arguments, effects), as in counted_table.h. Here the effects are
 * counted before the call. As soon as a mutex is unlocked or a semaphore posted, another thread may
 * free its block, and a later count would go to the next block there. A wait may never return.
 *
 * Each call counts one read and one write of each word of the object, whatever libc does inside. */
#ifndef ACCESS_COUNTED_OBJECTS_H
#define ACCESS_COUNTED_OBJECTS_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "allocator/real.h"
#include "base/base.h"

// clang-format off

#define COUNTED_OBJECTS(X) \
    X(int, pthread_mutex_lock, (pthread_mutex_t *o), (o), OBJECT(o)) \
    X(int, pthread_mutex_trylock, (pthread_mutex_t *o), (o), OBJECT(o)) \
    X(int, pthread_mutex_unlock, (pthread_mutex_t *o), (o), OBJECT(o)) \
    X(int, pthread_mutex_consistent, (pthread_mutex_t *o), (o), OBJECT(o)) \
    X(int, pthread_mutex_destroy, (pthread_mutex_t *o), (o), OBJECT(o)) \
    X(int, pthread_mutex_timedlock, \
      (pthread_mutex_t *o, const struct timespec *until), \
      (o, until), OBJECT(o), R(until, sizeof *until)) \
    X(int, pthread_mutex_clocklock, \
      (pthread_mutex_t *o, clockid_t clock, const struct timespec *until), \
      (o, clock, until), OBJECT(o), R(until, sizeof *until)) \
    X(int, pthread_mutex_init, (pthread_mutex_t *o, const pthread_mutexattr_t *a), (o, a), \
      W(o, sizeof *o), ATTRIBUTES(a)) \
    X(int, pthread_cond_signal, (pthread_cond_t *o), (o), OBJECT(o)) \
    X(int, pthread_cond_broadcast, (pthread_cond_t *o), (o), OBJECT(o)) \
    X(int, pthread_cond_destroy, (pthread_cond_t *o), (o), OBJECT(o)) \
    X(int, pthread_cond_wait, (pthread_cond_t *o, pthread_mutex_t *m), (o, m), \
      OBJECT(o), OBJECT(m)) \
    X(int, pthread_cond_timedwait, \
      (pthread_cond_t *o, pthread_mutex_t *m, const struct timespec *until), \
      (o, m, until), OBJECT(o), OBJECT(m), R(until, sizeof *until)) \
    X(int, pthread_cond_clockwait, \
      (pthread_cond_t *o, pthread_mutex_t *m, clockid_t clock, const struct timespec *until), \
      (o, m, clock, until), OBJECT(o), OBJECT(m), R(until, sizeof *until)) \
    X(int, pthread_cond_init, (pthread_cond_t *o, const pthread_condattr_t *a), (o, a), \
      W(o, sizeof *o), ATTRIBUTES(a)) \
    X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_rwlock_unlock, (pthread_rwlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_rwlock_destroy, (pthread_rwlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_rwlock_timedrdlock, \
      (pthread_rwlock_t *o, const struct timespec *until), \
      (o, until), OBJECT(o), R(until, sizeof *until)) \
    X(int, pthread_rwlock_clockrdlock, \
      (pthread_rwlock_t *o, clockid_t clock, const struct timespec *until), \
      (o, clock, until), OBJECT(o), R(until, sizeof *until)) \
    X(int, pthread_rwlock_timedwrlock, \
      (pthread_rwlock_t *o, const struct timespec *until), \
      (o, until), OBJECT(o), R(until, sizeof *until)) \
    X(int, pthread_rwlock_clockwrlock, \
      (pthread_rwlock_t *o, clockid_t clock, const struct timespec *until), \
      (o, clock, until), OBJECT(o), R(until, sizeof *until)) \
    X(int, pthread_rwlock_init, (pthread_rwlock_t *o, const pthread_rwlockattr_t *a), (o, a), \
      W(o, sizeof *o), ATTRIBUTES(a)) \
    X(int, sem_wait, (sem_t *o), (o), OBJECT(o)) \
    X(int, sem_trywait, (sem_t *o), (o), OBJECT(o)) \
    X(int, sem_post, (sem_t *o), (o), OBJECT(o)) \
    X(int, sem_destroy, (sem_t *o), (o), OBJECT(o)) \
    X(int, sem_timedwait, (sem_t *o, const struct timespec *until), (o, until), \
      OBJECT(o), R(until, sizeof *until)) \
    X(int, sem_clockwait, \
      (sem_t *o, clockid_t clock, const struct timespec *until), \
      (o, clock, until), OBJECT(o), R(until, sizeof *until)) \
    X(int, sem_init, (sem_t *o, int shared, unsigned value), (o, shared, value), W(o, sizeof *o)) \
    X(int, sem_getvalue, (sem_t *o, int *to), (o, to), R(o, sizeof *o), W(to, sizeof *to)) \
    X(int, pthread_once, (pthread_once_t *o, void (*run)(void)), (o, run), OBJECT(o)) \
    X(int, pthread_spin_lock, (pthread_spinlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_spin_trylock, (pthread_spinlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_spin_unlock, (pthread_spinlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_spin_destroy, (pthread_spinlock_t *o), (o), OBJECT(o)) \
    X(int, pthread_spin_init, (pthread_spinlock_t *o, int shared), (o, shared), OBJECT(o)) \
    X(int, pthread_barrier_wait, (pthread_barrier_t *o), (o), OBJECT(o)) \
    X(int, pthread_barrier_destroy, (pthread_barrier_t *o), (o), OBJECT(o)) \
    X(int, pthread_barrier_init, \
      (pthread_barrier_t *o, const pthread_barrierattr_t *a, unsigned n), \
      (o, a, n), W(o, sizeof *o), ATTRIBUTES(a)) \
    X(int, pthread_mutexattr_init, (pthread_mutexattr_t *o), (o), W(o, sizeof *o)) \
    X(int, pthread_mutexattr_destroy, (pthread_mutexattr_t *o), (o), OBJECT(o)) \
    X(int, pthread_mutexattr_settype, (pthread_mutexattr_t *o, int value), (o, value), OBJECT(o)) \
    X(int, pthread_mutexattr_setpshared, (pthread_mutexattr_t *o, int value), (o, value), \
      OBJECT(o)) \
    X(int, pthread_mutexattr_setprotocol, (pthread_mutexattr_t *o, int value), (o, value), \
      OBJECT(o)) \
    X(int, pthread_mutexattr_setrobust, (pthread_mutexattr_t *o, int value), (o, value), \
      OBJECT(o)) \
    X(int, pthread_condattr_init, (pthread_condattr_t *o), (o), W(o, sizeof *o)) \
    X(int, pthread_condattr_destroy, (pthread_condattr_t *o), (o), OBJECT(o)) \
    X(int, pthread_condattr_setpshared, (pthread_condattr_t *o, int value), (o, value), \
      OBJECT(o)) \
    X(int, pthread_rwlockattr_init, (pthread_rwlockattr_t *o), (o), W(o, sizeof *o)) \
    X(int, pthread_rwlockattr_destroy, (pthread_rwlockattr_t *o), (o), OBJECT(o)) \
    X(int, pthread_rwlockattr_setpshared, (pthread_rwlockattr_t *o, int value), (o, value), \
      OBJECT(o)) \
    X(int, pthread_rwlockattr_setkind_np, (pthread_rwlockattr_t *o, int value), (o, value), \
      OBJECT(o)) \
    X(int, pthread_attr_init, (pthread_attr_t *o), (o), W(o, sizeof *o)) \
    X(int, pthread_attr_destroy, (pthread_attr_t *o), (o), OBJECT(o)) \
    X(int, pthread_attr_setdetachstate, (pthread_attr_t *o, int value), (o, value), OBJECT(o)) \
    X(int, pthread_condattr_setclock, (pthread_condattr_t *o, clockid_t clock), (o, clock), \
      OBJECT(o)) \
    X(int, pthread_attr_setstacksize, (pthread_attr_t *o, size_t bytes), (o, bytes), OBJECT(o)) \
    X(int, pthread_attr_getstacksize, (const pthread_attr_t *o, size_t *to), (o, to), \
      R(o, sizeof *o), W(to, sizeof *to)) \
    X(int, pthread_attr_setguardsize, (pthread_attr_t *o, size_t bytes), (o, bytes), OBJECT(o)) \
    X(int, pthread_attr_getguardsize, (const pthread_attr_t *o, size_t *to), (o, to), \
      R(o, sizeof *o), W(to, sizeof *to)) \
    X(int, pthread_create, \
      (pthread_t *to, const pthread_attr_t *a, void *(*run)(void *), void *arg), \
      (to, a, run, arg), W(to, sizeof *to), ATTRIBUTES(a)) \
    X(int, pthread_join, (pthread_t thread, void **to), (thread, to), \
      if (to != NULL) W(to, sizeof *to)) \
    X(int, pthread_key_create, (pthread_key_t *to, void (*end)(void *)), (to, end), \
      W(to, sizeof *to)) \
    X(int, pthread_setname_np, (pthread_t thread, const char *name), (thread, name), text(name)) \
    X(int, pthread_setcancelstate, (int state, int *to), (state, to), \
      if (to != NULL) W(to, sizeof *to)) \
    X(int, pthread_setcanceltype, (int type, int *to), (type, to), \
      if (to != NULL) W(to, sizeof *to)) \
    X(int, sigemptyset, (sigset_t *o), (o), W(o, sizeof *o)) \
    X(int, sigfillset, (sigset_t *o), (o), W(o, sizeof *o)) \
    X(int, sigaddset, (sigset_t *o, int signal), (o, signal), OBJECT(o)) \
    X(int, sigdelset, (sigset_t *o, int signal), (o, signal), OBJECT(o)) \
    X(int, sigismember, (const sigset_t *o, int signal), (o, signal), R(o, sizeof *o)) \
    X(int, pthread_sigmask, (int how, const sigset_t *a, sigset_t *to), (how, a, to), \
      ATTRIBUTES(a); if (to != NULL) W(to, sizeof *to)) \
    X(int, sigprocmask, (int how, const sigset_t *a, sigset_t *to), (how, a, to), \
      ATTRIBUTES(a); if (to != NULL) W(to, sizeof *to))

// clang-format on

/* --- uncounted: finds code in this process that may access blocks uncounted. */

/* Examine all loaded objects. Call before the process ends. */
void uncounted_scan(void);

/* Examine all loaded objects before a dlclose may unload some. May wait for the locks of the
 * dynamic linker that dlclose takes. */
void uncounted_scan_before_unload(void);

/* Reasons why the process may access blocks uncounted. */
enum uncounted {
    UNCOUNTED_LOOKUP = 1 << 0,   // The program looked up a function by name.
    UNCOUNTED_FORMAT = 1 << 1,   // counted_format.c could not parse a format of printf or scanf.
    UNCOUNTED_BY_VALUE = 1 << 2, // An object contains code that may copy structures uncounted.
    UNCOUNTED_ATOMIC = 1 << 3,   // An object contains atomic operations that count as writes only.
    UNCOUNTED_ASSEMBLER = 1 << 4, // An object contains assembler statements, or intrinsics with
                                  // pointers.
    UNCOUNTED_UNLOADED = 1 << 5, // An object may have been unloaded before it was examined.
    UNCOUNTED_ARCHIVE = 1 << 6, // The C++ library is in the program.
};

/* Record the reason WHAT, which suppresses verdicts of "never". Thread-safe, async-signal-safe. */
void uncounted_note(enum uncounted what);

/* Write the names of uncounted functions and objects to the profile. Readers trust that a block was
 * never used only if the profile has this list. */
void uncounted_publish(void);

/* --- padded.c: wrappers of the allocator's functions. They leave room for facts after each block,
 * and prevent two blocks from sharing a granule. In products without counting they have no
 * effect. */

#ifdef HEAPTAP_ACCESS

/* Replace the allocator's functions in N by the wrappers. Call once. */
void padded_in_front(struct real_allocator *n);

#else

static inline void
padded_in_front(struct real_allocator *n)
{
    (void)n;
}

#endif

#endif
