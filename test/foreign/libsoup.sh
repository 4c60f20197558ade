# libsoup.sh: the installed tests of two versions of an HTTP library and its TLS: servers,
# clients, threads.
#
# each: /usr/share/installed-tests/libsoup-2.4/*.test
# each: /usr/share/installed-tests/libsoup-3.0/*.test
# each: /usr/share/installed-tests/glib-networking/*.test
# as: nobody
# limit: 60
# hide: ^# random seed: .*$
# hide: 0x[0-9a-f]+|-?\d+\.\d+
# except: ^(http2-body-stream-test|server-test|hsts-test|ssl-test)$ they hang now and then, bare

. "$(dirname "$0")/installed.subr"
