//! Programs under `examples/`, each a story that runs.
