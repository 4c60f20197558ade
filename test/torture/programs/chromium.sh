# chromium.sh: a browser without a window, with a private allocator in place of malloc, a zygote
# that forks its processes, and code generated at run time. The sandbox is off, because root may not
# use it. The browser must render the same page.
#
# needs: chromium md5sum
# hide: ^.*(ERROR|WARNING|INFO|FATAL):.*$|^\[.*$
# hide: ^\d+ bytes written.*$
# broken: code made by V8 has no unwind tables
# limit: 200

prepare() {
    cp "$INPUTS/chromium_page.html" page.html
}

look() {
    timeout 90 chromium --headless --disable-gpu --hide-scrollbars --window-size=400,400 \
        --user-data-dir="$PWD/profile" --no-first-run --disable-background-networking \
        --disable-component-update "$@" "file://$PWD/page.html" 2>/dev/null
}

run() {
    look --no-sandbox --screenshot="$PWD/one.png" >/dev/null
    echo "status $?"
    md5sum one.png
    look --no-sandbox --dump-dom | tail -n 4 | md5sum
}

"$@"
