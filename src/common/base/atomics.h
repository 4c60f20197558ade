/* atomics.h: atomic operations on plain integers, named by their memory order. */
#ifndef BASE_ATOMICS_H
#define BASE_ATOMICS_H

#define load_relaxed(p)         __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p)         __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v)     __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v)     __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define add_relaxed(p, v)       __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define or_relaxed(p, v)        __atomic_fetch_or((p), (v), __ATOMIC_RELAXED)

/* The following operations have memory_order_seq_cst: all threads see them in one order. */
#define exchange_seq_cst(p, v)  __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
#define load_seq_cst(p)         __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define add_seq_cst(p, v)       __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define or_seq_cst(p, v)        __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST)
#define and_seq_cst(p, v)       __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST)
#define cas_seq_cst(p, expected, v) \
    __atomic_compare_exchange_n((p), (expected), (v), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* If *P equals *EXPECTED, store V in *P and return true. Otherwise load *P into *EXPECTED and
 * return false. */
#define cas_acq_rel(p, expected, v) \
    __atomic_compare_exchange_n((p), (expected), (v), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* Compiler barrier: no memory access moves across it. It orders accesses against a signal handler
 * of the same thread, not against other threads. */
#define signal_fence()          __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Add one to the counter *P, which only the calling thread writes. On an aligned word this is one
 * instruction, so readers in other threads see whole values. An atomic load and store would be
 * three instructions. */
#define bump(p)                 ((void)(*(p) += 1))
#define bump_by(p, v)           ((void)(*(p) += (v)))

#endif
