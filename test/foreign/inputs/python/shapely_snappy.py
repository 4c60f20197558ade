import snappy
from shapely import wkb, wkt
from shapely.geometry import LineString, Point, Polygon
from shapely.ops import unary_union
from shapely.strtree import STRtree

discs = [Point(i % 20, i // 20).buffer(0.7) for i in range(200)]
union = unary_union(discs)
print(round(union.area, 3), union.is_valid, len(union.wkb))
print(round(LineString([(0, 0), (20, 10)]).intersection(union).length, 3))
print(len(STRtree(discs).query(Polygon([(0, 0), (5, 0), (5, 5)]))))
print(wkb.loads(union.wkb).equals(wkt.loads(union.wkt)) in (True, False))
try:
    wkt.loads("POINT (")
except Exception as error:
    print("refused", type(error).__name__)
data = b"abcdefg" * 5000
print(len(snappy.compress(data)), snappy.uncompress(snappy.compress(data)) == data)
try:
    snappy.uncompress(b"nonsense")
except Exception as error:
    print("refused", type(error).__name__)
