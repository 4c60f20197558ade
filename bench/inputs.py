"""inputs.py: generate the inputs of the bench's programs.

A function in this file generates each input from a fixed seed, so that the bench needs no download
and everybody measures the same. SCALE is 1 for the quick scope and larger for the full one. An
input is generated once, and kept in the bench's directory under its scale. The generated text only
needs to look, to a parser, like text that people write.
"""
import json
import os
import random
import subprocess

NAMES = ("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike "
         "november oscar papa quebec romeo sierra tango").split()


def words(r, count):
    return " ".join(r.choice(NAMES) for _ in range(count))


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)


def json_file(path, scale):
    """Records like those of a service: nested objects, short strings, numbers."""
    r = random.Random(11)
    with open(path, "w", encoding="utf-8") as f:
        for i in range(25000 * scale):
            record = {"id": i, "customer": f"c{r.randrange(1500)}", "note": words(r, 4),
                      "items": [{"sku": f"s{r.randrange(900)}", "count": r.randrange(9),
                                 "price": r.randrange(10000) / 100} for _ in range(3)],
                      "open": r.random() < 0.3}
            f.write(json.dumps(record) + "\n")


def table_file(path, scale):
    r = random.Random(12)
    write(path, (f"{i} {r.choice(NAMES)}{r.randrange(4000)} {r.random():.6f} {words(r, 3)}"
                 for i in range(150000 * scale)))


def c_function(r, i):
    """A C function with declarations, a loop, a switch and calls to earlier functions."""
    calls = "".join(f"    sum += work_{r.randrange(i)}(s, n / 2 + {r.randrange(9)});\n"
                    for _ in range(r.randrange(3)) if i)
    cases = "".join(f"        case {j}: sum ^= s->field_{r.randrange(12)} + i * {r.randrange(99)};"
                    f" break;\n" for j in range(r.randrange(2, 9)))
    return (f"static long work_{i}(struct state_{r.randrange(20)} *t, long n)\n{{\n"
            f"    struct state_0 *s = (struct state_0 *)t;\n"
            f"    long sum = {i}, table[{r.randrange(4, 40)}] = {{{r.randrange(9)}, 2, 3}};\n"
            f"    for (long i = 0; i < n; i++) {{\n        switch (i % 11) {{\n{cases}"
            f"        default: sum += table[i % 4] << 1;\n        }}\n"
            f"        if (s->field_{r.randrange(12)} > sum) s->field_1 += (int)(sum & 255);\n"
            f"    }}\n{calls}    return sum;\n}}\n").replace("(s, ", "((void *)s, ")


def c_file(path, scale):
    """One translation unit after preprocessing: system headers, types, many functions."""
    r = random.Random(13)
    headers = "".join(f"#include <{h}.h>\n" for h in ("stdio", "stdlib", "string", "signal",
                                                     "pthread", "sys/socket", "netdb", "math"))
    structs = "".join(f"struct state_{i} {{ " + " ".join(f"int field_{j};" for j in range(12))
                      + f" struct state_{i} *next; char name[{8 + i}]; }};\n" for i in range(20))
    count = 200 * scale
    functions = "".join(c_function(r, i) for i in range(count))
    table = ", ".join(f"(long (*)(void))work_{i}" for i in range(count))
    preprocess("gcc", "c", headers + structs + functions
               + f"long (*all[])(void) = {{{table}}};\n", path)


