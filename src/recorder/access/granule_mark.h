/* granule_mark.h: the header that heaptap cc includes in front of every file. When an object file
 * is loaded, its first action is to call the function of memprof.c whose name ends with the
 * HEAPTAP_GRANULE of the build. gcc's objects also report that their code may copy structures
 * uncounted.
 *
 * It is included in programs of all kinds and languages, so it holds only pointers to functions of
 * libheaptap-access, in the section of the functions that are called first. */
#if !defined(__ASSEMBLER__) && defined(HEAPTAP_GRANULE) && !defined(HEAPTAP_GRANULE_MARKED)
#define HEAPTAP_GRANULE_MARKED
#ifndef __clang__
#define HEAPTAP_MARK_COPIES ".quad __heaptap_structures_by_value\n\t"
#else
#define HEAPTAP_MARK_COPIES
#endif
__asm__(".pushsection .init_array.0,\"aw\",%init_array\n\t"
        ".balign 8\n\t"
        ".quad __heaptap_granule_" HEAPTAP_GRANULE "\n\t"
        HEAPTAP_MARK_COPIES
        ".popsection");
#endif
