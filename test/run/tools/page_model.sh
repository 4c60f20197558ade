#!/usr/bin/env bash
# page_model.sh: the sums of the page of `heaptap html`, without a browser: on hand-written
# documents, and on profiles recorded here, where the page must match all of the command's output.
# If it fails, a page shows other numbers than heaptap does, or none.
. "$SRCDIR/test/run/lib.subr"
need node
node --help | grep -q -- --test-reporter || skip_all "needs node 18.15 or later"

tests=$SRCDIR/test/page
run_node() {
    node --test --test-reporter="$tests/reporter.mjs" "$@" 2>&1
    [ "${PIPESTATUS[0]}" -eq 0 ] || failures=$((failures + 1))
}
run_node "$tests/documents.test.mjs"

if "$HEAPTAP" html --help >/dev/null 2>&1; then
    record recursive.heaptap "$PROG/recursive"
    record containers.heaptap "$PROG/containers"
    record typed.heaptap "$PROG/typed"
    record threads.heaptap "$PROG/peak_threads"
    record arenas.heaptap "$PROG/two_arenas"
    record old.heaptap "$PROG/slowleak" 20000 20000
    record new.heaptap "$PROG/slowleak" 120000 20000
    record shell.heaptap bash --norc -c 'for i in 1 2 3; do a[i]=$i$i; done; declare -p a'
    cat >one.c <<'END'
static void *f(int n) { return __builtin_malloc(n); }
void *one(void) { return f(100); }
END
    cat >two.c <<'END'
static void *f(int n) { return __builtin_malloc(n); }
void *two(void) { return f(200); }
END
    cat >files.c <<'END'
struct hundred { char bytes[100]; } hundred;
void *one(void), *two(void);
__attribute__((noinline)) int go(void) { return !one() + !two(); }
int main(void) { return go(); } // With a tail call.
END
    cc -g -O2 -c files.c
    cc -g -O0 -o files files.o one.c two.c
    record files.heaptap ./files
    "$HEAPTAP" run --quiet --sample 8K -o sample.heaptap -- "$PROG/slowleak" 20000 20000 >/dev/null
    "$HEAPTAP" run --quiet --frames 3 -o short.heaptap -- "$PROG/containers" >/dev/null
    "$HEAPTAP" merge -o sum.heaptap old.heaptap recursive.heaptap >/dev/null 2>&1
    export HEAPTAP
    export PROFILES="recursive.heaptap containers.heaptap typed.heaptap threads.heaptap \
        arenas.heaptap new.heaptap shell.heaptap sample.heaptap short.heaptap sum.heaptap \
        files.heaptap"
    for pair in "old.heaptap new.heaptap" "recursive.heaptap containers.heaptap" \
        "sample.heaptap new.heaptap"; do
        PAIRS=$pair run_node "$tests/differential.test.mjs"
        PROFILES=
    done
else
    echo "ok - the page against the command # SKIP this heaptap has no page"
fi
finish