def cxx_file(path, scale, compiler="g++"):
    """Templates: containers of many types, recursion at compile time, lambdas."""
    headers = "".join(f"#include <{h}>\n" for h in (
        "algorithm", "functional", "map", "memory", "regex", "string", "tuple", "unordered_map",
        "variant", "vector"))
    fixed = ("template <int N> struct chain { static constexpr long value = N +"
             " chain<N - 1>::value; };\n"
             "template <> struct chain<0> { static constexpr long value = 0; };\n"
             "template <class... T> auto packed(T... t) { return std::make_tuple(t...); }\n")
    units = "".join(
        f"struct key_{i} {{ int v; bool operator<(const key_{i} &o) const"
        f" {{ return v < o.v; }} }};\nlong use_{i}(int n) {{\n"
        f"    std::map<key_{i}, std::vector<std::string>> m;\n"
        f"    std::vector<std::unique_ptr<key_{i}>> v;\n"
        f"    std::function<long(long)> f = [&](long x)"
        f" {{ return x + chain<{150 + i}>::value; }};\n"
        f"    m[key_{i}{{n}}].push_back(\"k\"); v.push_back(std::make_unique<key_{i}>());\n"
        f"    std::sort(v.begin(), v.end(), [](auto &a, auto &b) {{ return *a < *b; }});\n"
        f"    return f((long)m.size()) + std::get<0>(packed(n, m.size(), {i}.5));\n}}\n"
        for i in range(4 * scale))
    preprocess(compiler, "c++", headers + fixed + units, path)


def preprocess(compiler, language, text, path):
    subprocess.run([compiler, "-E", "-P", "-x", language, "-", "-o", path], input=text, text=True,
                   check=True)


def sql_file(path, scale):
    rows = 120000 * scale
    write(path, [
        "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INT, title TEXT, total REAL);",
        "CREATE TABLE customers(id INTEGER PRIMARY KEY, region TEXT);",
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{rows}) INSERT INTO"
        " orders SELECT i, (i*7907)%3000, 'title '||((i*37)%8191)||'/'||i, i/4.0 FROM n;",
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<3000) INSERT INTO"
        " customers SELECT i, 'region '||(i%40) FROM n;",
        "CREATE INDEX by_customer ON orders(customer, total);",
        "SELECT region, count(*), avg(total), min(title) FROM orders JOIN customers ON"
        " customers.id=customer GROUP BY region ORDER BY 3 DESC;",
        "SELECT count(DISTINCT lower(title)||printf('%06d', customer)) FROM orders;",
        "SELECT length(group_concat(title, ';')) FROM orders WHERE title LIKE '%7%';",
        "SELECT sum(length(json_object('id', id, 'title', title))) FROM orders;",
        "UPDATE orders SET title=replace(title, 'title', 'renamed') WHERE id%2=0;",
        "DELETE FROM orders WHERE id%7=0;",
        "SELECT count(*), sum(total) FROM orders;"])


def python_file(path, scale):
    write(path, f"""\
import collections, json, re
class Point:
    def __init__(self, x, y):
        self.x, self.y, self.tag = x, y, "p" + str(x * y)
def records(n):
    for i in range(n):
        yield {{"id": i, "name": "name%d" % (i % 977), "list": [i, str(i), i / 3], "on": i % 2}}
rows = list(records({35000 * scale}))
again = json.loads(json.dumps(rows))
groups = collections.defaultdict(list)
for row in again:
    groups[row["name"]].append(row["list"][1])
text = " ".join(",".join(v) for v in groups.values())
counts = collections.Counter(re.findall("[0-9]+", text))
points = [Point(i, i % 31) for i in range({60000 * scale})]
points.sort(key=lambda p: (p.y, p.tag))
print(len(text), len(counts), points[-1].tag, sum(len(p.tag) for p in points))
""".splitlines())


def perl_file(path, scale):
    write(path, f"""\
use strict; use warnings;
my (%groups, @all);
for my $i (1 .. {60000 * scale}) {{
    my $row = {{ id => $i, key => "k" . ($i * 7919 % 5003),
                parts => [ "a$i", $i % 13, "z" x ($i % 20) ] }};
    push @{{ $groups{{ $row->{{key}} }} }}, $row;
    push @all, $row if $i % 3;
}}
my @lines = map {{ my $k = $_; map {{ join ":", $k, $_->{{id}}, @{{ $_->{{parts}} }} }}
                  @{{ $groups{{$k}} }} }} sort keys %groups;
my $text = join "\\n", @lines;
my %seen; $seen{{ (split /:/)[3] }}++ for split /\\n/, $text;
my @sorted = sort {{ $a->{{parts}}[2] cmp $b->{{parts}}[2] || $a->{{id}} <=> $b->{{id}} }} @all;
print length($text), " ", scalar(keys %seen), " ", $sorted[-1]{{id}}, "\\n";
""".splitlines())


