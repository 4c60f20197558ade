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
py graph "$HEAPTAP" "$called"
py moment "$HEAPTAP" "$called"
py types "$HEAPTAP" "$called"

# No format can mark values of callers as estimates.
for format in collapsed pprof heaptrack; do
    "$HEAPTAP" export -f $format -o shares.out types.heaptap 2>err
    same "export -f $format: warns once of estimates" 1 \
        "$(grep -c "^heaptap: warning: values of callers are estimates.* one call in 16$" err)"
done
"$HEAPTAP" export -f collapsed -o shares.out exact.heaptap 2>err
check "export: no warning of exact values" sh -c '! grep -q estimates err'

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
