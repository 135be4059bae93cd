SUITE = suites/macro.toml
PROFILE =
ARGS =
STUDIES = http-clients cherrypy threads-vs-async macro wsgi

bin = .venv/bin

KILLS = 200
MINUTES = 30

.PHONY: help setup setup-dev run studies test torture robustness validity lint format docs schemas clean
.DEFAULT_GOAL = help

help:
	@echo 'make run      measure a suite: SUITE=$(SUITE) PROFILE= ARGS='
	@echo 'make studies  ask the claims of $(STUDIES), and write docs/studies.md'
	@echo 'make test     all checks and all tests'
	@echo 'make torture  kill benchforge at random moments: KILLS=$(KILLS) MINUTES=$(MINUTES)'
	@echo 'make robustness  write docs/robustness.md from what the tests of faults see'
	@echo 'make validity  write docs/validity.md from what the tests of validity see'
	@echo 'make lint     the checks alone: style, types, imports'
	@echo 'make format   format the code, and repair what can be repaired'
	@echo 'make docs     draw the reference from the code, and build docs/_build/html'
	@echo 'make schemas  write schemas/ anew, after an option or a part was changed'
	@echo 'make setup    prepare .venv and .tools (run and test do it themselves)'
	@echo 'make clean    remove .venv, .tools and caches; results stay'

setup:
	@sh scripts/setup.sh

setup-dev:
	@sh scripts/setup.sh dev

# What is installed is told on stderr: stdout belongs to benchforge (ARGS=--json).
run:
	@sh scripts/setup.sh >&2
	@$(bin)/benchforge run '$(SUITE)' $(if $(PROFILE),--profile '$(PROFILE)') $(ARGS)

# One that fails does not keep the others from being measured; an interrupt does. A claim that fails
# or has no answer is what is asked for, and told in the page; with PROFILE=quick there is no page.
studies: setup-dev
	@failed=; folder="results/studies-$$(date -u +%Y%m%dT%H%M%SZ)"; for study in $(STUDIES); do \
		$(bin)/benchforge run "suites/$$study.toml" --profile '$(or $(PROFILE),claims)' \
			-o "$$folder" $(ARGS) || case $$? in \
			1|4) ;; \
			130|143) echo "interrupted: $$study" >&2; exit 1 ;; \
			*) failed="$$failed $$study" ;; \
		esac; \
	done; \
	[ -z "$$failed" ] || { echo "studies that failed:$$failed" >&2; exit 1; }; \
	[ '$(or $(PROFILE),claims)' = quick ] || $(bin)/python -m docs.generate.studies "$$folder"/*

# Side by side, each worker in a network of its own; then those that need the one outside.
test: lint
	$(bin)/python tests/build_runtimes.py suites/*.toml
	$(bin)/pytest -q -n auto --dist worksteal tests/test_systems.py
	$(bin)/pytest -q -n auto --dist worksteal -m 'not network' --ignore=tests/test_systems.py
	$(bin)/pytest -q -m network

torture: setup-dev
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
		$(bin)/python tests/own_place.py $(bin)/python tests/torture.py "$$folder/t" $(KILLS) 6 $(MINUTES)

robustness: setup-dev
	@seen=$$(mktemp) && trap 'rm -f "$$seen"' EXIT && \
		ROBUSTNESS=$$seen $(bin)/pytest -q tests/test_robustness*.py -k 'not page' && \
		PYTHONPATH=tests $(bin)/python tests/robustness.py "$$seen" >docs/robustness.md

validity: setup-dev
	@seen=$$(mktemp) && trap 'rm -f "$$seen"' EXIT && \
		VALIDITY=$$seen $(bin)/pytest -q tests/test_validity*.py && \
		PYTHONPATH=tests $(bin)/python tests/validity.py "$$seen" >docs/validity.md

lint: setup-dev
	$(bin)/ruff check --quiet .
	$(bin)/ruff format --quiet --check .
	$(bin)/mypy --no-error-summary
	$(bin)/pyright
	$(bin)/lint-imports --no-logo

format: setup-dev
	$(bin)/ruff check --quiet --fix .
	$(bin)/ruff format .

docs: setup-dev
	$(bin)/python -m docs.generate
	$(bin)/sphinx-build -q -W --keep-going -E docs docs/_build/html

# What editors read, and what stands in the first line of each suite here.
schemas: setup-dev
	@for schema in suite result trial summary sitting ceiling calibration; do \
		$(bin)/benchforge schema $$schema --builtin -o schemas/$$schema.schema.json || exit; \
	done

clean:
	rm -rf .venv .tools dist docs/_build .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache \
		.import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
