/* libs: -static-libstdc++ -static-libgcc */
/* libscope_static_too.cc: libscope_static.cc with operators at other offsets. This library has
 * breakpoints at the offsets of the other library's operators. */
#include "scope_use.h"

__asm__(".text\n\t.globl scope_padding\nscope_padding:\n\t.skip 300000, 0xcc");
