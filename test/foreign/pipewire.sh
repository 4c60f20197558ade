# pipewire.sh: the installed tests of PipeWire, which loads plug-ins.
#
# each: /usr/share/installed-tests/pipewire-0.3/*.test
# each: /usr/share/installed-tests/pipewire-0.3/*/*.test
# as: nobody
# limit: 60
# hide: ^# random seed: .*$
# hide: 0x[0-9a-f]+|-?\d+\.\d+
# except: benchmark they measure time

. "$(dirname "$0")/installed.subr"
