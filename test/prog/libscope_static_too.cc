/* libs: -static-libstdc++ -static-libgcc */
/* libscope_static_too.cc: the same, but its operators are elsewhere in it: where those of the other
 * were there are breakpoints. */
#include "scope_use.h"

__asm__(".text\n\t.globl scope_padding\nscope_padding:\n\t.skip 300000, 0xcc");
