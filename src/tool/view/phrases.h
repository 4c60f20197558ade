/* phrases.h: words for sizes, places, metrics and moments, identical in all views. */
#ifndef VIEW_PHRASES_H
#define VIEW_PHRASES_H

#include "analyse/access_sites.h"
#include "analyse/callgraph.h"
#include "analyse/fields.h"
#include "analyse/stacks.h"
#include "image/examined.h"
#include "image/glibc_heap.h"
#include "image/place.h"
#include "profile/profile.h"
#include "resident/resident.h"
#include "view/session.h"

/* Names of enum timeline_by: "live", "growth", "allocated", "calls"; then NULL. */
extern const char *const timeline_by_names[];

/* Return the title of P's column of METRIC. */
const char *phrase_metric_column(const struct profile *p, enum metric metric);

/* Return the title of METRIC_TEMPORARY for C, or the definition of these blocks: "Short-lived",
 * "died within 16 allocations"; for an older or a sampled profile "Temporary", "died before the
 * next allocation". */
const char *phrase_short_lived_title(const struct counters *c);
const char *phrase_short_lived(const struct counters *c);

/* Return the name of a signal: "SIGSEGV", or "signal 99". */
const char *phrase_signal(struct arena *arena, uint32_t number);

/* Return true if the signal NUMBER reports an error of the program that it ends. */
bool phrase_is_crash(uint32_t number);

/* Return the end of PR that a signal caused: ", killed by SIGSEGV"; "" if there was none. */
const char *phrase_end(struct arena *arena, const struct profile_process *pr);

/* Return the name of P's live bytes: "Still live at end"; "Growth of live" in a cut profile. */
const char *phrase_live(const struct profile *p);

/* Return the number of BLOCKS: "3 blocks". In estimates a row may have BYTES and no whole block:
 * "<1 block". From ARENA. */
const char *phrase_blocks(struct arena *arena, int64_t blocks, int64_t bytes);

/* Return a block size or a limit of sizes: "24 B", "64 KiB" rather than "64.0 KiB". From ARENA. */
const char *phrase_size(struct arena *arena, uint64_t bytes);

/* Return the file of FRAME: "dir/file.c" (the whole path if FULL), or the module if there is none.
 * Part of P. */
const char *phrase_file(const struct profile *p, uint32_t frame, bool full);

/* Return the place of FRAME: "dir/file.c:12" (the whole path if FULL), or the module's base name if
 * there is no file. From ARENA. */
const char *phrase_place(const struct profile *p, uint32_t frame, bool full, struct arena *arena);

/* Return " and 4 more lines", the suffix for a row that sums COUNT lines besides the one shown; ""
 * for 0. From ARENA. */
const char *phrase_more_lines(size_t count, struct arena *arena);

/* Return the place where step I of PATH, FUNCTION, was called: "file.c:12" or "libx.so+0x1f30"; ""
 * if the step has no frame. From ARENA. */
const char *phrase_call_site(const struct profile *p, const struct path *path, uint32_t i,
                             uint32_t function, struct arena *arena);

/* --- access_words.c: describe the use of blocks in words. */

/* Return V for people, "most of each block unused"; or its name in JSON, "mostly-unused". */
const char *access_verdict_words(enum access_verdict v);
const char *access_verdict_name(enum access_verdict v);

/* Return the words for memory without an access, "never touched", and for memory without a read,
 * "written and never read". UNPROVEN: uncounted code may have used it. */
const char *access_unused_words(bool unproven);
const char *access_unread_words(bool unproven);

/* Return H in JSON: "hot", "warm" or "cold". */
const char *access_heat_name(enum access_heat h);

/* Return the granularity of access counts: "by 8 bytes". From ARENA. */
const char *access_granule_words(struct arena *arena, const struct profile_accesses *a);

/* Return X for people, with its significant digits: "1.2M", "823.1", "0.03". From ARENA. */
const char *access_number(struct arena *arena, double x);

/* Return ACCESSES for people, with the noun: "1 access", "1.2M accesses". From ARENA. */
const char *access_plural(struct arena *arena, uint64_t accesses);

/* Store remarks on the counting of P's accesses: losses, and counts that threads may have lost to
 * each other. Each is one sentence, from ARENA. Return their number, at most ACCESS_REMARKS. */
enum { ACCESS_REMARKS = 10 };
size_t access_remarks(const struct profile *p, struct arena *arena,
                      const char *ret[ACCESS_REMARKS]);

/* --- field_words.c: advice on structures in words. */

/* Return the name of R: "list.next", or "(padding)". */
const char *field_name(const struct profile *p, const struct field_row *r);

/* Return the names of the members of PART of F: "key", "list", "dirty, pinned". From ARENA. */
const char *field_part_name(const struct profile *p, const struct field_structure *f,
                            const struct field_part *part, struct arena *arena);

/* Return the certainty of the blocks' type: "certainly", "likely". */
const char *field_verdict_words(uint32_t verdict);

/* Store advice on F in one sentence each, from ARENA. Return their number, at most
 * FIELD_SENTENCES. */
