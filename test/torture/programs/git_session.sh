# git_session.sh: a long session with git, of some thousand processes: commits, branches, merges
# with conflicts, rebase, bisect, submodules, stash, repack with threads, clone and fetch over a
# pipe.
#
# foreign: yes
# needs: git
# short: yes
# hide: \d+(\.\d+)? (KiB|MiB|bytes)( \| [\d.]+ [KM]iB/s)?
# hide: ^(remote: )?[A-Z][a-z]+( [a-z]+)*:.*%.*$

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t \
    GIT_COMMITTER_EMAIL=t@t GIT_AUTHOR_DATE="2001-01-01 00:00 +0000" \
    GIT_COMMITTER_DATE="2001-01-01 00:00 +0000" GIT_EDITOR=true GIT_PAGER=cat

prepare() {
    git init -q -b trunk r
}

run() {
    local n=${SHORT:+5} i
    n=${n:-30}
    cd r || exit
    for i in $(seq "$n"); do
        seq "$i" $((i * 40)) >"file$i"
        echo "line $i" >>log
        git add .
        git commit -q -m "number $i"
    done
    git checkout -q -b side HEAD~3
    for i in 1 2 3; do
        echo "side $i" >>log
        git commit -q -a -m "side $i"
    done
    git merge trunk
    git checkout --theirs log && git add log && git commit -q -m merged
    git checkout -q -b again trunk~2
    echo other >other && git add other && git commit -q -m other
    git rebase trunk
    git rebase -i --exec 'git diff --stat HEAD~1' HEAD~2
    git log --graph --stat -p --all | md5sum
    git blame log | tail -n 3
    git stash list
    echo dirty >>other && git stash && git stash pop
    git bisect start HEAD HEAD~4
    git bisect run sh -c '! grep -q other other 2>/dev/null'
    git bisect reset
    git repack -a -d -f --threads=2 -q
    git gc --quiet --prune=now
    git fsck --full
    cd ..
    git clone -q --no-local r copy
    git -C copy -c protocol.file.allow=always submodule add ../r sub
    git -C copy commit -q -m "a submodule"
    git -C copy submodule status
    (cd r && git checkout -q trunk && echo more >>log && git commit -q -a -m more)
    git -C copy fetch --all
    git -C copy pull -q --no-rebase || git -C copy status --short
    git -C copy archive HEAD | tar t | wc -l
    git -C copy grep -c 7 | head -n 5
    git -C copy shortlog -s HEAD
    git -C copy format-patch -3 --stdout HEAD | git -C r mailinfo msg patch | head -n 4
}

"$@"
