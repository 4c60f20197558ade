/* process.h: facts that the kernel passed to this process at its start. */
#ifndef PLATFORM_PROCESS_H
#define PLATFORM_PROCESS_H

#include "base/base.h"
#include "unwind/unwind.h"

/* Return the value of TYPE (AT_PHDR and so on, below 64) in the auxiliary vector; 0 if the vector
 * has none. The first call in the process reads the vector and must come before sys_be_quiet.
 * Async-signal-safe. */
uint64_t process_value(uint32_t type);

/* Return libc's own function NAME, even if the program defines another one; NULL in a static
 * program. Async-signal-safe. */
void *process_libc_function(const char *name);

/* Return libc's environment, or the kernel's if libc has none; NULL if neither exists.
 * Async-signal-safe. */
char **process_environment(void);

/* Return the environment that the kernel passed; NULL in a static program. Async-signal-safe. */
char **process_first_environment(void);

/* Return the address at which the kernel put argc: the start of the main thread's stack. Returns 0
 * if it is not known. Call after process_learn. Async-signal-safe. */
uint64_t process_stack_start(void);

/* Read all these facts, find libc and the kernel's clock function, and start the unwinder.
 * Async-signal-safe. */
void process_learn(void);

/* --- identity.c: the process that owns the caller's memory; see identity.c. */

/* Record that the calling process owns its memory. Call it when the process image starts, and in
 * each forked child, before a vfork or clone(CLONE_VM) can share that memory. Async-signal-safe. */
void identity_own(void);

/* Release the record of the owner. Call when recording has ended for good. */
void identity_release(void);

/* Return true if the caller is a guest: a process that runs in the memory of another one.
 * Async-signal-safe. */
bool identity_is_guest(void);

/* Return the id of the process that owns the caller's memory. This is the caller itself, unless it
 * is a guest. Returns a negative number in a quiet process. Async-signal-safe. */
int identity_pid(void);

/* --- image.c: finds functions of a mapped object by the object's own tables. */

/* Describe the object whose file header is mapped at HEADER, which is 0 or readable for a page.
 * Return false if there is no object. The description lacks unwind tables and link map. */
bool image_at(uint64_t header, struct unwind_object *ret_object);

/* Return the address of the function that OBJECT exports as NAME; NULL if there is none, or if it
 * is an indirect function. Reads nothing outside OBJECT's readable segments, even with corrupt
 * tables. Lock-free, async-signal-safe. */
void *image_function(const struct unwind_object *object, const char *name);

#endif
