# setuid.sh: set-user-ID programs ignore LD_PRELOAD and must work as usual: su, sudo, and the
# programs that they start, with the recorder's environment or without it.
#
# as: nobody
# needs: su sudo passwd chage mount

prepare() {
    true
}

run() {
    passwd -S 2>&1
    echo "status $?"
    su -c id root </dev/null 2>&1
    echo "status $?"
    sudo -n id 2>&1
    echo "status $?"
    mount 2>&1 | head -n 1 | wc -l
    chage -l nobody 2>&1 | head -n 2
}

"$@"
