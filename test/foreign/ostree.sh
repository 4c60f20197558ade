# ostree.sh: the installed tests of OSTree: shell scripts with hundreds of processes each.
#
# each: /usr/share/installed-tests/libostree/*.test
# as: nobody
# limit: 60
# hide: ^# random seed: .*$
# hide: 0x[0-9a-f]+|\d+\.\d+

. "$(dirname "$0")/installed.subr"
