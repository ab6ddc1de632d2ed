# Every target installs what it needs, once. PYTHON picks the interpreter (3.11 or later) for the virtual environment.
PYTHON ?= python3
BIN := .venv/bin
RLLIB := .venv-rllib/bin/python
OPENENV := .venv-openenv/bin/python
# The number of processes of `make test`; 0 runs the tests in one.
WORKERS ?= auto
# Where `make run` looks for a wheel of this version: a directory, or the address of a page with links.
WHEELS ?= dist
# The Rust targets of the systems beside Linux on x86-64.
PORTS := aarch64-apple-darwin x86_64-pc-windows-gnu aarch64-unknown-linux-gnu
SYSTEM_PACKAGES := $(shell sed 's/\#.*//' system-packages.txt)

# Debian packages, where they are missing.
install = missing=""; for package in $(1); do \
    dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
    done; \
    if [ -n "$$missing" ]; then \
        echo "installing$$missing"; \
        sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
        $$sudo apt-get update -qq && \
        $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing >/dev/null; \
    fi

.PHONY: run test test-portable test-docker test-rllib test-openenv cluster-test test-lerobot test-rust test-ports faults chaos fuzz audit docs lint lint-rust lint-ports wheels test-wheels bench learn coverage system clean

run: .venv/.run
	$(BIN)/universe-client run builtin.NeonDrive-v0 --remotes 4 --agent random --seconds 30

test: .venv/.dev system
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

# The tests of the environment with the portable driver, as on a machine without Rust.
test-portable: .venv/.dev system
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -p tests.support.without_core tests/universe_client tests/integration

# Needs a Docker daemon and docker compose. .ci/docker provides them and the base image.
test-docker: .venv/.dev system
	$(BIN)/universe-client build
	$(BIN)/python -m pytest -m docker tests/docker tests/faults

# The fault table of docs/reliability.md, with the rows that need Docker if a daemon answers.
faults: .venv/.dev system
	@if $(BIN)/python -c 'from universe_client.providers.containers.engine import Engine; Engine().close()' 2>/dev/null; then \
	    $(BIN)/universe-client build && \
	    $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile tests/faults --every-row -m 'docker or not docker'; \
	else \
	    $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile tests/faults --every-row; \
	fi

test-rllib: .venv-rllib/.done system
	$(RLLIB) -m pytest tests/rllib

test-openenv: .venv-openenv/.done system
	$(OPENENV) -m pytest tests/openenv

# Whether lerobot loads what `universe-client export` writes. It installs 8 GB, so `.ci/run` leaves it out.
test-lerobot: .venv-lerobot/.done
	.venv-lerobot/bin/python -m pytest tests/lerobot

# A Ray cluster of this machine's processes, in a network namespace that has only the loopback interface: without it
# Ray uses the machine's own address. REPEATS is the number of nodes that die.
cluster-test: .venv-rllib/.done system
	CLUSTER_REPEATS=$(or $(REPEATS),2) unshare --net --map-root-user sh -c 'ip link set lo up && exec "$$@"' sh \
	    $(RLLIB) -m pytest tests/cluster

# Faults at random: make chaos SECONDS=1800 SEED=1; without SEED it chooses one and prints it.
chaos: .venv/.dev system
	$(BIN)/python -m tests.chaos --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED))

# Hostile bytes for every parser, SECONDS each: see fuzz/README.md. Needs cargo and a C++ compiler.
fuzz: .venv/.fuzz
	$(BIN)/python -m fuzz --seconds $(or $(SECONDS),15)

# Known vulnerabilities of dependencies. It fails if it cannot reach their databases.
audit: .venv/.dev
	.ci/audit

lint: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in build/site. Every warning, such as a broken link, is an error.
docs: .venv/.docs
	$(BIN)/python -m sphinx -W --keep-going -q docs build/site
	@echo "open build/site/index.html"

# The Rust core. Needs cargo, and a C compiler to link. The second run uses loom, which explores the possible orders of
# memory accesses between threads.
test-rust:
	cd vnc/core && cargo test --quiet --locked -p inflate -p pixels -p rfb -p sessions
	cd vnc/core && RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=3 timeout 900 \
	    cargo test --quiet --locked -p sessions --lib --target-dir target/loom

lint-rust: .venv/.dev
	cd fuzz/core && cargo fmt --check
	cd vnc/core && cargo fmt --check && cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	$(BIN)/python -m mypy.stubtest vnc._core

# The source distribution and the Linux wheels, in dist. Needs cargo. ARCHITECTURES=x86_64 builds those of one.
wheels: .venv-wheels/.done
	.ci/wheels $(ARCHITECTURES)

# Wheels in empty containers, with the Pythons that Debian has, and under qemu. PYTHONS="/opt/python3.12 ..." names more
# Pythons, by prefix. SHORT=1 takes one wheel and one container. Needs root.
ifdef SHORT
test-wheels: ARCHITECTURES := $(shell uname -m)
endif
test-wheels: wheels
	@$(call install,debootstrap $(if $(SHORT),,qemu-user))
	.venv-wheels/bin/python -m tests.wheels $(if $(SHORT),--short) $(PYTHONS:%=--python %)

