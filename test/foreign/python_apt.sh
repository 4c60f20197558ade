# python_apt.sh: python with apt's module, which loads a C++ library that python itself does not
# use.
#
# files: /usr/lib/python3/dist-packages/apt_pkg*.so
# short: yes

prepare() {
    true
}

run() {
    /usr/bin/python3 -c 'import apt_pkg; apt_pkg.init(); print(apt_pkg.ARCHITECTURE if 0 else 1)'
    echo "status $?"
    /usr/bin/python3 - <<'END'
import apt_pkg

apt_pkg.init_config()
apt_pkg.init_system()
print(apt_pkg.version_compare("1.2-3", "1.10"), apt_pkg.md5sum(b"x"))
for line in ("a (>= 1), b | c", "d", "d ("):
    try:
        print(apt_pkg.parse_depends(line))
    except ValueError as error:
        print("refused", error)
try:
    apt_pkg.TagFile("/does/not/exist")
except SystemError as error:
    print("no file")
with open("list", "w") as f:
    f.write("".join(f"Package: p{i}\nVersion: {i}\n\n" for i in range(2000)))
print(sum(int(section["Version"]) for section in apt_pkg.TagFile("list")))
END
    echo "status $?"
}

"$@"
