/* granule_mark.h: what heaptap cc has every file begin with. It makes the object file say, before
 * all else that it does when it is loaded, what HEAPTAP_GRANULE it was built for, the end of the
 * function's name: memprof.c.
 *
 * For programs of all kinds and languages, so there is nothing in it but a pointer to a function
 * of libheaptap-access, in the section of those that are called first. */
#if !defined(__ASSEMBLER__) && defined(HEAPTAP_GRANULE) && !defined(HEAPTAP_GRANULE_MARKED)
#define HEAPTAP_GRANULE_MARKED
__asm__(".pushsection .init_array.0,\"aw\",%init_array\n\t"
        ".balign 8\n\t"
        ".quad __heaptap_granule_" HEAPTAP_GRANULE "\n\t"
        ".popsection");
#endif
