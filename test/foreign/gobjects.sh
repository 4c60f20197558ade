# gobjects.sh: installed tests of libraries on GObject: pictures, text, matrices, colours, archives,
# fonts.
#
# each: /usr/share/installed-tests/graphene-1.0/*.test /usr/share/installed-tests/gdk-pixbuf/*.test
# each: /usr/share/installed-tests/pango/*.test /usr/share/installed-tests/RSVG/*.test
# each: /usr/share/installed-tests/libgcab-1.0/*.test /usr/share/installed-tests/libjcat/*.test
# each: /usr/share/installed-tests/libxmlb/*.test /usr/share/installed-tests/colord/*.test
# except: ^pixbuf-randomly-modified$ it fails at random
# as: nobody
# limit: 60
# hide: ^# random seed: .*$
# hide: ^# reading .*/randomly-modified/.*$
# hide: passing \(.*\)
# hide: 0x[0-9a-f]+|-?\d+\.\d+

. "$(dirname "$0")/installed.subr"
