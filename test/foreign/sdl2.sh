# sdl2.sh: the installed tests of SDL: plug-ins for sound, video, joysticks, and threads.
#
# each: /usr/share/installed-tests/SDL2/*.test
# as: nobody
# limit: 60
# hide: ^# random seed: .*$
# hide: 0x[0-9a-f]+|-?\d+\.\d+
# except: ^testtimer$ it measures time
# except: ^testerror$ it sleeps

. "$(dirname "$0")/installed.subr"
