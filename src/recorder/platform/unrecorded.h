/* unrecorded.h: counts the processes of a run that are not recorded, for `run --fail-on`.
 * Thread-safe and async-signal-safe; without --fail-on all functions do nothing. */
#ifndef PLATFORM_UNRECORDED_H
#define PLATFORM_UNRECORDED_H

#include "base/base.h"
#include "format/format.h"

/* Map the counts. Return true if they are mapped. Call once, when the library is loaded. */
bool unrecorded_start(void);

/* Note that another malloc precedes the recorder's: the program is recorded only if that malloc
 * calls the recorder's. LIBRARY is the path of the library that defines it; "" = the program
 * itself. */
void unrecorded_add_own_malloc(const char *library);

/* Nonzero if another malloc precedes the recorder's and has not called it yet. No thread may then
 * take the fast path of malloc, which does not call unrecorded_malloc_called. Atomic. */
extern uint32_t unrecorded_front_is_silent;

/* Atomic; nonzero after unrecorded_malloc_called. */
extern uint32_t unrecorded_has_malloc_call;

/* Note that the recorder's malloc was called. */
void unrecorded_malloc_called(void);

/* List the recording of this process, whose profile has the header H. Call it when H is complete;
 * may be called before unrecorded_start. */
void unrecorded_add_recording(const struct disk_header *h);

/* Count this process, which was forked and may make no system call, so it is not recorded. */
void unrecorded_add_forked(void);

/* Count this process, whose recording cannot start because of CAUSE, a constant text. IS_SELECTED
 * is false if it is unknown whether this process shall be recorded. Call at most once in a process;
 * may be called before unrecorded_start. */
void unrecorded_add_failed(const char *cause, bool is_selected);

/* An execution, by this process or by a new one. */
struct unrecorded_exec {
    const char *path; // NULL = only a descriptor is known.
    char *const *arguments, *const *environment;
    bool is_child;
    bool searches;     // PATH without a slash is searched along the variable PATH.
    bool is_elsewhere; // A relative PATH begins at another directory than the current one.
};

/* Count the execution if the program will run without the recorder although it should be recorded,
 * cannot be recorded, or is executed by a nested run without --fail-on. Return the count; NULL if
 * there is none. All pointers of E may be invalid. */
uint64_t *unrecorded_add_executed(const struct unrecorded_exec *e);

/* Revoke the execution, which failed, from COUNT. */
void unrecorded_revoke_executed(uint64_t *count);

#endif
