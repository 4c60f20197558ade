/* granule_mark.h: the header that heaptap cc includes in front of every file. When an object file
 * is loaded, its first action is to call the function of memprof.c whose name ends with the
 * HEAPTAP_GRANULE of the build. Objects with uncounted accesses report these: all of gcc's, and
 * those of clang's in which heaptap cc found some (launch/uncounted_code.c).
 *
 * It is included in programs of all kinds and languages, so it holds only pointers to functions of
 * libheaptap-access, in the section of the functions that are called first. */
#if !defined(__ASSEMBLER__) && defined(HEAPTAP_GRANULE) && !defined(HEAPTAP_GRANULE_MARKED)
#define HEAPTAP_GRANULE_MARKED
#if defined(HEAPTAP_STRUCTURES_BY_VALUE) || !defined(__clang__)
#define HEAPTAP_MARK_STRUCTURES ".quad __heaptap_structures_by_value\n\t"
#else
#define HEAPTAP_MARK_STRUCTURES
#endif
#ifdef HEAPTAP_ATOMIC_OPERATIONS
#define HEAPTAP_MARK_ATOMICS ".quad __heaptap_atomic_operations\n\t"
#else
#define HEAPTAP_MARK_ATOMICS
#endif
#ifdef HEAPTAP_ASSEMBLER
#define HEAPTAP_MARK_ASSEMBLER ".quad __heaptap_assembler\n\t"
#else
#define HEAPTAP_MARK_ASSEMBLER
#endif
__asm__(".pushsection .init_array.0,\"aw\",%init_array\n\t"
        ".balign 8\n\t"
        ".quad __heaptap_granule_" HEAPTAP_GRANULE "\n\t"
        HEAPTAP_MARK_STRUCTURES HEAPTAP_MARK_ATOMICS HEAPTAP_MARK_ASSEMBLER
        ".popsection");
#endif
