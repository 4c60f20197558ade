"""documents.py: read heaptap's JSON, and replace indices by stacks.

In a document of version 2 (docs/json.md), a stack is an index into the tables at its end, and sites
are columns. load and loads read any document and return it in the layout of version 1: a list of
sites, each with a list of frames. Equal frames are one object, equal stacks one list: do not modify
either.

    import documents
    report = documents.loads(subprocess.run([heaptap, "report", "--json", ...]).stdout)
    report["sites"][0]["stack"][0]["function"]
"""
import json

STACKS = ("stack", "allocated", "front_allocated")  # Members that are stacks.


def rows(columns):
    """Return a table's rows, from its columns."""
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def at(table, index):
    return None if index is None else table[index]


def frames_of(tables):
    names = tables["functions"]["name"]
    paths = [module["path"] for module in tables["modules"]]
    for frame in rows(tables["frames"]):
        frame["function"] = at(names, frame["function"])
        frame["file"] = at(tables["files"], frame["file"])
        frame["module"] = at(paths, frame["module"])
        frame.pop("exact", None)  # These are only in the tables, as below.
        for key in ("function_offset", "language"):
            if frame.get(key) is None:
                frame.pop(key, None)
        yield frame


class Tables:
    def __init__(self, tables):
        self.frames = list(frames_of(tables))
        self.heaps, self.labels = tables.get("heaps"), tables.get("labels")
        self.entries = tables["stacks"]
        self.written = {0: []}

    def stack(self, index):
        """Return the frames of a stack, innermost first."""
        if index not in self.written:
            frames, at_entry = [], index
            while at_entry:
                frames.append(self.frames[self.entries["frame"][at_entry]])
                at_entry = self.entries["parent"][at_entry]
            self.written[index] = frames
        return self.written[index]

    def write_out(self, row):
        """Return a row with its stacks, heap and labels in place of their indices."""
        for key in STACKS:
            if isinstance(row.get(key), int):
                row[key] = self.stack(row[key])
        if isinstance(row.get("heap"), int):
            row["heap"] = self.heaps[row["heap"]]
        if isinstance(row.get("labels"), int):
            row["labels"] = self.labels[row["labels"]]
        for key in ("number", "own"):
            row.pop(key, None)
        return row

    def node(self, row):
        """Return a node of a tree with its frame in place of the index."""
        frame = row.pop("frame")
        del row["parent"]
        return {**row, **({"function": "other"} if frame is None else self.frames[frame])}


def nested(document):
    """Return DOCUMENT in the layout of version 1, except for its version. Members in no table are
    unchanged."""
    if document.get("version") != 2:
        return document
    if "profiles" in document:
        document["profiles"] = [nested(one) for one in document["profiles"]]
    if "tables" not in document:
        return document
    tables = Tables(document.pop("tables"))
    for key in ("sites", "leaks", "tree"):
        if key in document:
            document[key] = rows(document[key])
    if "tree" in document:
        document["tree"] = [tables.node(row) for row in document["tree"]]
    for key in ("sites", "leaks", "rows", "backings", "unknown_frees", "damaged"):
        if key in document:
            document[key] = [tables.write_out(row) for row in document[key]]
    for row in document.get("retained", {}).get("rows", []):
        if "stack" in row:
            row["stack"] = tables.stack(row["stack"])
    signal = (document.get("memory") or {}).get("signal")
    if signal:
        signal["stack"] = [tables.frames[row["frame"]] for row in signal["stack"]]
    return document


def loads(text):
    return nested(json.loads(text))


def load(file):
    return nested(json.load(file))
