/* cflags: -fno-builtin -fno-pie -no-pie */
/* libs: -ldl -Wl,-z,now -Wl,-z,dynamic-undefined-weak -Wl,-rpath,$ORIGIN */
/* scope_weak_fixed.c: the same at fixed addresses, with all references bound and sealed at the
 * start. */
#include "scope_weak.c"
