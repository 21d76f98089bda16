"""Estimators of scikit-learn that dispatch to the array API standard, each fitted to tensors and to arrays.

``SCIPY_ARRAY_API=1 python tests/interop/estimators.py FORMAT ...`` prints a line for each: the format, its name, and
whether both give the same. It is a process of its own, as SciPy reads the variable when it is imported.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn import decomposition, linear_model, metrics, model_selection, pipeline, preprocessing
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import pairwise
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB

import weft

NAMES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Binarizer": lambda X, y, t: preprocessing.Binarizer(threshold=0.5).fit_transform(X),
    "CalibratedClassifierCV": lambda X, y, t: (
        CalibratedClassifierCV(linear_model.LogisticRegression(), method="temperature").fit(X, y).predict_proba(X)
    ),
    "GaussianMixture": lambda X, y, t: GaussianMixture(2, init_params="random", random_state=0).fit(X).means_,
    "GaussianNB": lambda X, y, t: GaussianNB().fit(X, y).predict(X),
    "GridSearchCV of Ridge": lambda X, y, t: (
        model_selection.GridSearchCV(linear_model.Ridge(solver="svd"), {"alpha": [0.1, 1.0]}, cv=3)
        .fit(X, t)
        .best_params_["alpha"]
    ),
    "KernelCenterer": lambda X, y, t: preprocessing.KernelCenterer().fit_transform(X @ X.T),
    "LabelEncoder": lambda X, y, t: preprocessing.LabelEncoder().fit_transform(y),
    "LinearDiscriminantAnalysis": lambda X, y, t: LinearDiscriminantAnalysis(solver="svd").fit(X, y).coef_,
    "LogisticRegression": lambda X, y, t: linear_model.LogisticRegression().fit(X, y).predict_proba(X),
    "MaxAbsScaler": lambda X, y, t: preprocessing.MaxAbsScaler().fit_transform(X),
    "MinMaxScaler": lambda X, y, t: preprocessing.MinMaxScaler().fit_transform(X),
    "Normalizer": lambda X, y, t: preprocessing.Normalizer().fit_transform(X),
    "Nystroem": lambda X, y, t: Nystroem(n_components=4, random_state=0).fit_transform(X),
    "PCA": lambda X, y, t: abs(decomposition.PCA(2, svd_solver="full").fit_transform(X)),
    "PCA, covariance_eigh": lambda X, y, t: abs(decomposition.PCA(2, svd_solver="covariance_eigh").fit_transform(X)),
    "PolynomialFeatures": lambda X, y, t: preprocessing.PolynomialFeatures().fit_transform(X),
    "Ridge": lambda X, y, t: linear_model.Ridge(solver="svd").fit(X, t).coef_,
    "RidgeCV": lambda X, y, t: linear_model.RidgeCV().fit(X, t).coef_,
    "RidgeClassifier": lambda X, y, t: linear_model.RidgeClassifier(solver="svd").fit(X, y).coef_,
    "StandardScaler": lambda X, y, t: preprocessing.StandardScaler(with_mean=False).fit_transform(X),
    "a pipeline": lambda X, y, t: (
        pipeline.make_pipeline(preprocessing.MaxAbsScaler(), linear_model.LogisticRegression()).fit(X, y).predict(X)
    ),
    "accuracy_score": lambda X, y, t: metrics.accuracy_score(y, y),
    "cosine_similarity": lambda X, y, t: pairwise.cosine_similarity(X),
    "cross_val_predict": lambda X, y, t: model_selection.cross_val_predict(linear_model.Ridge(solver="svd"), X, t),
    "euclidean_distances": lambda X, y, t: pairwise.euclidean_distances(X),
    "mean_squared_error": lambda X, y, t: metrics.mean_squared_error(t, 2 * t),
    "r2_score": lambda X, y, t: metrics.r2_score(t, 2 * t),
    "rbf_kernel": lambda X, y, t: pairwise.rbf_kernel(X),
    "train_test_split": lambda X, y, t: model_selection.train_test_split(X, y, random_state=0)[0],
}


def outcome(call: Callable[[Any, Any, Any], Any], arrays: tuple[Any, ...], tensors: tuple[Any, ...]) -> str:
    wanted = call(*arrays)
    try:
        found = call(*tensors)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    found, wanted = (x.todense() if hasattr(x, "todense") else np.asarray(x) for x in (found, wanted))
    return "works" if np.allclose(found, wanted, atol=1e-5) else f"gives {found} for {wanted}"


def main(*formats: str) -> None:
    warnings.simplefilter("ignore")
    sklearn.set_config(array_api_dispatch=True)
    rng = np.random.default_rng(0)
    X = rng.random((40, 6))
    X[X < 0.4] = 0
    t = X @ np.arange(6.0)
    y = (X[:, 0] + X[:, 1] > 0.8).astype(np.int64)
    for format in formats:
        tensors = (weft.asarray(X, format=format), weft.asarray(y), weft.asarray(t))
        for name, call in NAMES.items():
            print(f"{format}\t{name}\t{outcome(call, (X, y, t), tensors)}".replace("\n", " "))


if __name__ == "__main__":
    main(*sys.argv[1:])
