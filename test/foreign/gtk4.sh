# gtk4.sh: the installed tests of GTK 4, each under a separate display.
#
# each: /usr/share/installed-tests/gtk-4.0/*/*.test
# as: nobody
# limit: 60
# hide: ^# random seed: .*$
# hide: 0x[0-9a-f]+|-?\d+\.\d+
# needs: Xvfb

display=yes bus=yes
. "$(dirname "$0")/installed.subr"
