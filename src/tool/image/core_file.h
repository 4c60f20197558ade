/* core_file.h: bytes of a core dump, compressed or not. */
#ifndef IMAGE_CORE_FILE_H
#define IMAGE_CORE_FILE_H

#include "util/err.h"

/* Map the file PATH for reading, expanded if it is compressed with zstd or gzip. A compressed file
 * that ends early is expanded as far as possible. The caller must munmap the bytes. Returns 0, or
 * HEAPTAP_BAD_INPUT with ERR set. */
int core_file_map(const char *path, const unsigned char **ret_bytes, size_t *ret_size_bytes,
                  struct err *err);

#endif
