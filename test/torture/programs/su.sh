# su.sh: root becomes another user in a recorded session: processes that cannot write to the
# session's directory must work nevertheless, and report at most once that they are not recorded.
#
# as: root
# needs: su sudo setpriv chroot

prepare() {
    chmod 755 .
}

run() {
    [ "$(id -u)" -eq 0 ] || return 0
    su -s /bin/sh -c 'id -un; ls / >/dev/null' nobody 2>/dev/null
    sudo -n -u nobody id -un 2>/dev/null
    setpriv --reuid=nobody --regid=nogroup --clear-groups sh -c 'id -un; ls | wc -l' 2>/dev/null
    chroot / id -un
    unshare -m sh -c 'echo in a name space' 2>&1
    unshare -pf sh -c 'echo $$' 2>&1
    nice -n 5 env -i /bin/echo without an environment
}

"$@"
