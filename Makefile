PYTHON ?= python

.PHONY: check lint types stubs hooks layering test sample docs bench bench-smoke

check: lint types layering test

lint:
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m codespell_lib .

types:
	$(PYTHON) -m mypy

hooks:
	git config core.hooksPath .ci/hooks

stubs:
	$(PYTHON) tools/typing_stub.py

layering:
	$(PYTHON) -m pytest -q -n 0 tests/test_layering.py

test:
	$(PYTHON) -m pytest

# What meets NumPy and SciPy most, for versions of them on which not everything is run.
sample:
	$(PYTHON) -m pytest README.md tests/interop/test_linalg.py tests/interop/test_scipy_sparse.py $(SAMPLES)

docs:
	$(PYTHON) -m sphinx -W --keep-going -b html docs docs/_build/html

bench:
	$(PYTHON) -m asv_benchmarks.report

bench-smoke:
	WEFT_BENCH_SCALE=0.01 $(PYTHON) -m asv_benchmarks.report
