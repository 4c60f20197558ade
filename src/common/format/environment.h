/* environment.h: what `heaptap run` tells the recorder, and how profiles are named.
 *
 * The environment is what reaches every process of a run. A variable that is not set, or that is no
 * number where one is meant, asks for nothing; docs/guide/processes.md has them for users.
 */
#ifndef FORMAT_ENVIRONMENT_H
#define FORMAT_ENVIRONMENT_H

/* Where profiles go: patterns of paths (recorder/platform/output.c says what % means in them). */
#define ENVIRONMENT_OUT "HEAPTAP_OUT"       // That of the first process.
#define ENVIRONMENT_OTHERS "HEAPTAP_OTHERS" // Those of all others; empty: they are not recorded.

/* Whose. */
#define ENVIRONMENT_PID "HEAPTAP_PID"         // The id of the first process.
#define ENVIRONMENT_SESSION "HEAPTAP_SESSION" // The id of the run, hexadecimal.
#define ENVIRONMENT_ONLY "HEAPTAP_ONLY"       // Patterns of program names, separated by commas.

/* To whom messages go: the file that is run's stderr (format/run_stderr.h). Not set: to anybody. */
#define ENVIRONMENT_STDERR "HEAPTAP_STDERR"

/* What is recorded. */
#define ENVIRONMENT_FRAMES "HEAPTAP_FRAMES"             // Of a stack, the innermost ones.
#define ENVIRONMENT_SAMPLE "HEAPTAP_SAMPLE"             // One block in so many bytes,
#define ENVIRONMENT_SAMPLE_COUNT "HEAPTAP_SAMPLE_COUNT" // or in so many calls.
#define ENVIRONMENT_DELAY "HEAPTAP_DELAY"               // Nothing for so many ms from the start on.
#define ENVIRONMENT_DURATION "HEAPTAP_DURATION"         // For so many ms, then no more.
#define ENVIRONMENT_SNAPSHOT_GROWTH "HEAPTAP_SNAPSHOT_GROWTH" // Each time after so many bytes more,
#define ENVIRONMENT_SNAPSHOT_SIGNAL "HEAPTAP_SNAPSHOT_SIGNAL" // or at the signal of this number.

/* Blocks carry who allocated them: so many return addresses, and so many bytes behind. */
#define ENVIRONMENT_ANNOTATE "HEAPTAP_ANNOTATE"
#define ENVIRONMENT_GUARD "HEAPTAP_GUARD"
#define ENVIRONMENT_CHECK_EVERY "HEAPTAP_CHECK_EVERY" // Events from one look at blocks to the next.

#define ENVIRONMENT_SELF_CONTAINED "HEAPTAP_SELF_CONTAINED" // 1: in memory that core dumps hold.

/* What the recorder may take. */
#define ENVIRONMENT_RESERVE "HEAPTAP_RESERVE"       // So many bytes of file, all at the start.
#define ENVIRONMENT_MAX_MEMORY "HEAPTAP_MAX_MEMORY" // No more than so many bytes.
#define ENVIRONMENT_NODES "HEAPTAP_NODES" // No larger call tree than of so many nodes: for tests.

/* Profiles end so, and are called this where nobody has chosen a name. */
#define PROFILE_SUFFIX ".heaptap"
#define PROFILE_DEFAULT_NAME "heaptap.%e.%p" PROFILE_SUFFIX

#endif
