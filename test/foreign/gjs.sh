# gjs.sh: the installed tests of GNOME's JavaScript, an engine in C++ with a JIT and a garbage
# collector.
#
# each: /usr/share/installed-tests/gjs/*.test
# as: nobody
# unordered: yes
# limit: 60
# hide: ^# random seed: .*$
# hide: JS MEMORY:.*|#\d+ +[0-9a-f]+|\([0-9a-f]+ @|0x[0-9a-f]+|-?\d+\.\d+
# except: ^testGObjectDestructionAccess$ one in six bare runs lacks three lines of debug output
# broken: code made at run time has no unwind tables

display=yes bus=yes
. "$(dirname "$0")/installed.subr"
