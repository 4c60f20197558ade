# python_pure.sh: python's own tests that use one process: the collector, regular expressions, JSON,
# mappings, foreign functions. They use malloc instead of python's own allocator, so that every
# object is an event.
#
# needs: python3
# files: /usr/lib*/python3*/test/test_json/__init__.py
# hide: ^\d+:\d\d:\d\d .*?(?=\[)
# hide: in \d+(\.\d+)?s| \(\d+(\.\d+)? sec\)|Total duration:.*|duration: .*
# hide: took [\d.]+ .*
# hide: Using random seed:? \d+
# limit: 600

export PYTHONMALLOC=malloc

prepare() {
    true
}

run() {
    python3 -m test test_json test_re test_gc test_mmap test_ctypes test_struct test_exceptions \
        test_generators test_zlib test_sqlite3 test_pickle test_decimal test_embed
}

"$@"
