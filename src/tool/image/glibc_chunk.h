/* glibc_chunk.h: layout of a chunk of glibc's malloc on 64-bit systems. */
#ifndef IMAGE_GLIBC_CHUNK_H
#define IMAGE_GLIBC_CHUNK_H

enum {
    WORD = 8,
    PAGE_BYTES = 4096,
    HEAD_BYTES = 16, // Distance from a chunk to its block.
    FLAGS = 7,
    FLAG_BEFORE_USED = 1,
    FLAG_MAPPED = 2,
    CHUNK_LEAST = 32,
    ALIGNMENT = 16,
};

#endif
