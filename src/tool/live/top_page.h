/* top_page.h: pages of text on the screen of `heaptap top`, and requests to the process. Both are
 * made by the thread that reads, so the screen never waits for them. */
#ifndef LIVE_TOP_PAGE_H
#define LIVE_TOP_PAGE_H

#include <stdatomic.h>

#include "live/top.h"

enum top_page_kind { PAGE_STACK, PAGE_SOURCE, PAGE_TREE, PAGE_CALLERS, PAGE_ABOUT };

struct top_page {
    enum top_page_kind kind;
    struct reading *reading; // Kept.
    uint64_t key;            // The row.
    size_t width;
    struct strbuf text;      // Valid once `done`.
    atomic_bool done;
};

/* Ask W for the page KIND of READING's row KEY, in lines of WIDTH columns. The caller frees the
 * result, once it is done, by top_page_free. */
struct top_page *top_page_ask(struct watch *w, enum top_page_kind kind, struct reading *reading,
                              uint64_t key, size_t width);
void top_page_free(struct top_page *page);

enum top_request_kind { REQUEST_SNAPSHOT, REQUEST_RECORDING, REQUEST_SAVE };

/* A request of the user. */
struct top_request {
    enum top_request_kind kind;
    char *what; // The process or profile.
    char *text; // Name of the snapshot, way of recording, or path of the file.
    const struct symbol_choice *symbols;
    struct err answer; // A sentence; valid once `done`.
    atomic_bool done;
};

/* Check TEXT, the user's answer to the question of KIND. Returns 0, or HEAPTAP_USAGE with ERR. */
int top_request_check(enum top_request_kind kind, const char *text, struct err *err);

/* Send a request to W. As top_page_ask. */
struct top_request *top_request_send(struct watch *w, enum top_request_kind kind, const char *what,
                                     const char *text, const struct symbol_choice *symbols);
void top_request_free(struct top_request *r);

#endif
