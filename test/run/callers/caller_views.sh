#!/usr/bin/env bash
# caller_views.sh: views and limits of profiles with sampled callers. If it fails, a limit passes
# although it is exceeded, or a number that depends on callers is shown as exact.
. "$SRCDIR/test/run/lib.subr"
need python3 setarch
called=$PROG/called
py() {
    python3 "$area/caller_views.py" "$@" || failures=$((failures + 1))
}

py leaks "$HEAPTAP" "$called"
py marks "$HEAPTAP" "$called"
py rare "$HEAPTAP" "$called"
py types "$HEAPTAP" "$called"

# A program with many stacks and snapshots.
cat >many.cc <<'END'
int f(int);
template <int N> struct S {
    int v[N];
    int g(int x) { return x ? S<N - 1>().g(x - 1) + f(N) : N; }
};
template <> struct S<0> {
    int g(int) { return 0; }
};
int main() { return S<100>().g(3); }
END
compiler=$(gcc -print-prog-name=cc1plus)
if [ -x "$compiler" ]; then
    py history "$HEAPTAP" "$compiler" -quiet -O1 many.cc -o /dev/null
else
    echo "ok - history # SKIP needs cc1plus"
fi
finish
