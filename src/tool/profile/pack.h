/* pack.h: write a profile that is readable on any machine. */
#ifndef PROFILE_PACK_H
#define PROFILE_PACK_H

#include "profile/profile.h"
#include "profile/raw.h"
#include "util/strbuf.h"

/* Write a packed copy of the profile file IN_PATH, from which P was loaded, to OUT_PATH. The copy
 * has the used part of each table, compressed, and P's symbols. OUT_PATH is replaced atomically,
 * and may be IN_PATH. It must not be the profile of a living process: that would keep writing into
 * a file without a name. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int pack_write(const char *in_path, const struct profile *p, const char *out_path, struct err *err);

/* Like pack_write, for a caller that still has RAW, the tables of IN_PATH (profile_open_tables).
 * Modifies RAW. */
int pack_tables(const char *in_path, struct raw_file *raw, const struct profile *p,
                const char *out_path, struct err *err);

/* --- write_model.c: write packed files from a model, without the recorder's tables. */

/* Write a packed profile with the tables of P. Requires P's sites to have the ids of a file: class
 * + 1 at node 1, all others dense from DISK_SITE_FIRST on. Returns like write_finish (writer.h). */
int write_model(const struct profile *p, struct strbuf *ret, struct err *err);

/* --- append_notes.c: append notes to the file of a process that has ended. */

/* Append the COUNT NOTES to the profile file PATH, packed or not, whose process must have ended.
 * Returns 0, or HEAPTAP_BAD_INPUT with ERR set and the contents unchanged. */
int append_notes(const char *path, const struct profile_note *notes, size_t count,
                 struct err *err);

/* --- history_prune.c: reduce the snapshots of a file that is packed. */

/* Limits of a packed file. It keeps HISTORY_PRUNE_TIMED_MAX snapshots of the timeline. While the
 * history has more than HISTORY_PRUNE_RECORDS records, it keeps fewer, but at least
 * HISTORY_PRUNE_TIMED_MIN. Snapshots with names are always kept. */
enum {
    HISTORY_PRUNE_TIMED_MAX = 256,
    HISTORY_PRUNE_TIMED_MIN = 64,
    HISTORY_PRUNE_RECORDS = 1 << 15
};

/* Remove snapshots of the timeline from RAW's tables, in place, together with the history's records
 * that become redundant. The counters at the remaining snapshots do not change. */
void history_prune_snapshots(struct raw_file *raw);

#endif
