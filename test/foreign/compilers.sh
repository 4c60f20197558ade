# compilers.sh: clang and LLVM's tools, written in C++, with code generated at run time and
# plug-ins.
#
# needs: clang opt llc lli llvm-link
# as: nobody
# limit: 100
# broken: code made at run time has no unwind tables

prepare() {
    cat >a.cc <<'END'
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
int main()
{
    std::map<std::string, std::vector<int>> m;
    for (int i = 0; i < 3000; i++)
        m["k" + std::to_string(i % 100)].push_back(i);
    try {
        m.at("none");
    } catch (const std::out_of_range &) {
        std::printf("%zu\n", m.size());
    }
}
END
    cat >b.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int i;
    for (i = 1; i < 999; i++)
        free(malloc(i));
    printf("%d\n", i);
    return 3;
}
END
}

run() {
    clang++ -O2 -o a a.cc && ./a
    echo "status $?"
    clang++ -O1 -S -emit-llvm -o a.ll a.cc
    opt -O3 -S a.ll | llc -O2 | md5sum
    clang -O1 -S -emit-llvm -o b.ll b.c
    lli b.ll
    echo "status $?"
    llvm-link -S a.ll -o - | wc -l
    echo 'template<class T> struct a { typename T::x y; }; a<int> b;' >wrong.cc
    clang++ -fsyntax-only wrong.cc 2>&1
    echo "status $?"
}

"$@"