# Systems that are not here, as far as a compiler and a type checker can tell. Needs rustup. zig compiles the C of crates.
lint-ports: .venv/.dev .venv-wheels/.done
	rustup target add --toolchain "$$(rustup show active-toolchain | cut -d' ' -f1)" $(PORTS)
	cd vnc/core && for target in $(PORTS); do \
	    env ZIG="$$(echo $(CURDIR)/.venv-wheels/lib/python*/site-packages/ziglang/zig)" \
	    ZIG_TARGET="$$(echo $$target | sed 's/-unknown//; s/-apple-darwin/-macos/; s/-pc-windows/-windows/')" \
	    "CC_$$(echo $$target | tr - _)=$(CURDIR)/.ci/zig-cc" \
	    cargo clippy --quiet --locked --workspace --all-targets --target $$target -- -D warnings || exit 1; \
	done
	cd vnc/core && PYO3_CONFIG_FILE=$(CURDIR)/.ci/free-threaded.pyo3 CARGO_TARGET_DIR=target/free-threaded \
	    cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	for platform in darwin win32; do \
	    $(BIN)/mypy --config-file .ci/mypy-elsewhere.ini --platform $$platform --cache-dir .mypy_cache/$$platform || exit 1; \
	done

# The NEON kernels against the plain ones, in an emulator of a 64-bit ARM processor.
test-ports:
	rustup target add --toolchain "$$(rustup show active-toolchain | cut -d' ' -f1)" aarch64-unknown-linux-gnu
	@$(call install,qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
	cd vnc/core && CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu' \
	    cargo test --locked --target aarch64-unknown-linux-gnu -p pixels --lib

bench: .venv/.dev
	$(BIN)/python -m benchmarks

# Branch coverage of the tests, child processes included; it fails below the floor in pyproject.toml.
coverage: .venv/.dev system
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(WORKERS) --dist loadfile
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered

# Ten minutes over VNC in real time, and a few in lock-step; fails if the agents learn less than docs/guides/learning.md
# states.
learn: .venv/.learn
	$(BIN)/python examples/learn_neon_drive.py --curve docs/pictures/learn-neon-drive.png
	$(BIN)/python examples/learn_cartpole.py --curve docs/pictures/learn-cartpole.png

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv

# uv makes a virtual environment without pip.
.venv/bin/pip3: | .venv/bin/python
	$(BIN)/python -m ensurepip

.venv/.run: pyproject.toml | .venv/bin/pip3
	$(BIN)/python .ci/install --wheels $(WHEELS)
	touch $@

.venv/.dev: pyproject.toml | .venv/bin/pip3
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ .venv/.run

# RLlib pins an older Gymnasium than miniwob needs, so it gets another virtual environment on top of .venv. pip warns about
# the conflict and continues.
.venv-rllib/.done: .venv/.dev
	$(BIN)/python -m venv .venv-rllib
	echo "import site; site.addsitedir('$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')')" \
	    > "$$($(RLLIB) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/venv.pth"
	$(RLLIB) -m pip install --quiet 'ray[rllib]>=2.50'
	touch $@

# zig compiles and links for an old glibc, for other architectures and for other systems.
.venv-wheels/.done:
	$(PYTHON) -m venv .venv-wheels
	.venv-wheels/bin/python -m pip install --quiet auditwheel build ziglang
	touch $@

.venv-lerobot/.done: pyproject.toml
	$(PYTHON) -m venv .venv-lerobot
	.venv-lerobot/bin/python -m pip install --quiet --editable '.[record]' 'lerobot>=0.4.4' hypothesis pytest pytest-asyncio pytest-timeout
	touch $@

# OpenEnv pins an older SDK of MCP than the command `mcp` needs. TRL trains with its environments.
.venv-openenv/.done: .venv/.dev
	$(BIN)/python -m venv .venv-openenv
	echo "import site; site.addsitedir('$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')')" \
	    > "$$($(OPENENV) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/venv.pth"
	$(OPENENV) -m pip install --quiet 'openenv>=0.10' 'trl>=1.16'
	touch $@

.venv/.fuzz: pyproject.toml .venv/.dev
	$(BIN)/python -m pip install --quiet --editable '.[fuzz]'
	touch $@

.venv/.docs: pyproject.toml .venv/.dev
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

.venv/.learn: pyproject.toml | .venv/bin/pip3
	$(BIN)/python -m pip install --quiet --editable '.[gym-core,learn]'
	touch $@ .venv/.run

# The servers and viewers for the tests. On systems not derived from Debian, install them by hand.
system:
	@$(call install,$(SYSTEM_PACKAGES))

clean:
	rm -rf .venv .venv-lerobot .venv-openenv .venv-rllib .venv-wheels .venv-audit build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
