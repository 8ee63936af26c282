# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# Every target does its own set-up. PYTHON only starts the tools; they look for the interpreters.

PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,$(if $(shell command -v $(name)),$(name))))
VENV := .venv/bin
CLUSTER := .cache/cluster
RUN := $(PYTHON) -m tools.run_tests

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench chaos control-plane cluster cluster-down build clean

help: ## Say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 # \2/p' $(MAKEFILE_LIST) | column -t -s '#' 2>/dev/null \
	|| sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1: \2/p' $(MAKEFILE_LIST)

setup: ## Make .venv; then .venv/bin/ansible-playbook evenkeel.fleet.PLAYBOOK runs from here
	@$(PYTHON) -m tools.setup

demo: setup ## See a drain wait for a budget, a refusal with its remedy, and the way back
	@$(VENV)/python -m tests.demo.run

test: ## Run all tests that this machine allows, or some: make test STAGES="units ruff"
	@$(RUN) $(STAGES)

lint: ## Run the quick checkers: ruff, mypy, import layers, ansible-lint, docs, changelog
	@$(RUN) --group lint

bench: control-plane ## Run the benchmarks, or one: make bench BENCH=drain_vs_kubectl
	@$(VENV)/python -m tools.bench $(BENCH)

chaos: control-plane ## Kill runs at every request and break the API in every way (an hour or more)
	@EVENKEEL_CHAOS=all $(VENV)/python -m pytest -n 2 tests/chaos tests/chaos_twin

control-plane: setup ## Build the Kubernetes control plane of the tests (once; needs Go)
	@$(VENV)/python -m tests.control_plane build

cluster: control-plane ## Start a cluster of 10 nodes with workloads to play with
	@$(VENV)/python -m tests.control_plane up --sample --state $(CLUSTER)

cluster-down: setup ## Stop that cluster
	@$(VENV)/python -m tests.control_plane down --state $(CLUSTER)

build: setup ## Build the Galaxy tarball in build/ and see that it installs
	@$(VENV)/python -m tools.build

clean: ## Remove .venv and build/ (the cache stays: ~/.cache/evenkeel-fleet)
	@rm -rf .venv build
