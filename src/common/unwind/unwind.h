/* unwind.h: steps from a frame to its caller's frame, by the unwind tables alone.
 *
 * Two speeds. A *rule* steps out of a frame with rsp and rbp alone; it is compiled once per return
 * address from .eh_frame and cached by the caller. Frames that a rule cannot express (RULE_FULL:
 * expressions, other registers) need unwind_step, which tracks all callee-saved registers.
 *
 * The code runs in the profiled process: no allocation, no locks, no libc beyond _dl_find_object.
 * It is signal-safe. It reads the stack only inside the given bounds, and unwind tables only inside
 * their object's mapping. Other rooms include only this header of src/common/unwind; rule.h has the
 * equations of a rule.
 *
 * A walk by rules. A frame is {rsp, pc, rbp, exact}. For a frame that is executing a call, rsp is
 * slot + 8, where slot is the address of its return address pc. Repeat until the stack ends or a
 * limit is reached:
 *
 *     rule = cached or compiled for pc - !exact      (the key, as a pc may occur both ways)
 *     RULE_END        the stack is whole
 *     RULE_NO_TABLE   stop, or continue with a guess and mark the stack as guessed
 *     RULE_FULL       unwind_step from the captured registers over all frames so far and this one;
 *                     rsp, pc, rbp, exact are then in the registers. Rules may resume once rbp is
 *                     valid; keep the registers, the next RULE_FULL continues from there.
 *                     A step from rsp, pc and rbp alone is equivalent if it succeeds and finds rbp.
 *     otherwise       apply the equations; the stack is cut if cfa <= rsp or a word to be read is
 *                     not within [low, high). A return address of 0 ends the stack: it is whole.
 *                     RULE_SIGNAL loses no register: unwind_step from there finds them all.
 *
 * Because of cfa > rsp the slots rise strictly, so a walk without signals terminates. A signal can
 * lead to lower addresses (from a handler on an alternate stack), so the number of frames must be
 * limited as well. */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "unwind/object.h"
#include "unwind/registers.h"
#include "unwind/rule.h"

#endif
