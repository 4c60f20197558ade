/* variables.c: a library with a variable whose parts have no names. */
long table[4] = {1, 2, 3, 4};
