# cxx.sh: make -j2 of C++ sources full of templates: make, g++, cc1plus with its megabytes of trees,
# as, ld, and a compile that fails.
#
# needs: make g++
# unordered: yes
# hide: /\S*?/cc\w+\.(s|o)
# short: yes

prepare() {
    local n=${SHORT:+1} i
    for i in $(seq "${n:-10}"); do
        cat >"part$i.cc" <<END
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
template <int N> struct deep { using type = std::tuple<int, typename deep<N - 1>::type>; };
template <> struct deep<0> { using type = int; };
template <class T> auto work(T v) {
    std::map<std::string, std::vector<std::variant<int, std::string, T>>> m;
    for (int i = 0; i < $i; i++)
        m[std::to_string(i)].emplace_back(v);
    std::function<int(int)> f = [&](int k) { return k ? f(k - 1) + int(m.size()) : 0; };
    return f(3);
}
int part$i() {
    std::regex r("(a|b)*c$i");
    typename deep<40>::type d{};
    std::unordered_map<std::string, int> u{{"a", std::get<0>(d)}};
    return work(1.5) + work('c') + work(std::string("x")) + std::regex_match("abc$i", r) +
           int(u.size());
}
END
        echo "int part$i();" >>all.h
        calls+=" + part$i()"
    done
    cat >main.cc <<END
#include <cstdio>
#include "all.h"
int main() { printf("%d\n", 0 $calls); }
END
    cat >bad.cc <<'END'
template <class T> int f(T v) { return v.nothing + 1; }
int g() { return f(3); }
END
    cat >Makefile <<'END'
objects := $(patsubst %.cc,%.o,$(filter-out bad.cc,$(wildcard *.cc)))
# The tree permits no literal tabs.
.RECIPEPREFIX = >
program: $(objects)
>g++ -o $@ $^
%.o: %.cc
>g++ -O2 -g -c -o $@ $<
END
}

run() {
    make -j2 && ./program
    make bad.o
    echo "bad: $?"
    md5sum ./*.o
}

"$@"
