# runtimes.sh: interpreters with extensions: Guile, Ruby and PHP with native modules, Tk, node with
# threads, and a drawing program that loads plug-ins.
#
# needs: guile ruby php node wish Xvfb dot
# as: nobody
# limit: 120
# counts: . PHP opens modules with RTLD_DEEPBIND; their calls bypass the counter
# broken: code made at run time has no unwind tables

prepare() {
    true
}

run() {
    guile --no-auto-compile -c '(use-modules (srfi srfi-1) (ice-9 regex) (ice-9 threads))
        (display (length (par-map (lambda (i) (make-string i #\x)) (iota 300)))) (newline)
        (display (match:substring (string-match "a+" "xaab"))) (newline)
        (display (catch #t (lambda () (error "x")) (lambda a "refused"))) (newline)'
    echo "status $?"
    ruby -e 'require "nokogiri"; require "sqlite3"; require "json"; require "zlib"
        d = Nokogiri::HTML("<p>" + (1..900).map { |i| "<b>#{i}</b>" }.join)
        puts d.css("b").size, Nokogiri::XML("<a><b/></a>").xpath("//b").size
        b = SQLite3::Database.new(":memory:"); b.execute("create table t(a)")
        200.times { |i| b.execute("insert into t values (?)", [i]) }
        p b.execute("select sum(a) from t"), Zlib.inflate(Zlib.deflate("x" * 9000)).size
        p (1..4).map { |i| Thread.new { JSON.parse(JSON.dump((1..900).to_a)).sum } }.map(&:value)
        begin; b.execute("nonsense"); rescue SQLite3::Exception; puts "refused"; end'
    echo "status $?"
    php -r '$d = new DOMDocument; $d->loadXML("<r>" . str_repeat("<c>x</c>", 900) . "</r>");
        echo (new DOMXPath($d))->query("//c")->length, " ", mb_strtoupper("äöü"), "\n";
        $p = new PDO("sqlite::memory:"); $p->exec("create table t(a)");
        for ($i = 0; $i < 200; $i++) $p->exec("insert into t values ($i)");
        echo $p->query("select sum(a) from t")->fetchColumn(), "\n";
        echo (new NumberFormatter("de", NumberFormatter::SPELLOUT))->format(1234), "\n";
        try { new IntlDateFormatter("x_", 9, 9); } catch (Throwable $e) { echo "refused\n"; }'
    echo "status $?"
    node -e 'const {Worker} = require("worker_threads"), zlib = require("zlib");
        const crypto = require("crypto");
        let n = 0; for (let i = 0; i < 3; i++) new Worker("require(\"worker_threads\").parentPort" +
            ".postMessage(JSON.stringify([...Array(9999).keys()]).length)", {eval: true})
            .on("message", m => { n += m; }).on("exit", () => console.log("worker"));
        process.on("exit", () => console.log(n));
        zlib.deflate("x".repeat(99999), (e, b) => zlib.inflate(b, (e, c) => console.log(c.length)));
        console.log(crypto.pbkdf2Sync("a", "b", 9, 20, "sha1").toString("hex"))' | sort
    echo "status $?"
    dot -Tsvg <<<"digraph { $(seq -f 'a%g -> b%g; b%g -> a0' 60) }" | md5sum
    echo 'graph { a -- b -- c; c -- a }' | neato -Tpng | md5sum
    env -u LD_PRELOAD Xvfb -displayfd 3 -screen 0 800x600x24 3>display >/dev/null 2>&1 &
    local server=$! i
    for i in $(seq 100); do
        [ -s display ] && break
        sleep 0.1
    done
    echo 'text .t; pack .t; for {set i 0} {$i < 900} {incr i} {.t insert end "line $i\n"}
        canvas .c; pack .c; .c create oval 1 1 50 60; update; puts [.t index end]; exit 3' >t.tcl
    DISPLAY=:$(cat display) wish t.tcl
    echo "status $?"
    kill $server
}

"$@"
