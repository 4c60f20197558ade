/* sink.h: destination of a command's results. */
#ifndef COMMAND_SINK_H
#define COMMAND_SINK_H

#include "util/replace.h"
#include "util/strbuf.h"
#include "view/session.h"

/* An output: its path, and the profiles that it must not replace. The caller sets path, set and
 * is_text; the rest belongs to sink.c. */
struct sink {
    const char *path; // NULL = stdout.
    const struct view_set *set;
    bool is_text; // Text for people, which may have to be ASCII (util/amount.h).
    bool is_open;
    struct replacement file;
    char *target; // File that `file` replaces; NULL if `path` is written in place.
    int error;    // errno of the first failure.
    int rc;       // Exit code if there is no file.
};

/* Return an empty output for S. S must exist until sink_end or sink_abandon. A large output is
 * written in parts while the caller produces it (strbuf_pause). */
struct strbuf sink_begin(struct sink *s);

/* Write OUT, replacing an existing file other than a profile, and release OUT. Returns 0, or the
 * exit code after printing an error. On failure an existing file is unchanged. If it had to be
 * written in place (sink.c) and is incomplete, it is removed. */
int sink_end(struct strbuf *out);

/* Release OUT and drop its unwritten contents. */
void sink_abandon(struct strbuf *out);

/* Write TEXT, for people, to stdout. Returns as sink_end. */
int sink_print(const char *text);

/* Refuse PATH as an output if it is the file INPUT, by device and inode. WHAT names the kind of
 * INPUT. Returns as sink_end. */
int sink_check_input(const char *path, const char *input, const char *what);

/* Refuse PATH as an output if it is a profile, or a file of SET. Returns as sink_end. */
int sink_check(const char *path, const struct view_set *set);

#endif
