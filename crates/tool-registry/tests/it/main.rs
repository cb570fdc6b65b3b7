//! Tests of the registry and its pipeline, through the public API.
//!
//! Helpers:
//! - `ports`: ports that a test can steer
//! - `recorder`: writes down what a registry tells of its calls
//! - `tools`: tools that the tests register
//!
//! Subjects, one module each:
//! - `arguments`: from what was delivered to valid input
//! - `stages`: the order of the pipeline

mod arguments;
mod ports;
mod recorder;
mod stages;
mod tools;
