/* top.h: the state of `heaptap top`: a list of processes, or one process. */
#ifndef LIVE_TOP_H
#define LIVE_TOP_H

#include "live/top_text.h"

struct top_settings {
    const char *what;
    uint64_t interval_ns;
    int by; // Index in top_by_names.
    enum top_sort sort;
    uint64_t limit;            // Maximum number of rows in a batch; 0 = the default.
    struct view_options *view; // Its members change with the user's wishes.
};

struct top {
    struct top_settings settings;
    struct top_wishes wishes; // Belongs to the thread that reads.
    struct watch *watch;
    struct arena arena; // Memory of `processes`, renewed by top_refresh.
    struct watched *processes;
    size_t count;
    uint32_t opened; // Id of the process that is shown; 0 = the list.
    struct top_order order;
    char *filter;
    enum group_by by;
    bool native;
};

/* Begin to watch. Returns 0, after which top_end must follow, or a negative heaptap_errc with ERR
 * set. */
int top_begin(struct top *t, const struct top_settings *settings, struct err *err);

/* Return true if WHAT names one process and not a set of them. */
bool top_is_single(const char *what);

/* End. Returns false if a reading was in progress: the thread then still runs, and the command must
 * end by _exit. */
bool top_end(struct top *t);

/* Get the latest readings. */
void top_refresh(struct top *t);

/* Set *RET to the opened process and its rows. Requires that there is one. */
void top_show(const struct top *t, struct top_shown *ret);

/* Return the opened process; NULL if the list is shown. */
const struct watched *top_opened(const struct top *t);

/* Return why the only process could not be read even once; NULL if it was, or there are several. */
const char *top_failure(const struct top *t);

/* Show the process ID; 0 = the list. */
void top_open(struct top *t, uint32_t id);

/* Change the grouping, the filter (NULL = none), or whether C frames are shown. */
void top_set_by(struct top *t, enum group_by by);
void top_set_filter(struct top *t, const char *filter);
void top_set_native(struct top *t, bool native);

/* Count changes from the latest reading on. */
void top_mark_now(struct top *t);

#endif
