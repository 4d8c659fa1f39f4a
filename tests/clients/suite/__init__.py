"""The runner: installs clients, starts brokers, asks clients to do things, compares. Standard library only."""
