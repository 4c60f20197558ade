/* wrapper_names.cc: allocation functions of libraries, by their linkage names.
 *
 * The function user_N calls the Nth of them 3 times, for a block of 100 + N bytes, and keeps the
 * blocks. */
#include <stdlib.h>

#define OWN __attribute__((noinline, noclone))
#define USED(p) __asm__ volatile("" : : "r"(p) : "memory")

static volatile int called;

#define USER(n, symbol)                                                                            \
    extern "C" {                                                                                   \
    OWN void *library_##n(size_t size_bytes) __asm__(symbol);                                      \
    OWN void *library_##n(size_t size_bytes)                                                       \
    {                                                                                              \
        void *p = malloc(size_bytes);                                                              \
                                                                                                   \
        called = n; /* Or the compiler would make one function of all. */                          \
        USED(p);                                                                                   \
        return p;                                                                                  \
    }                                                                                              \
    OWN void user_##n()                                                                            \
    {                                                                                              \
        for (int i = 0; i < 3; i++) {                                                              \
            void *p = library_##n(100 + n);                                                        \
                                                                                                   \
            USED(p);                                                                               \
        }                                                                                          \
        called = n;                                                                                \
    }                                                                                              \
    }

USER(0, "__rust_alloc")
USER(1, "_ZN5alloc5alloc15exchange_malloc17h0123456789abcdefE")
USER(2, "_ZN5alloc7raw_vec11finish_grow17h0123456789abcdefE")
USER(3, "_ZN67_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..clone..Clone$GT$"
        "5clone17h0123456789abcdefE")
USER(4, "_RNvMs1_NtCsgvbsrvnw3yD_9hashbrown3mapINtB5_7HashMapyyE6insertCs6xxl1lAjzDf_1a")
USER(5, "_RNvNtCslNYArtu3iFV_5alloc5alloc5alloc")
USER(6, "_ZN4llvm15allocate_bufferEmm")
USER(7, "_ZN4llvm15SmallVectorBaseIjE8grow_podEPvmm")
USER(8, "_ZN10QArrayData19reallocateUnalignedEPS_mm6QFlagsINS_16AllocationOptionEE")
USER(9, "_Z14qMallocAlignedmm")
USER(10, "_ZN4absl12lts_2022062318container_internal8AllocateILm8ESaIcEEEPvPT0_m")
USER(11, "_ZN5folly13checkedMallocEm")

int
main()
{
    user_0();
    user_1();
    user_2();
    user_3();
    user_4();
    user_5();
    user_6();
    user_7();
    user_8();
    user_9();
    user_10();
    user_11();
    return 0;
}
