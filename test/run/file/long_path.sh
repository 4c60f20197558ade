#!/usr/bin/env bash
# long_path.sh: profiles in a working directory whose path is about as long as the kernel accepts,
# 4095 bytes, or longer. If it fails, a run loses its profile in silence, or a profile is refused
# that could be written.
. "$SRCDIR/test/run/lib.subr"
need python3

# within BYTES COMMAND...: run in a directory with a path of BYTES bytes; the left files are in out.
within() {
    python3 "$area/long_path.py" "$@" >out 2>err </dev/null
    status=$?
}

# refused NAME MESSAGE: check that the program did not start, and that MESSAGE was all.
refused() {
    same "$1: exit status" 3 "$status"
    same "$1: files" "" "$(cat out)"
    same "$1: message" "heaptap: the profile cannot be created at $2" "$(cat err)"
}

within 4083 "$HEAPTAP" run --quiet --no-children -o rel.heaptap -- touch started
same "4095 bytes: exit status" 0 "$status"
same "4095 bytes: files" "rel.heaptap started" "$(xargs <out)"
same "4095 bytes: no message" "" "$(cat err)"
within 4084 "$HEAPTAP" run --quiet -o rel.heaptap -- touch started
refused "4096 bytes" "rel.heaptap: its whole path has 4096 bytes, and the kernel accepts 4095; \
choose a shorter path with -o"
within 4096 "$HEAPTAP" run --quiet -o rel.heaptap -- touch started
refused "a longer directory" "rel.heaptap: the path of the working directory is longer than the \
4095 bytes that the kernel accepts; choose an absolute path with -o"
within 6000 "$HEAPTAP" run --quiet --force -o rel.heaptap -- touch started
refused "a much longer directory" "rel.heaptap: the path of the working directory is longer than \
the 4095 bytes that the kernel accepts; choose an absolute path with -o"
within 6000 "$HEAPTAP" run --quiet -o "$PWD/absolute.heaptap" -- touch started
same "an absolute path: exit status" 0 "$status"
same "an absolute path: files" "started" "$(cat out)"
check "an absolute path: the profile" test -s absolute.heaptap

within 4060 "$HEAPTAP" run --quiet -o rel.heaptap -- touch started
same "a warning of other processes" "heaptap: warning: the profile's whole path is so long that \
other processes may be unable to create theirs beside it; choose a shorter path with -o" \
    "$(cat err)"
same "a warning of other processes: files" "rel.heaptap started" "$(xargs <out)"

# A place without -o, and the recorder without run.
within 4080 "$HEAPTAP" run --quiet -- touch started
same "the default name: exit status" 3 "$status"
same "the default name: files" "" "$(cat out)"
within 6000 env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT=rel.heaptap "$PROG/temporary"
same "the recorder alone: message" "heaptap: not recording: the file's whole path is too long; \
choose a shorter one with -o: rel.heaptap" "$(tail -n 1 err)"

# The kernel accepts names of 255 bytes.
name=$(printf 'n%.0s' $(seq 256))
"$HEAPTAP" run -o "$name" -- "$PROG/temporary" >out 2>err
same "a name of 256 bytes: exit status" 3 $?
check "a name of 256 bytes: message" \
    grep -q "a name in this path has 256 bytes, and the kernel accepts 255" err
same "a name of 256 bytes: the program did not start" "" "$(cat out)"
"$HEAPTAP" run --quiet -o "${name#n}" -- "$PROG/temporary" >out 2>err
same "a name of 255 bytes: exit status" 0 $?
check "a name of 255 bytes: the profile" "$HEAPTAP" report "${name#n}"
finish
