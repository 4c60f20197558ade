import hashlib
import io

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

for kind in ("png", "svg", "pdf"):
    figure, axes = plt.subplots(2, 2)
    axes[0][0].plot([1, 4, 2, 8], label="line")
    axes[0][1].hist([i * i % 23 for i in range(500)])
    axes[1][0].imshow([[i * j % 7 for i in range(40)] for j in range(40)])
    axes[1][1].text(0.1, 0.5, "$\\frac{a}{b}$")
    axes[0][0].legend()
    out = io.BytesIO()
    matplotlib.rcParams["svg.hashsalt"] = "x"
    figure.savefig(out, format=kind, metadata={"Date": None} if kind == "svg" else None)
    text = out.getvalue()
    print(kind, hashlib.md5(text).hexdigest() if kind == "png" else len(text) > 0)
    plt.close(figure)
