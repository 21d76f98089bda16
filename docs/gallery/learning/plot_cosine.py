"""
Similar texts: TF-IDF and cosine
================================

Which functions of NumPy have similar documentation? Words are weighted by TF-IDF, and texts are compared by the cosine
of their angles.
"""

# %%
# Texts and counts
# ----------------
# The texts are the docstrings of NumPy's functions. A matrix holds how often each word is in each text; equal
# coordinates are added up.
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np

import weft

texts = {}
for name in sorted(vars(np)):
    function = getattr(np, name)
    if (
        callable(function)
        and not inspect.isclass(function)
        and len(function.__doc__ or "") > 400
    ):
        texts.setdefault(function.__doc__, name)
names = list(texts.values())
words = [re.findall(r"[a-z]{3,}", text.lower()) for text in texts]
vocabulary = {word: j for j, word in enumerate(sorted(set().union(*words)))}
i = np.repeat(np.arange(len(words)), [len(text) for text in words])
j = np.array([vocabulary[word] for text in words for word in text])
counts = weft.from_coords(
    [i, j], np.ones(len(i)), shape=(len(names), len(vocabulary)), format="csr"
)
print(repr(counts))

# %%
# TF-IDF
# ------
# A word that is in few texts says more than a word that is in all. ``weft.query`` counts the texts of each word from
# the coordinates alone.
texts_of_word = weft.query(counts, "select [j] -> count(i) as texts")["texts"]
idf = np.log(len(names) / texts_of_word)
X = weft.evaluate("X(i,j) = log(1 + C(i,j)) * w(j)", C=counts, w=idf)
print(repr(X))

# %%
# Cosines
# -------
# The division by both lengths is part of the expression of the product. With SciPy, rows are divided in one step and
# multiplied in another. The transpose is stored by rows once: the report would name a conversion in each call
# otherwise.
length = np.sqrt(weft.einsum("ij,ij->i", X, X))
cosine = "S(i,k) = X(i,j)*Y(j,k)/(l(i)*l(k))"
Y = X.T.asformat("csr")
S = weft.evaluate(cosine, X=X, Y=Y, l=length)
print(repr(S))
print(weft.explain(cosine, X=X, Y=Y, l=length))

rows = weft.to_scipy(X) / length[:, None]
assert np.allclose(S.todense(), (rows @ rows.T).toarray())

# %%
# Nearest functions
# -----------------
S = S.todense()
for name in ("cumsum", "hanning", "sin"):
    best = np.argsort(S[names.index(name)])[::-1][1:5]
    print(
        f"{name:8}",
        ", ".join(f"{names[k]} {S[names.index(name), k]:.2f}" for k in best),
    )

# %%
# A map of the functions
# ----------------------
# Two singular vectors of the weighted counts place each text. The iterative solver multiplies with the tensor as it is.
U, s, _ = weft.linalg.svds(X * (1 / length)[:, None], k=3, v0=np.ones(len(names)))
x, y = U[:, 1], U[:, 0]
fig, ax = plt.subplots(figsize=(5.6, 4.8))
order = np.argsort(np.arctan2(y, x))
image = ax.imshow(S[np.ix_(order, order)], cmap="magma_r", vmax=0.5)
ax.set(title="cosine of each two functions", xticks=[], yticks=[])
fig.colorbar(image, shrink=0.8)
fig.tight_layout()

# %%
# The map
# -------
# Functions that are documented in similar words are near each other.
fig, ax = plt.subplots(figsize=(6, 4.8))
ax.scatter(x, y, s=8, color="lightgrey")
for name in (
    "cos",
    "arctan",
    "cumsum",
    "nansum",
    "hanning",
    "logical_or",
    "isnan",
    "reshape",
    "argsort",
    "loadtxt",
):
    ax.annotate(name, (x[names.index(name)], y[names.index(name)]), fontsize=8)
ax.set(title="two singular vectors", xticks=[], yticks=[])
fig.tight_layout()
