import io

import numpy as np
import pandas as pd

text = "k,v,w\n" + "\n".join(f"{i % 17},{i * 7 % 101},{i / 3:.3f}" for i in range(20000))
d = pd.read_csv(io.StringIO(text))
print(d.groupby("k").agg({"v": ["sum", "max"], "w": "mean"}).round(3).head(5).to_string())
print(d.merge(d.drop_duplicates("k"), on="k").shape, d["v"].rolling(5).mean().sum().round(3))
d["s"] = d["k"].astype(str) + "x"
print(d["s"].str.upper().value_counts().head(3).to_string())
print(pd.date_range("2020-01-01", periods=400).to_series().resample("M").count().tolist())
print(d.pivot_table(index="k", columns=d["v"] % 3, values="w", aggfunc=np.sum).shape)
try:
    d["nothing"]
except KeyError as error:
    print("no", error)
