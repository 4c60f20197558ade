/* environment.h: the variables that `heaptap run` sets for the recorder, and the names of profiles.
 *
 * Every process of a run inherits the environment. A variable has no effect if it is not set, or if
 * it has no number where one is expected. docs/guide/processes.md documents them for users. */
#ifndef FORMAT_ENVIRONMENT_H
#define FORMAT_ENVIRONMENT_H

/* Paths of profiles. They are patterns; recorder/platform/output.c explains the % sequences. */
#define ENVIRONMENT_OUT "HEAPTAP_OUT"       // Path for the first process.
#define ENVIRONMENT_OTHERS "HEAPTAP_OTHERS" // Path for all other processes; empty: do not record
                                            // them.

/* The processes of the run. */
#define ENVIRONMENT_PID "HEAPTAP_PID"         // Id of the first process.
#define ENVIRONMENT_SESSION "HEAPTAP_SESSION" // Id of the run, hexadecimal.
#define ENVIRONMENT_ONLY "HEAPTAP_ONLY"       // Patterns of program names, separated by commas.

/* With --fail-on: file that counts processes without a recording (format/unrecorded_counts.h). */
#define ENVIRONMENT_UNRECORDED "HEAPTAP_UNRECORDED"

/* Identity of the stderr of `heaptap run` (format/run_stderr.h). If it is set, the recorder writes
 * messages only to that file, otherwise to the program's stderr. */
#define ENVIRONMENT_STDERR "HEAPTAP_STDERR"

/* Scope of the recording. */
#define ENVIRONMENT_FRAMES "HEAPTAP_FRAMES"             // Number of innermost frames to record.
#define ENVIRONMENT_CALLERS "HEAPTAP_CALLERS" // Record callers for one allocation in this number.
// Permitted cost of the recorder, in thousandths of a percent of the program's processor time.
#define ENVIRONMENT_MAX_OVERHEAD "HEAPTAP_MAX_OVERHEAD"
#define ENVIRONMENT_SAMPLE "HEAPTAP_SAMPLE"             // Sample one block in this number of bytes,
#define ENVIRONMENT_SAMPLE_COUNT "HEAPTAP_SAMPLE_COUNT" // or in this number of calls.
#define ENVIRONMENT_DELAY "HEAPTAP_DELAY"               // Start recording after this number of ms,
#define ENVIRONMENT_DURATION "HEAPTAP_DURATION"         // and record for this number of ms.
#define ENVIRONMENT_SNAPSHOT_GROWTH "HEAPTAP_SNAPSHOT_GROWTH" // Take a snapshot per growth by this
                                                              // number of bytes,
#define ENVIRONMENT_SNAPSHOT_SIGNAL "HEAPTAP_SNAPSHOT_SIGNAL" // or at the signal with this number.

/* Annotated blocks: the number of return addresses before a block, and the length in bytes of the
 * guard after the block. */
#define ENVIRONMENT_ANNOTATE "HEAPTAP_ANNOTATE"
#define ENVIRONMENT_GUARD "HEAPTAP_GUARD"
#define ENVIRONMENT_CHECK_EVERY "HEAPTAP_CHECK_EVERY" // Number of events of a thread between two
                                                      // checks.

#define ENVIRONMENT_SELF_CONTAINED "HEAPTAP_SELF_CONTAINED" // 1: core dumps include the profile.

/* Limits of the recorder. */
#define ENVIRONMENT_RESERVE "HEAPTAP_RESERVE"       // Size of the file in bytes. The recorder
                                                    // reserves all of it at the start.
#define RESERVE_BYTES_MAX ((uint64_t)8 << 30)       // Maximum of HEAPTAP_RESERVE; a larger value is
                                                    // reduced to it.
#define ENVIRONMENT_MAX_MEMORY "HEAPTAP_MAX_MEMORY" // Upper bound of the recorder's memory in
                                                    // bytes.
#define ENVIRONMENT_NODES "HEAPTAP_NODES" // Upper bound of nodes in the call tree, for tests.

/* Suffix of profiles, and their default name. */
#define PROFILE_SUFFIX ".heaptap"
#define PROFILE_DEFAULT_NAME "heaptap.%e.%p" PROFILE_SUFFIX

#endif
