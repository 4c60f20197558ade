"""python_shares.py: compare the allocations of each Python function with an independent count.

    python_shares.py HEAPTAP PROFILE COUNTS
    python_shares.py run PROGRAM

COUNTS is the file of python_shares.c, which counted the same calls of the same run. The second form
is a program for the comparison: it uses Debian's package of the name PROGRAM, or the standard
library.

One difference is known. Until the interpreter is initialised, Python does not show which thread has
the interpreter's lock, so a block that encodings allocates without the lock belongs to no function
in one count.
"""
import os
import re
import subprocess
import sys


def library():
    import csv
    import io
    import json
    import threading

    class Table:
        def __init__(self, n):
            self.rows = [{"id": i, "name": "n%d" % i} for i in range(n)]

        def csv(self):
            out = io.StringIO()
            csv.DictWriter(out, ["id", "name"]).writerows(self.rows)
            return out.getvalue()

    def pairs(n):
        for i in range(n):
            yield i, str(i) * 3

    kept = [Table(2000), json.loads(json.dumps(Table(500).rows)), dict(pairs(1000))]
    kept.append(sorted(pairs(1000), key=lambda pair: pair[1]))
    kept.append(kept[0].csv())
    for _ in range(3):
        thread = threading.Thread(target=lambda: kept.append(Table(300).csv()))
        thread.start()
        thread.join()
    return kept


def pandas():
    import pandas
    frame = pandas.DataFrame({"k": ["k%d" % (i % 50) for i in range(2000)], "v": range(2000)})
    return frame.groupby("k").agg({"v": ["sum", "mean"]}), frame.merge(frame[:20], on="k").to_csv()


def django():
    from django.conf import settings
    settings.configure(TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}])
    import django
    django.setup()
    from django.template import Context, Template
    page = Template("{% for i in n %}<p>{{ i|add:1 }} {{ i|stringformat:'05d' }}</p>{% endfor %}")
    return page.render(Context({"n": list(range(500))}))


def sphinx():
    import os
    from sphinx.application import Sphinx
    os.mkdir("source")
    open("source/conf.py", "w").close()
    with open("source/index.rst", "w") as page:
        page.write("Title\n=====\n\n" + "".join(
            "Part %d\n-------\n\n.. py:function:: f%d(x)\n\n   ``x`` or *y*.\n\n" % (i, i)
            for i in range(30)))
    Sphinx("source", "source", "html", "trees", "html", status=None).build()


def pylint():
    import pylint.lint
    with open("checked.py", "w") as source:
        source.write("import json\n\n\ndef f(x):\n    return json.dumps(x)\n" * 20)
    pylint.lint.Run(["--disable=all", "--enable=E,W", "checked.py"], exit=False)


def mypy():
    from mypy.main import main
    with open("typed.py", "w") as source:
        source.write("def f(x: 'list[int]') -> int:\n    return sum(x)\n")
    main(args=["--no-incremental", "typed.py"], stdout=sys.stdout, stderr=sys.stderr,
         clean_exit=True)


NO_FRAME = ("no frame", "")


def recorded(heaptap, profile):
    import documents
    text = subprocess.run([heaptap, "report", "--json", "--language-only", profile], check=True,
                          capture_output=True, text=True).stdout
    functions = {}
    for site in documents.loads(text)["sites"]:
        frame = site["stack"][0]
        # heaptap has a row for the imports of a function.
        key = re.sub(r" \(import .*\)$", "", frame["function"]), frame["file"] or ""
        if re.match("native \\(no|import at start", frame["function"]):
            key = NO_FRAME
        calls, size = functions.get(key, (0, 0))
        functions[key] = calls + site["allocations"], size + site["allocated_bytes"]
    return functions


def counted(path):
    functions = {}
    for line in open(path):
        calls, size, *key = line.rstrip("\n").split("\t")
        # Templates have paths with "..".
        key = key[0], os.path.normpath(key[1]) if key[1] else ""
        before = functions.get(key, (0, 0))
        functions[key] = before[0] + int(calls), before[1] + int(size)
    return functions


def compare(heaptap, profile, counts):
    ours, theirs = recorded(heaptap, profile), counted(counts)
    total = [sum(row[i] for row in theirs.values()) for i in (0, 1)]
    for i, unit in enumerate(("calls", "bytes")):
        first = sorted(theirs.keys() - {NO_FRAME}, key=lambda key: -theirs[key][i])[:5]
        for name, path in first:
            print("%5.1f %% of %s: %s in %s" % (100 * theirs[name, path][i] / total[i], unit, name,
                                              path.rsplit("/", 1)[-1]))
    different = [(key, ours.get(key), theirs.get(key)) for key in ours.keys() | theirs.keys()
                 if ours.get(key) != theirs.get(key) and key != NO_FRAME and
                 not key[1].endswith("/encodings/__init__.py")]
    print("%d calls and %d bytes in %d functions" % (*total, len(theirs)))
    for row in different:
        print("different: %s, recorded %s, counted %s" % row)
    # These two rows differ by a few blocks at the interpreter's start.
    rest = sum(abs(ours.get(key, (0, 0))[0] - theirs.get(key, (0, 0))[0])
               for key in ours.keys() | theirs.keys())
    print("%d calls are in another function" % rest)
    return bool(different) or rest > 20 or len(theirs) < 20


if __name__ == "__main__":
    if sys.argv[1] == "run":
        result = globals()[sys.argv[2]]()
    else:
        sys.exit(compare(*sys.argv[1:]))