def bash_file(path, scale):
    write(path, f"""\
declare -A seen
for ((i = 0; i < {40000 * scale}; i++)); do
    word="w$((i * 31 % 701))"
    seen[$word]+=" $i"
    parts=(${{seen[$word]}})
    text=${{word/w/x}}-${{#parts[@]}}
    case $text in x1*) list+=("$text") ;; esac
done
echo "${{#seen[@]}} ${{#list[@]}} $(printf '%s' "${{seen[w1]}}" | wc -c)"
""".splitlines())


def lua_file(path, scale):
    write(path, f"""\
local rows, groups = {{}}, {{}}
for i = 1, {100000 * scale} do
    rows[i] = {{ id = i, name = "n" .. (i % 997), text = string.rep("x", i % 30) .. i }}
end
for _, row in ipairs(rows) do
    groups[row.name] = groups[row.name] or {{}}
    table.insert(groups[row.name], row.text)
end
local total = 0
for name, list in pairs(groups) do
    table.sort(list)
    total = total + #table.concat(list, name)
end
print(total, select(2, string.gsub(table.concat(groups.n1, " "), "x", "y")))
""".splitlines())


def node_file(path, scale):
    write(path, f"""\
const rows = [];
for (let i = 0; i < {60000 * scale}; i++)
    rows.push({{ id: i, name: "n" + i % 501, list: [i, "s" + i], at: Buffer.alloc(64 + i % 900) }});
const text = JSON.stringify(rows.map((r) => [r.id, r.name, r.list]));
const groups = new Map();
for (const r of JSON.parse(text))
    groups.set(r[1], (groups.get(r[1]) || []).concat(r[0]).slice(-50));
console.log(text.length, groups.size);
""".splitlines())


def revision(r, contents, number):
    """The commands for one commit of `git fast-import`: some lines change in some files."""
    out = [f"commit refs/heads/main\n"
           f"committer Bench <b@example.org> {1600000000 + number} +0000\n"
           f"data 9\nchange {number % 10}\n"]
    for name in r.sample(sorted(contents), 3):
        lines = contents[name]
        for _ in range(4):
            lines[r.randrange(len(lines))] = f"{words(r, 5)} {number}"
        lines.insert(r.randrange(len(lines)), words(r, 6))
        text = "\n".join(lines) + "\n"
        out.append(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n")
    return "".join(out)


def git_repository(path, scale):
    r = random.Random(14)
    contents = {f"file{i}.txt": [words(r, 6) for _ in range(300)] for i in range(25)}
    stream = "".join(revision(r, contents, i) for i in range(900 * scale))
    subprocess.run(["git", "init", "-q", "--bare", path], check=True)
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input=stream.encode(), check=True)


MAKERS = {"json": json_file, "table": table_file, "c": c_file, "cxx": cxx_file, "sql": sql_file,
          "python": python_file, "perl": perl_file, "bash": bash_file, "lua": lua_file,
          "node": node_file, "git": git_repository}


def makers():
    """Return the inputs of this file and of the files by kind, which import this one."""
    import inputs_deep
    import inputs_kinds
    return {**MAKERS, **inputs_deep.MAKERS, **inputs_kinds.MAKERS}


def make(kind, directory, scale):
    """Return the path of an input, generated if it does not exist."""
    path = os.path.join(directory, f"{kind}-{scale}")
    if not os.path.exists(path):
        os.makedirs(directory, exist_ok=True)
        makers()[kind](path + ".part", scale)
        os.rename(path + ".part", path)
    return path
