#!/usr/bin/env bash
# symptoms.sh: the commands of docs/guide/README.md, run as printed. Each printed line of output
# must be in the real output, in the same order. Numbers, curves and directories may differ, but
# lines of source must not. If it fails, a user who begins there pastes a command that does not
# work, or sees other output.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc pgrep jq

PATH=$(dirname "$HEAPTAP"):$PATH
ln -s "$SRCDIR/examples" examples
case $(cat /proc/sys/kernel/core_pattern) in
'|'* | /*) echo "# skipped: the core dump; the kernel puts cores elsewhere (core_pattern)" ;;
esac
run_python "$area/symptoms.py" "$SRCDIR/docs/guide/README.md" || failures=$((failures + 1))
finish
