/* open_set.h: open the profiles that the user named. */
#ifndef OPEN_OPEN_SET_H
#define OPEN_OPEN_SET_H

#include "option/shared_opts.h"
#include "profile/profile.h"
#include "symbol/thread_stack.h"
#include "view/memory_view.h"
#include "view/session.h"

/* Open WHAT (NULL: the newest *.heaptap of the current directory): one profile, or the profiles of
 * a session that --only selects, largest first. Each is cut to --at or --between. The profiles are
 * not symbolised yet. Returns 0, or the exit code after reporting the error. The caller closes *RET
 * in either case. */
int set_open(const char *what, const struct view_options *options, struct view_set *ret);
void set_close(struct view_set *set);

/* Return true if one of PATTERNS, separated by commas, matches P's process id, its executable or
 * its argument 0. From ARENA. */
bool set_is_picked(const struct profile *p, const char *patterns, struct arena *arena);

/* SET_OF_MOMENTS: without histories, but processes that were cut to --at are summed as well. */
enum set_history { SET_WITHOUT_HISTORY, SET_WITH_HISTORY, SET_OF_MOMENTS };

/* Replace the profiles of SET by their sum, if there are several or some were unreadable, and
 * symbolise. SET was opened from WHAT under OPTIONS. HISTORY selects whether histories are kept
 * (merge_keep_history). Returns 0, or the exit code after reporting the error. */
int set_merge(struct view_set *set, const char *what, const struct view_options *options,
              enum set_history history);

/* --- open_process.c: load the profile in the memory of a running process. */

/* Load the profile in the memory of the process whose id is WHAT. Returns 0 and an owned *RET, or
 * an error with ERR set. HEAPTAP_NOT_FOUND means that WHAT is not such a process; its profile, if
 * any, is a file. */
int open_process(const char *what, struct profile **ret, struct err *err);

/* Load the profile called WHAT, as profile_open does, or the one in the memory of a process. */
int open_one(const char *what, struct profile **ret, struct err *err);

/* --- runtime_note.c: the note on a runtime's own heap. */

/* Add the note on the runtime that P's program is to P, if there is one. Notes from the time of
 * recording take precedence. */
void runtime_note_add(struct profile *p);

/* --- examine.c: open the memory of a recorded process that the user named. */

/* The file or process that the user named. */
struct examine_request {
    const char *core;    // Path of a dump; NULL = a process.
    uint32_t pid;        // The recorded process.
    const char *program; // Program that wrote the dump; NULL = not given.
    const char *profile; // Profile of the process; NULL = search for it.
    // Use the whole profile of a self-contained dump, without the blocks that a forked child
    // inherited.
    bool all_counters;
    bool unrecorded; // Accept a process that is not recorded.
    bool no_fork;    // Keep the process stopped during the whole search.
    bool force;      // Stop the process for longer than a second if necessary.
    bool counters;       // Prefer a whole profile in the memory to one made of live blocks.
};

/* Open the memory that W names, find the recorder's record in it, read the blocks, fill in ANSWER,
 * and make a profile of the blocks. A living process is only stopped if ANSWER requires it, and
 * resumed afterwards. *RET_FILE is a descriptor of the profile, an unnamed file; -1 if nothing was
 * recorded. The caller closes it, and *RET by examine_close. Returns 0, or the exit code after
 * printing an error. */
int examine_open(const struct examine_request *w, struct memory_answer *answer,
                 struct examined *ret, int *ret_file);
void examine_close(struct examined *e);

/* --- walked_blocks.c: blocks of a process that was not recorded. */

/* Read the blocks of E, which has no record, from glibc's heap, and make a profile with a site for
 * each class and size. *RET_WHOLE is false if a heap could not be walked to its end. Returns 0,
 * HEAPTAP_NOT_FOUND if there is no such heap, or another error with ERR set. */
int walked_blocks_read(struct examined *e, bool *ret_whole, struct err *err);

/* --- crash_stack.c: the stack of the thread that died. */

/* Append the frames of E's thread that died to the locations of P, its profile, so that they are
 * symbolised with the others, and set E->crash. Does nothing if no signal ended or
 * stopped the process.
 * CHOICE has the places of P's files. */
void crash_stack_add(struct examined *e, struct profile *p, const struct symbol_choice *choice);

/* --- thread_frames.c: frames of threads. */

/* Append the recorder's library in M to P's modules, unless they have it. Return its id; 0 if M has
 * none. */
uint32_t thread_frames_add_recorder(struct profile *p, const struct memory *m);

/* Return the module of FRAME; 0 if there is none. */
uint32_t thread_frames_module(const struct profile *p, const struct thread_frame *frame);

/* Append the COUNT FRAMES to the locations of P, so that they are symbolised with the others.
 * Return the index of the first one. */
uint32_t thread_frames_append(struct profile *p, const struct thread_frame *frames, size_t count);

/* Append the files that E's process has mapped to P's modules, for a process of which nothing was
 * recorded. */
void thread_frames_add_modules(struct profile *p, const struct examined *e);

/* Find the frames that hold the words of R's roots on stacks, and append them to the locations of
 * P. If R has a path, only the stack where it begins counts. CHOICE has the places of P's files. */
void thread_frames_find(struct retain *r, struct profile *p, const struct symbol_choice *choice);

#endif
