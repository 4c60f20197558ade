# dbus.sh: the installed tests of D-Bus, and the tests embedded in it, which fail each allocation in
# turn.
#
# each: /usr/share/installed-tests/dbus/*.test /usr/share/installed-tests/dbus-debug-build/*.test
# as: nobody
# limit: 60
# hide: ^# random seed: .*$
# hide: took \d+ seconds|guid=[0-9a-f]+|/dbus-\w+|tmp\.\w+|cleaning up pid \d+
# hide: (^(\+|env$|grep |DBUS_SESSION_BUS_PID=).*\n)+
# hide: has about \d+ mallocs in total|(^# /message/.*: will fail malloc .*\n)+
# hide: 0x[0-9a-f]+|-?\d+\.\d+
# except: ^test-dbus-daemon_with_config$ it takes minutes

. "$(dirname "$0")/installed.subr"
