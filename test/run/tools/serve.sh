#!/usr/bin/env bash
# serve.sh: `heaptap serve`, over loopback and a Unix socket: numbers and profiles equal the
# report's, a difference has a known growth, wrong requests are refused, and nothing is written.
# If it fails, a monitoring system stores wrong numbers, or strangers can read profiles.
. "$SRCDIR/test/run/lib.subr"
need python3 curl
"$HEAPTAP" serve --listen localhost:x 2>&1 | grep -q 'libmicrohttpd' &&
    skip_all "needs libmicrohttpd-dev"

exec timeout 250 python3 "$area/serve.py" "$HEAPTAP" "$PROG/serve_steps"
