# openssl.sh: keys, certificates, a handshake between two processes and a benchmark that is ended by
# alarms and forks.
#
# needs: openssl

prepare() {
    seq 100000 >data
}

run() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -subj /CN=t 2>/dev/null
    echo "key $?"
    openssl dgst -sha256 -sign k.pem -out sig data && openssl x509 -in c.pem -pubkey -noout >p.pem
    openssl dgst -sha256 -verify p.pem -signature sig data
    openssl enc -aes-256-cbc -pbkdf2 -pass pass:x -in data |
        openssl enc -d -aes-256-cbc -pbkdf2 -pass pass:x | md5sum
    openssl speed -multi 2 -seconds 1 sha256 >/dev/null 2>&1
    echo "speed $?"
    openssl verify c.pem 2>&1 | tail -n 1
}

"$@"
