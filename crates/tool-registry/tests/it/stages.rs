//! The order of the pipeline.
