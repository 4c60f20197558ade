/* sink.h: the destination of a command's results. */
#ifndef COMMAND_SINK_H
#define COMMAND_SINK_H

#include "util/replace.h"
#include "util/strbuf.h"
#include "view/session.h"

/* An output to be: its path, and the profiles that it must not replace. The rest is sink.c's. */
struct sink {
    const char *path; // NULL = stdout.
    const struct view_set *set;
    bool is_text; // For people, so that it may have to be ASCII (util/ascii.h).
    bool is_open;
    struct replacement file;
    char *target; // The file that FILE replaces; NULL if PATH itself is written.
    int error;    // errno of the first failure.
    int rc;       // Why there is no file.
};

/* An empty output for S, which must stay until sink_end or sink_abandon. A large output is written
 * while it is made (strbuf_pause). */
struct strbuf sink_begin(struct sink *s);

/* Write OUT, replacing the file that was there, but never a profile, and release it. Returns 0, or
 * the exit code after saying why; then an older file is unchanged, except for one that could not be
 * replaced as a whole (sink.c): if that is cut short, it is removed. */
int sink_end(struct strbuf *out);

/* Release OUT and drop its unwritten contents. */
void sink_abandon(struct strbuf *out);

/* Write TEXT, for people, to stdout. Returns as sink_end does. */
int sink_print(const char *text);

/* Refuse PATH as an output if it is the file INPUT, by device and inode. WHAT names the kind of
 * INPUT. Returns as sink_end does. */
int sink_check_input(const char *path, const char *input, const char *what);

/* Refuse PATH if it is a profile, or one of SET's. Returns as sink_end does. */
int sink_check(const char *path, const struct view_set *set);

#endif
