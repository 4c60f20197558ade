#!/usr/bin/env bash
# library_sites.sh: the site is the function that calls a library's allocation function: Rust's, in
# both manglings, LLVM's, Qt's, Abseil's, Folly's. If it fails, tables name the library instead of
# the code to be changed, or --callers makes estimates of exact values.
. "$SRCDIR/test/run/lib.subr"
need python3

# sites FILE: print "function blocks bytes kept", a line for each function that allocates.
sites() {
    "$HEAPTAP" functions --json -n 1000 "$1" 2>/dev/null | python3 -c '
import json, sys
for row in sorted(json.load(sys.stdin)["direct"], key=lambda row: row["function"]):
    print(row["function"], row["calls"], row["bytes"], row["kept_bytes"])' >"$1.sites"
}

# sites_of NAME PROGRAM: record PROGRAM exactly and with one caller in a million, and compare.
sites_of() {
    record "$1.heaptap" "$2"
    same "$1: status" 0 "$status"
    rm -f callers.heaptap
    "$HEAPTAP" run --quiet --callers 1/1000000 -o callers.heaptap -- "$2" >/dev/null 2>&1
    sites "$1.heaptap"
    sites callers.heaptap
    check "$1: the same sites with --callers" diff "$1.heaptap.sites" callers.heaptap.sites
}

sites_of libraries "$PROG/wrapper_names"
for n in 0 1 2 3 4 5 6 7 8 9 10 11; do
    bytes=$((3 * (100 + n)))
    check "libraries: user_$n has its blocks" \
        grep -qx "user_$n 3 $bytes $bytes" libraries.heaptap.sites
done
same "libraries: no other function has any" 12 "$(grep -c user_ libraries.heaptap.sites)"
"$HEAPTAP" functions --no-fold --wide -n 20 libraries.heaptap >out 2>/dev/null
check "libraries: --no-fold shows them" grep -q ' alloc::raw_vec::finish_grow$' out

# rust_sites NAME OPTIONS...: the same for Rust's own library, compiled with OPTIONS.
rust_sites() {
    local name=$1 expected
    shift
    if ! RUSTC_BOOTSTRAP=1 rustc --crate-name sites -o "$name" "$@" \
        "$SRCDIR/test/prog/rust_sites.rs" 2>rustc.err; then
        echo "ok - $name # SKIP cannot be built: $(grep -m 1 -i error rustc.err)"
        return
    fi
    sites_of "$name" "./$name"
    for expected in "reserved 1 5000 5000" "boxed 1 300 300" "zeroed 1 10000 10000" \
        "counted 1 176 176" "shared 1 48 48"; do
        check "$name: $expected" grep -qx "sites::$expected" "$name.heaptap.sites"
    done
    check "$name: a vector" grep -qE '^sites::pushed [0-9]+ [0-9]+ 8192$' "$name.heaptap.sites"
    check "$name: a queue" grep -qE '^sites::queued [0-9]+ [0-9]+ 2048$' "$name.heaptap.sites"
    for expected in inserted sorted written; do
        check "$name: $expected" grep -q "^sites::$expected " "$name.heaptap.sites"
    done
    check "$name: nothing else is Rust's" sh -c \
        "! grep -vE '^sites::(main|reserved|boxed|zeroed|counted|shared|pushed|inserted|sorted|'\
'queued|written) ' '$name.heaptap.sites' | grep '::'"
}
if rustc --version >/dev/null 2>&1; then
    for level in 0 2; do
        rust_sites "v0-O$level" -C symbol-mangling-version=v0 -C "opt-level=$level"
        rust_sites "legacy-O$level" -Z unstable-options -C symbol-mangling-version=legacy \
            -C "opt-level=$level"
    done
    rust_sites lines -g
else
    echo "ok - Rust # SKIP needs rustc"
fi
finish
