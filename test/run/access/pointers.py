"""pointers.py: check the functions of libc and libm that uncounted_dynamic.c lists as harmless.

    pointers.py SOURCES

Reads the functions' prototypes from the system's headers. Fails for each function with a pointer
parameter, unless ALLOWED has the reason why the function accesses no block of its caller through
the pointer.
"""
import re
import subprocess
import sys

from telling import finish, tell

HEADERS = """assert ctype dlfcn fcntl fenv inttypes libio link locale malloc math poll pthread sched
semaphore setjmp signal spawn stdio stdlib string threads time uchar unistd wchar wctype search
arpa/inet gnu/libc-version netdb pwd sys/epoll sys/eventfd sys/file sys/inotify sys/mman sys/random
sys/resource sys/socket sys/stat sys/time sys/timerfd sys/wait""".split()

STREAM = "a stream is libc's memory; setvbuf is not harmless"
CONTENTS = "works on pages or blocks, not on their contents"
VALUE = "keeps the pointer, or calls it"
COUNTED = "the recorder's own function of that name counts"
ALLOWED = {
    **dict.fromkeys("""__overflow __uflow clearerr closedir fclose feof ferror fflush fgetc fgetwc
        fileno flockfile fputc fputwc fseek fseeko fseeko64 ftell ftello ftello64 funlockfile fwide
        getc getc_unlocked getwc pclose putc putc_unlocked putwc rewind ungetc ungetwc""".split(),
                    STREAM),
    **dict.fromkeys("""brk free madvise malloc_usable_size mlock mmap mmap64 mprotect mremap msync
        munlock munmap realloc reallocarray""".split(), CONTENTS),
    **dict.fromkeys("""at_quick_exit atexit dlclose on_exit pthread_atfork pthread_exit
        pthread_setspecific""".split(), VALUE),
    **dict.fromkeys("dlopen posix_memalign".split(), COUNTED),
    **dict.fromkeys("__assert __assert_fail".split(), "ends the process, which is then not judged"),
    **dict.fromkeys("""__pthread_register_cancel __pthread_unregister_cancel
        __pthread_unwind_next""".split(), "a local variable of pthread_cleanup_push"),
    "_dl_find_object": "the recorder in the program calls it, with a local variable",
    "bsearch": "its callback accesses the array",
    "signal": VALUE,
}


def prototypes():
    text = "#define _GNU_SOURCE\n" + "".join(
        f"#if __has_include(<{h}.h>)\n#include <{h}.h>\n#endif\n" for h in HEADERS)
    text = subprocess.run(["gcc", "-E", "-P", "-x", "c", "-"], input=text, capture_output=True,
                          text=True, check=True).stdout
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"__attribute__ ?\(\((?:[^()]|\([^()]*\))*\)\)|__asm__ ?\([^)]*\)", "", text)
    found = {}
    for declaration in re.split(r"[;{}]", text):
        m = re.match(r"\s*(?:extern )?[\w\s*]+?[\s*]\(?\*?(\w+)\)? ?\((.*)\)\s*$", declaration)
        if m:
            found.setdefault(m[1], m[2])
    return found


def words(source, name):
    m = re.search(rf'static const char {name}\[\] =\s*((?:"[^"]*"\s*)+);', source)
    return set("".join(re.findall(r'"([^"]*)"', m[1])).split())


def symbols(library):
    out = subprocess.run(["gcc", f"-print-file-name={library}"], capture_output=True, text=True,
                         check=True).stdout.strip()
    out = subprocess.run(["nm", "-D", "--defined-only", out], capture_output=True, text=True,
                         check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def main():
    with open(f"{sys.argv[1]}/src/recorder/access/uncounted_dynamic.c", encoding="ascii") as f:
        source = f.read()
    found = prototypes()
    taken = words(source, "harmless") | (symbols("libm.so.6") -
                                         words(source, "not_harmless_in_libm"))
    wrong = sorted(name for name in taken - ALLOWED.keys()
                   if re.search(r"\*|\[|_buf\b", found.get(name, "")))
    tell(len(taken & found.keys()) > 700, "the headers have prototypes of harmless functions",
         len(taken & found.keys()))
    tell(not wrong, "no harmless function has a pointer parameter without a reason", wrong)
    finish()


main()
