#!/usr/bin/env bash
# growing.sh: tables of the profile grow while other threads do the same. If it fails, the recorder
# mistakes a profile for truncated.
#
# test/fault/inject.c holds each thread after every call that examines or enlarges the file, so that
# other threads run in between.
. "$SRCDIR/test/run/lib.subr"
need python3

inject=$BUILD/test/fault/inject

# grown NAME OPTIONS...: run under inject, and check that no event is lost and no message printed.
grown() {
    local name=$1 file=${1//[ ,]/_}.heaptap
    shift
    rm -f "$file"
    HEAPTAP_OUT=$PWD/$file timeout 60 "$inject" "$@" --preload "$LIBHEAPTAP" \
        -- "$PROG/growing" 4 1500 >out 2>err
    status=$?
    [ $status != 77 ] || skip_all "cannot trace here: $(tail -n 1 err)"
    same "$name: exit status" 7 $status
    same "$name: output" done "$(cat out)"
    check "$name: no message" diff /dev/null err
    KNOWN_PREFIX="$name: " known "$file" "under:work allocations=6000 frees=6000" \
        "losses events=0 unknown_frees=0"
}

grown "looks at the file" --call newfstatat --n 1 --all-after --hold 4
grown "looks at the descriptor" --call fstat --n 1 --all-after --hold 2
grown "makes it larger" --call fallocate --n 1 --all-after --hold 4
grown "without fallocate" --call fallocate --errno EOPNOTSUPP --n 1 --all-after \
    --also newfstatat --hold 4
finish
