"""inputs_kinds.py: generate inputs for other kinds of programs: sources of other languages, large
documents, scripts that start many short processes, and requests to a server.

As in inputs.py, everything is generated from a fixed seed.
"""
import os
import random
import subprocess

import inputs


def made_by(command, text, **more):
    subprocess.run(command, input=text, text=True, check=True, **more)


# --- Compilers -----------------------------------------------------------------------------------

def fortran_file(path, scale):
    """Modules with array expressions, loops, and procedures that call earlier ones."""
    r = random.Random(21)
    out = ["module work", "  implicit none", "contains"]
    for i in range(70 * scale):
        size = r.randrange(4, 40)
        out += [f"  recursive function part_{i}(n, x) result(s)", "    integer, intent(in) :: n",
                "    real(8), intent(in) :: x(n)", "    real(8) :: s",
                f"    real(8) :: t({size}), u({size}, {size})", "    integer :: i, j",
                f"    t = [(real(i, 8) * {r.randrange(1, 99)}, i = 1, {size})]",
                f"    do j = 1, {size}", "      do i = 1, min(n, size(t))",
                f"        if (x(i) > t(i)) u(i, j) = x(i) ** {r.randrange(2, 5)} - t(j)",
                "      end do", "    end do",
                f"    s = sum(matmul(u, t)) + dot_product(t, t) * {r.randrange(9)}"]
        for _ in range(r.randrange(3) if i else 0):
            out.append(f"    s = s + part_{r.randrange(i)}(n / 2, x(1:n / 2))")
        out += [f"  end function part_{i}"]
    inputs.write(path, out + ["end module work"])


def link_time_object(path, scale):
    """The object file of the C that cc1 compiles, in gcc's form for link-time optimisation."""
    source = inputs.make("c", os.path.dirname(path), scale)
    subprocess.run(["gcc", "-x", "cpp-output", "-w", "-O1", "-flto", "-c", source, "-o", path],
                   check=True)


def clang_file(path, scale):
    """The C++ of cc1plus's input, with clang's view of the headers."""
    inputs.cxx_file(path, scale, compiler="clang++")


# --- Heaps that grow -----------------------------------------------------------------------------

def xml_file(path, scale):
    """Orders with attributes, text and nesting."""
    r = random.Random(22)
    with open(path, "w", encoding="utf-8") as f:
        f.write("<?xml version='1.0'?>\n<orders>\n")
        for i in range(200000 * scale):
            items = "".join(f"<item sku='s{r.randrange(900)}' n='{r.randrange(9)}'>"
                            f"<price>{r.randrange(10000) / 100}</price></item>" for _ in range(3))
            f.write(f"<order id='o{i}' customer='c{r.randrange(1500)}'><note>{inputs.words(r, 4)}"
                    f"</note>{items}<!-- {i} --></order>\n")
        f.write("</orders>\n")


def objects(path, scale):
    """Two object files with many symbols that refer to each other."""
    os.makedirs(path)
    for part in (0, 1):
        lines = [".text"]
        for i in range(90000 * scale):
            name, other = (f"work_{p}_with_a_long_name_{i}" for p in (part, 1 - part))
            lines += [f".globl {name}", f"{name}: call {other}"]
        made_by(["as", "-o", f"{path}/{part}.o", "-"], "\n".join(lines) + "\n")


# --- Short processes -----------------------------------------------------------------------------

def configure_script(path, scale):
    """The typical work of such a script: shells, sed, grep, expr, and files of one line."""
    r = random.Random(24)
    out = ["set -e", "d=$(mktemp -d)", "trap 'rm -rf \"$d\"' 0", "cd \"$d\""]
    for i in range(45 * scale):
        name = f"{r.choice(inputs.NAMES)}_{i}"
        out += [f"cat > conftest.c <<'END'\n#include <{r.choice(inputs.NAMES)}.h>\n"
                f"int {name}(void);\nint main(void) {{ return {name}(); }}\nEND",
                f"if (grep -q '{name}' conftest.c &&"
                " sed -n 's/^#include <\\(.*\\)>$/\\1/p' conftest.c"
                f" | grep -v zulu) >conftest.out 2>conftest.err; then have_{name}=yes; fi",
                f"v=`echo $have_{name} | tr a-z A-Z`; n=`expr {i} + 1`",
                f"echo \"#define HAVE_{name} $v\" >> config.h; rm -f conftest.*",
                "(uname -m | sed 's/_.*//'; basename /usr/lib/libc.so.6 .so.6) > /dev/null"]
    out += ["sort config.h | uniq -c | wc -l"]
    inputs.write(path, out)


