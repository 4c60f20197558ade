/* libelsewhere.c: a library that does nothing. Preloaded, it moves later mappings to other
 * addresses. */
char elsewhere[7 << 16] = {1};
