# python_processes.sh: python's own tests of threads, processes, signals and sockets. They fork with
# threads, crash on purpose (faulthandler), limit their own address space and close unknown
# descriptors, all of which a recorder must survive.
#
# needs: python3
# as: nobody
# files: /usr/lib*/python3*/test/test_json/__init__.py
# hide: ^\d+:\d\d:\d\d .*
# hide: in \d+(\.\d+)?s| \(\d+(\.\d+)? sec\)|Total duration:.*|duration: .*
# hide: took [\d.]+ .*
# hide: Using random seed:? \d+
# limit: 900

export PYTHONMALLOC=malloc

prepare() {
    true
}

run() {
    python3 -m test test_threading test_thread test_signal test_faulthandler test_fork1 \
        test_subprocess test_posix test_os test_pty test_resource \
        test_socketserver test_select test_epoll test_wait4 test_atexit
}

"$@"
