import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib, GObject

loop = GLib.MainLoop()
seen = []
GLib.timeout_add(1, lambda: (seen.append(1), len(seen) < 20 or loop.quit(), True)[2])
loop.run()
print(len(seen) >= 20)


class Thing(GObject.Object):
    size = GObject.Property(type=int, default=3)
    changed = GObject.Signal(arg_types=(str,))


for i in range(500):
    thing = Thing(size=i)
    thing.connect("changed", lambda t, s: seen.append(s))
    thing.emit("changed", "x")
print(len(seen) > 500, GLib.Variant("(sa{sv})", ("a", {"b": GLib.Variant("i", 3)})).print_(True))
f = Gio.File.new_for_path("file")
f.replace_contents(b"abc" * 1000, None, False, 0, None)
print(f.load_contents(None)[0], f.query_info("standard::*", 0, None).get_size())
try:
    Gio.File.new_for_path("none/none").read(None)
except GLib.Error as error:
    print("refused", error.code)
