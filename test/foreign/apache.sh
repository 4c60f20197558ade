# apache.sh: a web server that forks processes and loads modules with interpreters: PHP, Perl and
# Python. The modules use C++ libraries that the server itself does not use.
#
# needs: apache2 ab curl
# files: /usr/lib/apache2/modules/libphp*.so /usr/lib/apache2/modules/mod_perl.so
# files: /usr/lib/apache2/modules/mod_wsgi.so
# as: nobody
# counts: . PHP opens modules with RTLD_DEEPBIND; their calls bypass the counter
# limit: 90
# unordered: yes

prepare() {
    local m=/usr/lib/apache2/modules

    mkdir docs
    seq 3000 >docs/numbers.txt
    cat >docs/p.php <<'END'
<?php $a = []; for ($i = 0; $i < 500; $i++) $a["k$i"] = str_repeat("x", $i % 50);
echo count($a), " ", md5(json_encode($a)), " ", strlen(gzcompress(serialize($a))) > 0, "\n";
END
    cat >docs/p.pl <<'END'
my %h = map { $_ => [1 .. $_ % 7] } 1 .. 500;
print "Content-type: text/plain\n\n", scalar(keys %h), " perl\n";
END
    cat >docs/app.py <<'END'
def application(environ, start_response):
    d = {str(i): [i] * (i % 9) for i in range(500)}
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{len(d)} python\n".encode()]
END
    cat >httpd.conf <<END
ServerRoot $PWD
ServerName localhost
PidFile $PWD/pid
ErrorLog $PWD/error.log
DefaultRuntimeDir $PWD
Mutex file:$PWD
Listen 127.0.0.1:$((20000 + $$ % 9000))
LoadModule mpm_prefork_module $m/mod_mpm_prefork.so
LoadModule authz_core_module $m/mod_authz_core.so
LoadModule mime_module $m/mod_mime.so
LoadModule dir_module $m/mod_dir.so
LoadModule filter_module $m/mod_filter.so
LoadModule deflate_module $m/mod_deflate.so
LoadModule perl_module $m/mod_perl.so
LoadModule wsgi_module $m/mod_wsgi.so
LoadModule php_module $(echo $m/libphp*.so | cut -d' ' -f1)
StartServers 2
MinSpareServers 1
MaxSpareServers 2
MaxRequestWorkers 4
DocumentRoot $PWD/docs
TypesConfig /etc/mime.types
AddType application/x-httpd-php .php
AddOutputFilterByType DEFLATE text/plain
<Directory $PWD/docs>
Require all granted
Options +ExecCGI
</Directory>
<Files p.pl>
SetHandler perl-script
PerlResponseHandler ModPerl::PerlRun
</Files>
PerlModule ModPerl::PerlRun
WSGIScriptAlias /app $PWD/docs/app.py
END
    sed -n 's/^Listen //p' httpd.conf >address
}

run() {
    local at i server name

    at=http://$(cat address)
    # The server gets a separate session, because it kills its process group when it stops.
    setsid apache2 -f "$PWD/httpd.conf" -DFOREGROUND &
    server=$!
    for i in $(seq 300); do
        curl -s -o /dev/null "$at/numbers.txt" && break
        sleep 0.1
    done
    for name in numbers.txt p.php p.pl app nothing; do
        curl -s --compressed "$at/$name" | md5sum
        ab -q -n 60 -c 3 "$at/$name" 2>/dev/null | grep -E 'Complete|Failed|Non-2xx'
    done
    apache2 -f "$PWD/httpd.conf" -k graceful
    sleep 1
    curl -s "$at/app"
    apache2 -f "$PWD/httpd.conf" -k graceful-stop
    wait $server
    echo "server $?"
    grep 'signal\|exit status\|Segmentation' error.log
    true
}

"$@"
