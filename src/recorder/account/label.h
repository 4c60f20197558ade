/* label.h: stores the labels of the calling thread; see label.c. */
#ifndef ACCOUNT_LABEL_H
#define ACCOUNT_LABEL_H

#include "account/nodes.h"
#include "platform/state.h"

/* Create the table of labels when recording starts. Return false if memory is exhausted. */
bool label_start(void);

/* Return the number of the set with the labels of SET plus KEY=VALUE, or without KEY if VALUE is
 * NULL. Numbers stay valid for the life of the program and its children; 0 is the empty set. If
 * there is no room, count a loss and return the set "other". Async-signal-safe. */
uint32_t label_with(uint32_t set, const char *key, const char *value);

/* Return SET, a number from the program, if a set with this number exists; else 0. */
uint32_t label_checked(uint32_t set);

/* Set the labels of the calling thread to SET. */
void label_adopt(uint32_t set);

/* Return the child of NODE for the calling thread's labels. Requires that the thread has labels. */
uint32_t label_node(uint32_t node);

/* Return the child of NODE for the calling thread's labels, or NODE if the thread has none. */
static inline uint32_t
label_here(uint32_t node)
{
    return likely(tls.labels == 0) ? node : label_node(node);
}

/* --- named.c: assigns ids to frames of languages other than C. */

/* Create the table of named frames when recording starts. Return false if memory is exhausted. */
bool named_start(void);

/* Return the id for a frame; NULL strings count as "". Ids stay valid for the life of the program
 * and its children; 0 = no room. Async-signal-safe. May be called in a process that is not
 * recorded. */
uint32_t named_id(const char *function, const char *file, uint32_t line, const char *language);

/* Return the value of a node's `frame` for the named frame ID. ID comes from the program, so any
 * number is accepted. */
uint64_t named_frame(uint32_t id);

#endif
