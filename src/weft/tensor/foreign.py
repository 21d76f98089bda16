"""Module path of ``restored`` in pickles that earlier versions wrote."""

from __future__ import annotations

from ..operations.foreign_tensors import restored as restored