def true_script(path, scale):
    inputs.write(path, ["i=0", f"while [ $i -lt {600 * scale} ]; do /bin/true; i=$((i + 1)); done"])


def makefile(path, scale):
    """Many targets, each with a shell and two processes, and with a chain of prerequisites."""
    count = 220 * scale
    out = [f"all: {' '.join(f't{i}' for i in range(count))}", ".PHONY: all",
           "names = $(foreach n,1 2 3 4 5 6 7 8,$(patsubst %,$(n)-%.o,a b c d))"]
    for i in range(count):
        out += [f"t{i}: {f't{i - 1}' if i % 5 else ''}",
                "\t@test -n '$(filter 3-%,$(names))' && /bin/true '$@'; /bin/echo $@ >/dev/null"]
    inputs.write(path, out)


def small_sources(path, scale):
    """A script that compiles small files one by one, like a build."""
    r = random.Random(25)
    out = ["set -e"]
    for i in range(28 * scale):
        body = "".join(f"int f{j}(int n) {{ return n * {r.randrange(99)} + {j}; }} "
                       for j in range(6))
        out += ["gcc -O1 -x c -S -o /dev/null - <<'END'", "#include <stddef.h>",
                body, f"int main(void) {{ return f{i % 6}({i}); }}", "END"]
    inputs.write(path, out)


def starts_script(path, scale):
    """Interpreters that start, execute a line, and end."""
    lines = ["python3 -S -c 'import sys; print(len(sys.path))' >/dev/null",
             "perl -e '@a = map { \"x$_\" } 1 .. 50; print scalar @a' >/dev/null",
             "gawk 'BEGIN { for (i = 0; i < 50; i++) a[i] = i \"\"; print length(a) }' >/dev/null"]
    inputs.write(path, lines * (40 * scale))


# --- Servers and filters -------------------------------------------------------------------------

def requests_file(path, scale):
    """Requests of clients of kv_server.cc, one after another."""
    r = random.Random(26)
    with open(path, "w", encoding="utf-8") as f:
        for i in range(60000 * scale):
            body = "&".join(f"{n}={inputs.words(r, 2)}" for n in r.sample(inputs.NAMES, 4))
            verb = r.choice(("set", "get", "get", "list", "join"))
            f.write(f"POST /{verb}/key{r.randrange(3000)} HTTP/1.1\r\nHost: bench.example\r\n"
                    f"User-Agent: bench/{i % 7}\r\nAccept: text/plain; q=0.{i % 10}\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n{body}")


def queries_file(path, scale):
    """Many small statements on a small database, each prepared, executed and finalised."""
    r = random.Random(27)
    out = ["CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, town TEXT, age INT);",
           "CREATE INDEX by_town ON people(town, age);", "BEGIN;"]
    out += [f"INSERT INTO people VALUES({i}, '{inputs.words(r, 2)}', '{r.choice(inputs.NAMES)}',"
            f" {r.randrange(90)});" for i in range(4000)]
    for i in range(18000 * scale):
        town, age = r.choice(inputs.NAMES), r.randrange(90)
        out.append(r.choice((
            f"SELECT upper(name) FROM people WHERE town='{town}' AND age={age} ORDER BY name;",
            f"SELECT count(*), max(name) FROM people WHERE id BETWEEN {i % 3000} AND"
            f" {i % 3000 + 40};",
            f"UPDATE people SET name=name||'.' WHERE id={r.randrange(4000)} AND length(name) < 40;",
            f"SELECT p.name||q.name FROM people p JOIN people q ON q.id=p.id+1 WHERE p.id={age};",
            f"SELECT group_concat(substr(name, 1, 3)) FROM people WHERE id % 4000 = {age};")))
    inputs.write(path, out + ["COMMIT;"])


MAKERS = {"fortran": fortran_file, "lto": link_time_object, "clang": clang_file, "xml": xml_file,
          "objects": objects, "configure": configure_script,
          "true": true_script, "makefile": makefile, "small": small_sources,
          "starts": starts_script, "requests": requests_file, "queries": queries_file}
