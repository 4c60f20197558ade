import numpy as np
from scipy import fft, integrate, linalg, optimize, sparse, spatial
from scipy.sparse import linalg as sparse_linalg

r = np.random.default_rng(1)
a = r.random((120, 120))
print(round(float(linalg.det(a / 40)) * 0, 3), np.linalg.matrix_rank(a), len(linalg.eigvals(a)))
print(round(float(abs(fft.ifft(fft.fft(a[0])) - a[0]).max()), 9))
print(round(optimize.minimize(lambda x: ((x - 3) ** 2).sum(), np.zeros(4)).x.mean(), 4))
print(round(integrate.quad(np.sin, 0, np.pi)[0], 9))
s = sparse.random(400, 400, 0.01, random_state=1) + sparse.eye(400) * 9
print(sparse_linalg.spsolve(s.tocsc(), np.ones(400)).shape)
print(len(spatial.ConvexHull(r.random((500, 3))).vertices), len(spatial.cKDTree(a).query_pairs(3)))
print([np.array(["x" * i for i in range(50)], dtype=object).size, np.sort(a, axis=None)[7] > 0])
