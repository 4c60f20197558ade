/* language_adapters.h: the list of language adapters, and the code ranges of their runtimes.
 *
 * Thread-safe and async-signal-safe; no function blocks. */
#ifndef MIXED_LANGUAGE_ADAPTERS_H
#define MIXED_LANGUAGE_ADAPTERS_H

#include <stdbool.h>
#include <stdint.h>

struct heaptap_language;

enum {
    LANGUAGES = 4,
};

/* Union of the adapters' needs. Atomic; each is 0 or 1, and stays 1. */
struct language_needs {
    uint32_t look;  // An adapter examines the C stack before it returns frames.
    uint32_t code;  // An adapter names compiled code.
    uint32_t place; // An adapter needs all C frames to place its frames.
};

extern struct language_needs language_needs;

/* Number of adapters, atomic, and the adapters. */
extern uint32_t language_count;
extern const struct heaptap_language *language_adapters[LANGUAGES];

/* Register LANGUAGE; the recorder calls it from now on. Return false if there is no room. */
bool language_add(const struct heaptap_language *language);

/* Register [START, END) as code of a runtime. Return false if there is no room. */
bool language_runtime_code(uint64_t start, uint64_t end);

/* Return true if the call before PC is in code of a runtime. */
bool language_is_runtime(uint64_t pc);

/* Like language_is_runtime, but false for user code of an adapter. */
bool language_is_interpreter(uint64_t pc);

#endif
