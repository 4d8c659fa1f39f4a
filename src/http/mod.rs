//! Admin HTTP: health, metrics, plugins.
