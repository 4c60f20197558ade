/* stack.h: the present stack as a node of the call tree. */
#ifndef MONITOR_STACK_H
#define MONITOR_STACK_H

#include "monitor/arch_x86_64.h"
#include "monitor/thread.h"

/* The node of the stack that called the intercepted function from CALLER. */
uint32_t stack_node(struct thread *t, struct arch_caller caller);

/* T begins to serve the calling thread: find out where its stack ends. */
void stack_thread_begins(struct thread *t);

/* Find the main thread's stack; once per process. */
void stack_process_begins(void);

#endif
