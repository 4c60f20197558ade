/* utf8.h: text from the outside (symbols, paths, command lines) for formats that demand valid
 * UTF-8. */
#ifndef EXPORT_UTF8_H
#define EXPORT_UTF8_H

#include "util/strbuf.h"

/* Return the bytes of the character at S, 1 to 4, or 0 if it is not valid UTF-8. S must not be at
 * its end. */
size_t utf8_size(const char *s);

/* Return how many characters S has; a byte of invalid UTF-8 counts as one. */
size_t utf8_count(const char *s);

/* Append S with U+FFFD for bytes that are no valid UTF-8. */
void utf8_add(struct strbuf *out, const char *s);

/* Append S as XML character data, fit for attributes in double quotes. Tabs and line feeds pass;
 * other characters that drive the display (character_drives), invalid UTF-8 and what XML 1.0
 * forbids become U+FFFD. */
void utf8_add_xml(struct strbuf *out, const char *s);

/* Append S as a JavaScript string with its quotes, safe inside a script element and a CDATA
 * section. Characters that drive the display and invalid UTF-8 become U+FFFD. */
void utf8_add_script(struct strbuf *out, const char *s);

#endif
