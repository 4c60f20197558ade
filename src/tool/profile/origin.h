/* origin.h: read the profile that a user's argument names. */
#ifndef PROFILE_ORIGIN_H
#define PROFILE_ORIGIN_H

#include <sys/stat.h>

#include "profile/raw.h"

/* Suffix of a directory: `heaptap run` stores the profiles of all processes but the first in
 * NAME.processes/, beside NAME.heaptap. */
#define ORIGIN_OTHERS_SUFFIX ".processes"

/* Read the whole profile file PATH into ARENA. Returns 0 or HEAPTAP_BAD_INPUT. */
int origin_read(const char *path, struct arena *arena, void **ret_data, size_t *ret_bytes,
                struct err *err);

/* The bytes of a profile file. */
struct origin_file {
    void *data; // NULL = ownership was passed on.
    size_t size_bytes;
    struct file_owner owner;
    struct file_parts used;
    int fd; // Descriptor of a file without a writer, whose bytes are mapped privately; else -1.
    struct arena arena;
};

/* Open the profile file PATH. The file is mapped if its process has ended and it has few holes.
 * Otherwise it is copied, because it must not change while it is read. Returns 0, after which the
 * caller closes *RET, or HEAPTAP_BAD_INPUT. */
int origin_open(const char *path, struct origin_file *ret, struct err *err);
void origin_close(struct origin_file *f);

/* Read the header of the profile file PATH, or of a link's target, into *RET. Return false if it is
 * not a profile. */
bool origin_header(const char *path, struct disk_header *ret);

/* Return true if the file with the status ST is the file that the recorder mapped, by its header H.
 * Return false if H does not identify that file. */
bool origin_is_original(const struct stat *st, const struct disk_header *h);

/* Return true if WHAT is a process id and no file of that name exists. */
bool origin_is_pid(const char *what, uint32_t *ret_pid);

/* Set *RET_PATH to a path, from ARENA, that opens the profile that process PID is writing. Returns
 * 0, or HEAPTAP_BAD_INPUT with ERR set. */
int origin_of_pid(uint32_t pid, struct arena *arena, const char **ret_path, struct err *err);

#endif
