/* language_adapters.h: which adapters for languages there are, and where code of their runtimes is.
 *
 * Any thread, at any time; nothing blocks. */
#ifndef STACK_LANGUAGE_ADAPTERS_H
#define STACK_LANGUAGE_ADAPTERS_H

#include <stdbool.h>
#include <stdint.h>

struct heaptap_language;

enum {
    LANGUAGES = 4,
};

/* What some adapter needs. Atomic; each is 0 or 1, and stays 1. */
struct language_needs {
    uint32_t look;  // To see the C stack before it is asked.
    uint32_t code;  // To be asked for names of compiled code.
    uint32_t place; // To see all C frames to say where frames are.
};

extern struct language_needs language_needs;

/* How many languages there are, atomic, and the adapters of so many. */
extern uint32_t language_count;
extern const struct heaptap_language *language_adapters[LANGUAGES];

/* From now on ask LANGUAGE. False if there is no room for one more. */
bool language_add(const struct heaptap_language *language);

/* [START, END) is code of a runtime. False if there is no room for one more. */
bool language_runtime_code(uint64_t start, uint64_t end);

/* Is the call before PC in code of a runtime? */
bool language_is_runtime(uint64_t pc);

/* The same, and not in an adapter's own code. */
bool language_is_interpreter(uint64_t pc);

#endif
