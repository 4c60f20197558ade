from sklearn import cluster, datasets, decomposition, ensemble, linear_model, neighbors, svm

x, y = datasets.load_digits(return_X_y=True)
x, y = x[:600], y[:600]
for model in (svm.SVC(), neighbors.KNeighborsClassifier(), linear_model.RidgeClassifier(),
              ensemble.RandomForestClassifier(20, random_state=1, n_jobs=2)):
    print(type(model).__name__, round(model.fit(x[:400], y[:400]).score(x[400:], y[400:]), 1))
print(decomposition.PCA(5).fit_transform(x).shape)
print(len(set(cluster.KMeans(8, n_init=2, random_state=1).fit(x).labels_)))
print(cluster.DBSCAN(20).fit(x).labels_.shape)
