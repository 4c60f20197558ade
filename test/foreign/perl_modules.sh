# perl_modules.sh: perl with modules in C and C++: XML trees, databases, JSON, and windows.
#
# needs: perl Xvfb
# files: /usr/lib/*/perl5/5.*/XML/LibXML.pm /usr/lib/*/perl5/5.*/Tk.pm
# files: /usr/lib/*/perl5/5.*/JSON/XS.pm /usr/lib/*/perl5/5.*/DBD/SQLite.pm
# as: nobody
# limit: 60

prepare() {
    true
}

run() {
    perl -MXML::LibXML -e 'my $d = XML::LibXML::Document->new; my $r = $d->createElement("r");
        $d->setDocumentElement($r);
        $r->appendTextChild("c", "t$_") for 1 .. 2000;
        print scalar($d->findnodes("//c[position() mod 7 = 0]")), " ", length $d->toString, "\n";
        eval { XML::LibXML->load_xml(string => "<a><b></a>") }; print $@ ? "refused\n" : "?\n"'
    echo "status $?"
    perl -MJSON::XS -MStorable=freeze,thaw -MEncode -MPOSIX -MDigest::SHA=sha256_hex -e '
        my $j = JSON::XS->new->canonical;
        my $d = $j->decode($j->encode({map { $_ => [1 .. $_ % 20] } 1 .. 900}));
        print scalar(keys %{thaw(freeze($d))}), " ", sha256_hex($j->encode($d)), "\n";
        print length(decode("UTF-8", encode("UTF-16", "\x{263a}" x 500))), floor(2.5), "\n"'
    echo "status $?"
    perl -MDBI -e 'my $b = DBI->connect("dbi:SQLite:dbname=f", "", "", {RaiseError => 1});
        $b->do("create table t(a, b)"); $b->begin_work;
        my $s = $b->prepare("insert into t values (?, ?)"); $s->execute($_, "x$_") for 1 .. 900;
        $b->commit; $b->sqlite_create_function("twice", 1, sub { 2 * $_[0] });
        print join(",", $b->selectrow_array("select count(*), sum(twice(a)) from t")), "\n";
        eval { local $b->{PrintError}; $b->do("nonsense") }; print $@ ? "refused\n" : "?\n"'
    echo "status $?"
    perl -Mthreads -e 'my @t = map { threads->create(sub { my %h = map { $_ => 1 } 1 .. 3000;
        scalar keys %h }) } 1 .. 4; print join(",", map { $_->join } @t), "\n"'
    echo "status $?"
    env -u LD_PRELOAD Xvfb -displayfd 3 -screen 0 800x600x24 3>display >/dev/null 2>&1 &
    local server=$! i
    for i in $(seq 100); do
        [ -s display ] && break
        sleep 0.1
    done
    DISPLAY=:$(cat display) perl -MTk -e 'my $w = MainWindow->new; my $l = $w->Listbox->pack;
        $l->insert("end", "item $_") for 1 .. 300; my $c = $w->Canvas->pack;
        $c->createOval($_, $_, $_ + 30, $_ + 20) for 1 .. 100;
        $w->after(200, sub { print $l->size, "\n"; $w->destroy }); MainLoop'
    echo "status $?"
    kill $server
}

"$@"
