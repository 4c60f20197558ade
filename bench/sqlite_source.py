"""sqlite_source.py: get sqlite3 as one source file, for benches. A module to import.

No package has that file, but the distribution's source package generates it. apt fetches the source
package with a separate list of packages, so that the system's lists do not change."""
import glob
import os
import shutil
import subprocess

NEEDED = ("apt-get", "dpkg-source", "make", "tclsh")
APT = "/etc/apt"


def source_list():
    """Return options for apt, for source packages."""
    text = ""
    for path in sorted(glob.glob(f"{APT}/sources.list.d/*.sources")):
        with open(path, encoding="utf-8") as f:
            text += f.read().replace("Types: deb\n", "Types: deb-src\n") + "\n"
    if text:
        return "list.sources", text
    for path in [f"{APT}/sources.list"] + sorted(glob.glob(f"{APT}/sources.list.d/*.list")):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text += "".join("deb-src " + line[4:] for line in f if line.startswith("deb "))
    return "list.list", text


def fetch(directory):
    name, text = source_list()
    os.makedirs(os.path.join(directory, "lists", "partial"), exist_ok=True)
    with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
        f.write(text)
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::SourceList={directory}/{name}", "-o",
           "Dir::Etc::SourceParts=/dev/null", "-o", f"Dir::State::Lists={directory}/lists"]
    for command in (apt + ["update"], apt + ["--only-source", "source", "sqlite3"]):
        subprocess.run(command, cwd=directory, check=True, capture_output=True)
    return glob.glob(f"{directory}/sqlite3-*/configure")[0]


def amalgamation(directory):
    """Return the directory of sqlite3.c and sqlite3.h, generated in DIRECTORY unless they exist; or
    None, and the reason."""
    directory = os.path.abspath(directory)
    made = os.path.join(directory, "made")
    if os.path.exists(os.path.join(made, "sqlite3.c")):
        return made, None
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        return None, f"sqlite3's source needs {', '.join(missing)}"
    try:
        os.makedirs(made, exist_ok=True)
        configure = fetch(directory)
        subprocess.run([configure], cwd=made, check=True, capture_output=True)
        subprocess.run(["make", "sqlite3.c"], cwd=made, check=True, capture_output=True)
    except (OSError, IndexError, subprocess.CalledProcessError) as e:
        detail = (getattr(e, "stderr", None) or b"").decode(errors="replace").strip()
        return None, f"sqlite3's source: {e} {detail.splitlines()[-1] if detail else ''}"
    return made, None
