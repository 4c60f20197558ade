# perl.sh: hashes, regular expressions with recursion, fork, pipes, threads if perl has them,
# signals, and a sort with a callback. perl frees hardly anything at its end, on purpose.
#
# foreign: yes
# needs: perl
# short: yes
# oracle: threads

prepare() {
    perl -e 'srand 1; for (1 .. 3000) { print join(" ", map { int rand 500 } 1 .. 10), "\n" }' >data
}

run() {
    perl -e 'my %c; while (<>) { $c{$_}++ for split } print "$_ $c{$_}\n" for sort keys %c' data
    perl -e '$_ = "(" x 300 . "x" . ")" x 300; print /^(\((?1)\)|x)$/ ? "nested\n" : "not\n";
        my $s = "a" x 2000; print $s =~ /^(a?){20}a{20}/ ? length $& : 0, "\n";
        $s =~ s/(a)(a)/$2b$1/g; print length $s, "\n"; eval "1 +"; print "error: $@";
        print join(",", sort { $b <=> $a } map { $_ * 7919 % 1009 } 1 .. 200), "\n";'
    perl -e '$| = 1; for my $i (1 .. 20) { my $p = fork;
        if (!$p) { my @a = map { "x" x $_ } 1 .. 500; exit $i }
        waitpid $p, 0; print $? >> 8, "\n" } print `echo from a child`;
        open my $f, "-|", "sort -r" or die; close $f;
        open $f, "|-", "cat" or die; print $f "piped\n"'
    perl -e 'my $n = 0; $SIG{ALRM} = sub { $n++ }; use Time::HiRes "ualarm"; ualarm 500, 500;
        my %h; my $i = 0; while ($n < 50) { $h{$i++ % 1000} = [1 .. 10] } ualarm 0; print "fifty\n"'
    perl -e 'use Config; exit if !$Config{useithreads}; require threads;
        my @t = map { my $n = $_; threads->create(sub { my %h = map { $_ => "v$_" } 1 .. 3000 * $n;
            scalar keys %h }) } 1 .. 4; print join(" ", map { $_->join } @t), "\n"'
    perl -e 'kill 9, $$'
    echo "killed: $?"
    perl -e 'die "the end\n"'
}

"$@"
