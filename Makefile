# Each target makes the virtual environment that it needs; nothing but Python (3.10 or newer), pip and make.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-streaming lint bench faults soak fuzz docs clean

demo: $(VENV)/installed-demo  ## the whole route on the embedded demo
	$(BIN)/gristmill run demo

test: $(VENV)/installed-dev  ## every check: lint, types, imports, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n auto

test-streaming:  ## MDS through mosaicml-streaming, whose dependencies contradict ours
	$(MAKE) VENV=.venv-streaming .venv-streaming/installed-streaming
	PYTHONPATH=tests .venv-streaming/bin/pytest tests/formats/mds_streaming_check.py

lint: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy
	$(BIN)/lint-imports

# bench/loader.py and bench/packing.py want readers that contradict datatrove: pip install -e '.[bench-loader]'.
BENCHES := route workers resume memory filters filter_parity cleaners fasttext_predict token_parity tokenizing \
	compression dedup dedup_scale sentence_dedup substrings_scale mixture reweigh report train

bench: $(VENV)/installed-bench  ## every measured claim; takes hours
	for name in $(BENCHES); do $(BIN)/python bench/$$name.py || exit 1; done

faults: $(VENV)/installed-dev  ## every fault against an undisturbed twin, and the table; as root also disks that fill up
	$(BIN)/python bench/faults.py

soak: $(VENV)/installed-dev  ## half an hour of random recipes, kills and damage
	$(BIN)/python bench/soak.py --minutes 30

fuzz: $(VENV)/installed-fuzz  ## each target for a minute
	for name in $$($(BIN)/python tools/fuzz.py --list); do $(BIN)/python tools/fuzz.py $$name --seconds 60 || exit 1; done

docs: $(VENV)/installed-dev  ## the pages that are made from the source, and the guide as a site, in site/
	$(BIN)/python tools/make_filter_docs.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(VENV)/installed-%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable $(if $(filter demo,$*),.,".[$*]")
	touch $@

clean:
	rm -rf $(VENV) demo-output
