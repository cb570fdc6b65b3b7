//! Tests of the registry and its pipeline, through the public API.
//!
//! Helpers:
//! - `ports`: ports that a test can steer
//! - `slow`: ports and tools that take several polls for everything
//! - `recorder`: writes down what a registry tells of its calls
//! - `tools`: tools that the tests register
//! - `waits`: calls that wait, and what resumes them
//!
//! Subjects, one module each:
//! - `advertised`: tools that are advertised by another name, and what names them
//! - `artifact_facts`: what is told of what a handler asks of the artifact store
//! - `arguments`: from what was delivered to JSON with one reading
//! - `cancellation`: dropping a call, and running out of time
//! - `check_ins`: tools that ask before they act, and results from outside
//! - `compile_fail`: what does not compile, and how it says so
//! - `credentials`: declared, asked for, and asked for again
//! - `dropped_anywhere`: dropping after every possible number of polls
//! - `dropped_streams`: the same for streams, batches and turns
//! - `codecs`: codecs of a tool's author, on every surface
//! - `concurrency`: which calls of a batch run beside each other
//! - `failing_calls`: a caller that makes the same failing call over and over
//! - `failure_types`: what a tool declares of its failures
//! - `fail_closed`: gates that come to no answer
//! - `fed_back`: what a turn gives out, fed back in
//! - `gates`: what a call waits for
//! - `gate`: nothing runs that was not let through
//! - `given_up`: destructors that panic when what holds them is given up
//! - `handler_errors`: what a handler may return
//! - `hooks`: hooks before and after every call
//! - `hostile_schemas`: schemas that mean harm, and schemas that are none
//! - `labelled`: labelled arguments, and what is repaired of them
//! - `late`: what a context can do when its call is over
//! - `law_calls`: laws 1, 3, 6 and 7
//! - `law_codecs`: law 2
//! - `law_retention`: laws 8 and 9
//! - `law_scoping`: laws 4, 5 and 12
//! - `references`: references in schemas, and that following them ends
//! - `panics`: code of somebody else's that panics
//! - `registration`: registering, overlays and reports
//! - `misfits`: arguments that are JSON and do not fit
//! - `prop_batches`: random batches, taken in every way
//! - `prop_outputs`: random outputs, held against what the plain validator says
//! - `prop_overlay`: random registrations against a plain list
//! - `prop_repairs`: random arguments, spelled as models misspell them
//! - `prop_schemas`: random schemas and instances
//! - `redaction`: what is printed, and to whom
//! - `results`: what a settled call gives, and what is withheld
//! - `repeated_media`: media that a result holds twice
//! - `repairs`: arguments that are put right, and who is told
//! - `resuming`: calls that go on
//! - `scale`: what does not grow with the number of tools
//! - `shown_artifacts`: check-ins that show an artifact
//! - `placement`: long results as artifacts, and what comes before that
//! - `schemas`: closed where the type fixes the keys
//! - `stages`: the order of the pipeline
//! - `declarations`: what a tool declares of itself
//! - `inner_calls`: calls that a handler makes
//! - `kinds`: kinds, failure types, failure modes and codecs
//! - `observer_bounds`: how much observers remember
//! - `observed_text`: observers, and results that are text or that are cut
//! - `observers`: observers that a host may attach
//! - `stream_states`: streams from other threads, late, and left
//! - `streamed_text`: text that a handler hands to the store while it makes it
//! - `streams`: calls and batches as streams
//! - `suspension`: calls that wait for a decision
//! - `leftovers`: cleanups of dropped calls
//! - `teardown`: cleanups and their scopes
//! - `told`: what a host is told, as events and as traces
//! - `toolkits`: kits and typed handles
//! - `turn_results`: what a turn keeps, and when it is over
//! - `turn_ends`: how turns end, and what they are held to
//! - `turns`: model responses that stream in
//! - `wants`: arguments that name artifacts
//! - `views`: hooks on requests

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod advertised;
mod arguments;
mod artifact_facts;
mod cancellation;
mod check_ins;
mod codecs;
mod compile_fail;
mod concurrency;
mod credentials;
mod declarations;
mod dropped_anywhere;
mod dropped_streams;
mod fail_closed;
mod failing_calls;
mod failure_types;
mod fed_back;
mod gate;
mod gates;
mod given_up;
mod handler_errors;
mod hooks;
mod hostile_schemas;
mod inner_calls;
mod kinds;
mod labelled;
mod late;
mod law_calls;
mod law_codecs;
mod law_retention;
mod law_scoping;
mod leftovers;
mod memory_state;
mod misfits;
mod no_runtime;
mod observed_text;
mod observer_bounds;
mod observers;
mod panics;
mod passing;
mod placement;
mod ports;
mod prop_batches;
mod prop_outputs;
mod prop_overlay;
mod prop_repairs;
mod prop_schemas;
mod recorder;
mod redaction;
mod references;
mod registration;
mod repairs;
mod repeated_media;
mod results;
mod resuming;
mod scale;
mod schemas;
mod shown_artifacts;
mod slow;
mod stages;
mod stream_states;
mod streamed_text;
mod streams;
mod suspension;
mod teardown;
mod told;
/// Events of calls beside each other.
mod told_apart;
mod toolkits;
mod tools;
mod turn_ends;
mod turn_results;
mod turns;
mod views;
mod waits;
mod wants;
