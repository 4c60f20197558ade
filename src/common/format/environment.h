/* environment.h: the variables that `heaptap run` sets for the recorder, and the names of
 * profiles.
 *
 * The environment reaches every process of a run. A variable that is not set, or that has no number
 * where one is expected, has no effect. docs/guide/processes.md documents them for users. */
#ifndef FORMAT_ENVIRONMENT_H
#define FORMAT_ENVIRONMENT_H

/* Paths of profiles: patterns, whose % sequences recorder/platform/output.c explains. */
#define ENVIRONMENT_OUT "HEAPTAP_OUT"       // For the first process.
#define ENVIRONMENT_OTHERS "HEAPTAP_OTHERS" // For all others; empty: they are not recorded.

/* The processes of the run. */
#define ENVIRONMENT_PID "HEAPTAP_PID"         // Id of the first process.
#define ENVIRONMENT_SESSION "HEAPTAP_SESSION" // Id of the run, hexadecimal.
#define ENVIRONMENT_ONLY "HEAPTAP_ONLY"       // Patterns of program names, separated by commas.

/* The stderr of run (format/run_stderr.h): messages go only to that file. Not set: to any
 * stderr. */
#define ENVIRONMENT_STDERR "HEAPTAP_STDERR"

/* Scope of the recording. */
#define ENVIRONMENT_FRAMES "HEAPTAP_FRAMES"             // Number of innermost frames of a stack.
#define ENVIRONMENT_SAMPLE "HEAPTAP_SAMPLE"             // Sample: one block in so many bytes,
#define ENVIRONMENT_SAMPLE_COUNT "HEAPTAP_SAMPLE_COUNT" // or in so many calls.
#define ENVIRONMENT_DELAY "HEAPTAP_DELAY"               // Start recording after so many ms,
#define ENVIRONMENT_DURATION "HEAPTAP_DURATION"         // and record for so many ms.
#define ENVIRONMENT_SNAPSHOT_GROWTH "HEAPTAP_SNAPSHOT_GROWTH" // Snapshot per growth in bytes,
#define ENVIRONMENT_SNAPSHOT_SIGNAL "HEAPTAP_SNAPSHOT_SIGNAL" // or at the signal of this number.

/* Annotated blocks: number of return addresses in front, and bytes of the guard behind. */
#define ENVIRONMENT_ANNOTATE "HEAPTAP_ANNOTATE"
#define ENVIRONMENT_GUARD "HEAPTAP_GUARD"
#define ENVIRONMENT_CHECK_EVERY "HEAPTAP_CHECK_EVERY" // Number of events between two checks.

#define ENVIRONMENT_SELF_CONTAINED "HEAPTAP_SELF_CONTAINED" // 1: the profile is in core dumps.

/* Limits of the recorder. */
#define ENVIRONMENT_RESERVE "HEAPTAP_RESERVE"       // Bytes of the file, all reserved at the start.
#define RESERVE_BYTES_MAX ((uint64_t)8 << 30)       // More is cut.
#define ENVIRONMENT_MAX_MEMORY "HEAPTAP_MAX_MEMORY" // Upper bound of memory in bytes.
#define ENVIRONMENT_NODES "HEAPTAP_NODES" // Upper bound of nodes in the call tree, for tests.

/* Suffix of profiles, and their default name. */
#define PROFILE_SUFFIX ".heaptap"
#define PROFILE_DEFAULT_NAME "heaptap.%e.%p" PROFILE_SUFFIX

#endif
