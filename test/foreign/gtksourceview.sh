# gtksourceview.sh: the installed tests of GTK's editor.
#
# each: /usr/share/installed-tests/gtksourceview-4/*.test
# as: nobody
# limit: 60
# hide: ^# random seed: .*$
# hide: 0x[0-9a-f]+|-?\d+\.\d+
# needs: Xvfb

display=yes bus=yes
. "$(dirname "$0")/installed.subr"
