# glib.sh: the installed tests of GLib, GObject and GIO.
#
# each: /usr/share/installed-tests/glib/*.test
# as: nobody
# limit: 60
# except: ^gdbus-export$ its output depends on races
# hide: ^# random seed: .*$|/test_[\w-]+_\w{6}/
# hide: 0x[0-9a-f]+|-?\d+\.\d+
# hide: \(process:\d+\)|[a-z-]+:\d+\):
# hide: signal from (subscriber|service 2|service|attacker)\b|(^# [a-z]\n)+
# hide: (^# GLib-GIO-DEBUG: GSocketClient: .*\n)+
# except: ^(utf8-performance|live-g-file)$ they measure time, or list directories unsorted
# except: slow|^(performance|rec-mutex|1bit-mutex)$ they take minutes
# except: ^(properties-refcount3|thread-deprecated)$ the same
# except: ^(sequence|codegen.py|timeout|slice-memchunk|io-channel-basic)$ they take long
# except: ^(gsubprocess|mutex|rwlock|thread-pool)$ the same

. "$(dirname "$0")/installed.subr"
