/* cflags: -fno-builtin -fno-pie -no-pie */
/* libs: -ldl -Wl,-z,now -Wl,-z,dynamic-undefined-weak -Wl,-rpath,$ORIGIN */
/* scope_weak_fixed.c: scope_weak.c at fixed addresses, with all references bound at the start and
 * then read-only. */
#include "scope_weak.c"