enum { FIELD_SENTENCES = 16 };
size_t field_sentences(const struct profile *p, const struct field_structure *f,
                       const struct field_advice *advice, struct arena *arena,
                       const char *ret[FIELD_SENTENCES]);

/* --- memory_words.c: findings in the memory of a process in words. All results are from ARENA. */

/* Return PLACE in words: "8 bytes behind the end of a block of 64 bytes". */
const char *memory_place_words(struct arena *arena, const struct examined *e,
                               const struct place *place);

/* Return KIND in JSON: "block", "behind", "ended", "stack", "below_stack", "module", "null",
 * "other" or "nowhere". */
const char *memory_place_name(enum place_kind kind);

/* Return the allocating thread of a block: "by thread 4711 (worker), of which it is the latest";
 * NULL if unknown. */
const char *memory_birth_thread(struct arena *arena, const struct birth *b);

/* Return the time of a block's allocation: "12.1 s to 12.4 s after the start, 3.2 s to 3.5 s ago";
 * NULL if unknown. */
const char *memory_birth_time(struct arena *arena, const struct examined *e, const struct birth *b);

/* Return the end of a sentence about the block of CAUSE: "was being freed and most likely
 * overflowed". Requires a known kind. */
const char *memory_abort_words(struct arena *arena, const struct abort_cause *cause);

/* Return the kind of CAUSE in JSON: "overflowed". NULL if it is unknown. */
const char *memory_abort_kind(const struct abort_cause *cause);

/* Return true if a signal ended the process of M, false if the process survived the dump. */
bool memory_has_died(const struct memory *m);

/* Return the size of B: "64 B", "about 64 B" for an estimate, or "of unknown size". */
const char *memory_block_size(struct arena *arena, const struct block *b);

/* Return the end of the process of M: "Killed by SIGSEGV: …". */
const char *memory_signal_words(struct arena *arena, const struct memory *m);

/* Return a sentence about the missing parts of E, to append to its totals; "" if there are none. */
const char *memory_gaps_words(struct arena *arena, const struct examined *e);

/* --- resident_words.c: resident memory in words. */

/* Return the name of PART in JSON, and its meaning. */
const char *resident_part_name(enum resident_part part);
const char *resident_part_words(enum resident_part part);

/* Return a sentence with the most useful step to reduce R's memory, or NULL. From ARENA. */
const char *resident_advice(struct arena *arena, const struct resident *r);

/* --- sampling.c: recording modes, and the accuracy of numbers, in words. */

/* Return MODE in words: "exact", "one block in 512 KiB", "one call in 1,000", "off". */
const char *sampling_mode(struct arena *arena, const struct profile_recording_mode *mode);

/* Return "cost ~3.9 %, limited to 5 %", the recorder's cost in P; "" without --max-overhead. */
const char *sampling_overhead(struct arena *arena, const struct profile *p);

/* Return the recording modes of P, in a few words for the header. */
const char *sampling_how(struct arena *arena, const struct profile *p);

/* Return the time that P's counters cover, if P is cut: "As it was at 1 min 4 s (loaded)". */
const char *sampling_extent(struct arena *arena, const struct profile *p);

/* Return "± 3 %", "few" if there are too few samples to trust the number, or "~" if its error is
 * not known; "" for exact numbers. */
const char *sampling_mark(struct arena *arena, const struct counters *c, const struct errors *e,
                          enum metric metric);

/* Return true if METRIC of C, with the errors E, is an estimate. */
bool sampling_is_estimate(const struct counters *c, const struct errors *e, enum metric metric);

/* Return " ± 3 %" or, with few samples, " (few: 1.2 MiB–3.4 MiB)"; " ~" if the error is not known;
 * "" for exact numbers. */
const char *sampling_error(struct arena *arena, const struct counters *c, const struct errors *e,
                           enum metric metric);

/* --- notes.c: tools' notes from the time of recording, in words. */

/* Return the sentence of N; for a note from a merged profile, with its process. From ARENA, or N's
 * text. */
const char *note_sentence(struct arena *arena, const struct profile_note *n);

/* Return the name of N's kind in JSON: "memory-not-through-malloc", "hook-never-called"; "other"
 * for a kind of a later version. */
const char *note_kind_name(const struct profile_note *n);

/* --- damage.c: the sentences about damaged files, and about processes that a session lacks. */

/* Return the sentence about P, which must be damaged (struct profile), without a full stop. From
 * ARENA. */
const char *damage_sentence(struct arena *arena, const struct profile *p);

/* Return the sentence about the readable profiles of SET, or NULL if none is damaged. From
 * ARENA. */
const char *damage_of_profiles(const struct view_set *set, struct arena *arena);

/* Return the sentence about SET, or NULL if all profiles are whole. If SET lacks unreadable
 * profiles, the sentence is the same as for a merged profile. From ARENA. */
const char *damage_of_set(const struct view_set *set, struct arena *arena);

/* Return the sentence about the processes that SET lacks because they do not have the moment of
 * --at or --between, or NULL. From ARENA. */
const char *damage_without_point(const struct view_set *set, struct arena *arena);

#endif
