/* granule_mark.h: the header that heaptap cc includes before every source file. When an object file
 * is loaded, it first calls the function of memprof.c whose name ends with the HEAPTAP_GRANULE of
 * the build. Objects with uncounted accesses report these in the same way: all objects built by
 * gcc, and objects built by clang if launch/uncounted_code.c found such accesses.
 *
 * The header is included in programs of all kinds and languages. So it only defines pointers to
 * functions of libheaptap-access, in the section of functions that are called first. */
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
