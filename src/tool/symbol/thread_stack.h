/* thread_stack.h: the call stack of a stopped thread, from its registers and memory. */
#ifndef SYMBOL_THREAD_STACK_H
#define SYMBOL_THREAD_STACK_H

#include "profile/profile.h"
#include "symbol/symbol_options.h"

enum { THREAD_FRAMES_MAX = 512 };

/* State of a thread of the process of a profile. */
struct thread_state {
    uint32_t machine;          // ELF e_machine. Others than x86-64 and aarch64 have no stack.
    const uint64_t *registers; // In the kernel's order (NT_PRSTATUS).
    uint32_t register_count;
    uint64_t pc, sp;
    // Read the word at ADDRESS into *RET. Return false if it is missing.
    bool (*read_word)(const void *memory, uint64_t address, uint64_t *ret);
    const void *memory; // Passed to read_word.
};

struct thread_frame {
    uint64_t address;
    bool exact; // True for the instruction itself, false for a return address.
    uint64_t sp; // Stack pointer in this frame, whose words end at the next one's; 0 = unknown.
};

/* Store the frames of T, innermost first, in RET. The files of P's modules, found at PATHS, have
 * the unwind tables. If no module contains T's pc, as after a call through a null pointer, the
 * second frame is the return address at T's sp. Return the number of frames, at least 1; only T's
 * pc if the machine or its tables are unknown. */
size_t thread_stack(const struct profile *p, const struct symbol_paths *paths,
                    const struct thread_state *t, struct thread_frame ret[THREAD_FRAMES_MAX]);

/* --- Several threads of one process. */

struct thread_walker;

/* Read the files of P's modules, found at PATHS. The caller must close the result. */
struct thread_walker *thread_walker_open(const struct profile *p, const struct symbol_paths *paths);
void thread_walker_close(struct thread_walker *w);

/* Like thread_stack. */
size_t thread_walker_stack(struct thread_walker *w, const struct thread_state *t,
                           struct thread_frame ret[THREAD_FRAMES_MAX]);

#endif
