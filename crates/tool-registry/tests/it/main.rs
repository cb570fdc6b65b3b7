//! Tests of the registry and its pipeline, through the public API.
//!
//! Helpers:
//! - `ports`: ports that a test can steer
//! - `recorder`: writes down what a registry tells of its calls
//! - `tools`: tools that the tests register
//!
//! Subjects, one module each:
//! - `arguments`: from what was delivered to valid input
//! - `cancellation`: dropping a call, and running out of time
//! - `concurrency`: which calls of a batch run beside each other
//! - `gate`: nothing runs that was not let through
//! - `handler_errors`: what a handler may return
//! - `hooks`: hooks before and after every call
//! - `law_calls`: laws 1, 2, 3, 6 and 7
//! - `law_retention`: laws 8 and 9
//! - `law_scoping`: laws 4, 5 and 12
//! - `registration`: registering, overlays and reports
//! - `stages`: the order of the pipeline

mod arguments;
mod cancellation;
mod concurrency;
mod gate;
mod handler_errors;
mod hooks;
mod law_calls;
mod law_retention;
mod law_scoping;
mod ports;
mod recorder;
mod registration;
mod stages;
mod tools;
