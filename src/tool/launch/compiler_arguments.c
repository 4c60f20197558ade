/* compiler_arguments.c: distinguish inputs from other arguments of a compiler.
 *
 * Compilers have hundreds of options. Only the few in `with_value` take their value from the next
 * argument. An argument that is neither an option nor such a value is an input. */
#include "launch/compiler.h"

#include <string.h>

static const char *const with_value[] = {
    "-o",         "-I",           "-D",         "-U",         "-L",        "-l",       "-x",
    "-include",   "-imacros",     "-isystem",   "-iquote",    "-idirafter", "-iprefix", "-isysroot",
    "-MF",        "-MT",          "-MQ",        "-Xlinker",   "-Xclang",   "-Xassembler",
    "-Xpreprocessor", "-mllvm",   "-T",         "-u",         "-z",        "-arch",    "-target",
    "-e",         "-Xanalyzer",   "--param",    "-B",         "-A",        "-G",       "-aux-info",
    "--sysroot",  "-framework",   "-rpath",     "-soname",    "-h",
    "-MJ",        "-F",           "-include-pch", "-iwithprefix", "-iwithprefixbefore",
    "-iframework", "-isystem-after", "-cxx-isystem", "-ivfsoverlay", "-working-directory",
    "-resource-dir", "-dependency-file", "-serialize-diagnostics", "--serialize-diagnostics",
};

bool
argument_takes_value(const char *argument)
{
    for (size_t i = 0; i < countof(with_value); i++)
        if (strcmp(argument, with_value[i]) == 0)
            return true;
    return false;
}

bool
argument_is_for_linker(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL && (strcmp(dot, ".o") == 0 || strcmp(dot, ".a") == 0 ||
                           strcmp(dot, ".lo") == 0 || strcmp(dot, ".so") == 0);
}
