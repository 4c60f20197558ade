# chromium.sh: a browser without a window: an allocator of its own in place of malloc, a zygote that
# forks its processes, seccomp filters that kill on system calls they do not expect, and code made at
# run time. With and without its sandbox it must render the same page.
#
# needs: chromium md5sum
# hide: ^.*(ERROR|WARNING|INFO|FATAL):.*$|^\[.*$
# hide: ^\d+ bytes written.*$
# broken: code made by V8 has no unwind tables
# limit: 200

prepare() {
    cat >page.html <<'END'
<!doctype html><title>t</title><style>body{background:#fed}h1{transform:rotate(3deg)}</style>
<h1>A page</h1><canvas id=c width=300 height=200></canvas><p id=p></p><script>
const x = document.getElementById("c").getContext("2d"); let a = [];
for (let i = 0; i < 500; i++) { x.fillStyle = `hsl(${i},90%,50%)`; x.fillRect(i * 7 % 300, i * 13 % 200, 9, 9); }
for (let i = 0; i < 100000; i++) a.push({k: "v" + i % 977});
document.getElementById("p").textContent = JSON.stringify(a).length;
</script>
END
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
