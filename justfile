# Names for commands; no logic here. `just check` reads, `just fix` writes.

check: fmt lint test

fmt:
    cargo fmt --all --check

lint:
    cargo clippy --all-targets -- -D warnings

test:
    cargo test

# Rewrites what a command can: formatting and generated documents.
fix:
    cargo fmt --all
    KLAMM_UPDATE_DOCS=1 cargo test --test it documents -- --test-threads=1

# Real clients, after `cargo test` or `cargo build`.
clients:
    tests/clients/run

# Compiles the plugins from source and compares with the committed components.
guests:
    cargo xtask guests check

# Klamm beside Apache Kafka, thirteen cells; on an idle machine.
bench:
    cargo xtask bench kafka --write-docs

# All of it, as CI does.
ci:
    .ci/run
