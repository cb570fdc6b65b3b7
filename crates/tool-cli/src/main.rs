//! The program `tool`: a gateway and a workbench for the tools of language models.

mod approvals;
mod approve;
mod args;
mod audit;
mod call;
mod completions;
mod doctor;
mod document;
mod error;
#[cfg(target_os = "linux")]
mod guard;
mod input;
mod labelled_case;
mod lint;
mod list;
#[cfg(feature = "oauth")]
mod login;
mod mirror;
#[cfg(not(feature = "oauth"))]
mod no_login;
mod output;
mod output_parts;
mod pin;
mod policy;
mod policy_args;
mod progress;
mod render;
mod serve;
mod settings_file;
mod setup;
mod signals;
mod token;
mod tool_list_file;
mod trial;
mod wire_list;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use crate::args::{Args, Command};
use crate::error::CliError;
#[cfg(not(feature = "oauth"))]
use crate::no_login as login;

/// Threads that pass messages on. A call is a few microseconds of work between waits for others, and
/// waking a second thread takes longer than doing it. What takes long, such as compiling schemas,
/// searching files and reading long messages, has threads of its own.
const WORKERS: usize = 1;

fn main() -> ExitCode {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_mut, reason = "only a guard has words of its own among them")
    )]
    let mut words: Vec<_> = std::env::args_os().collect();
    #[cfg(target_os = "linux")]
    let role = guard::Role::take(&mut words);
    #[cfg(target_os = "linux")]
    if let guard::Role::Guard { parent } = role {
        let guarded = guard::guard(&words, parent);
        return report(guarded.map_err(|source| CliError::Start { source }), false);
    }
    let args = Args::parse_from(&words);
    let json = args.common.json;
    let report = |result| report(result, json);
    if let Command::Completions { shell } = args.command {
        return report(completions::print(shell).map(|()| ExitCode::SUCCESS));
    }
    #[cfg(target_os = "linux")]
    if role == guard::Role::Front && starts_processes(&args.command) {
        return report(guard::front(&words).map_err(|source| CliError::Start { source }));
    }
    #[cfg(target_os = "linux")]
    if let Err(source) = role.bind() {
        return report(Err(CliError::Start { source }));
    }
    let tells_of_servers = matches!(
        args.command,
        Command::List(_) | Command::Lint(_) | Command::Doctor
    );
    setup::log(args.common.verbose, tells_of_servers);
    // It is one of the findings of a doctor.
    if !matches!(args.command, Command::Doctor) {
        settings_file::tell_unread(&args.common);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(source) => return report(Err(CliError::Start { source })),
    };
    // On a thread of the runtime: this one would have to be woken for each message of a client.
    let running = runtime.spawn(run(args));
    let ended = runtime.block_on(async {
        let ended = running.await;
        tasks_ended().await;
        ended
    });
    let code = match ended {
        Ok(ended) => report(ended),
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Nobody ends it otherwise.
            Err(_) => ExitCode::FAILURE,
        },
    };
    // A handler that blocks must not keep the program alive once it has answered.
    runtime.shutdown_background();
    code
}

async fn run(args: Args) -> Result<ExitCode, CliError> {
    let common = &args.common;
    match args.command {
        Command::Serve(serve) => serve::run(common, serve).await,
        Command::List(list) => match list.profile {
            Some(profile) => wire_list::run(common, profile, list.from.as_deref()).await,
            None => list::run(common).await,
        },
        Command::Lint(lint) => lint::run(common, lint).await,
        Command::Call(call) => call::run(common, call).await,
        Command::Output { command } => output::run(common, command).await,
        Command::Args {
            command: args::Arguments::Test { file },
        } => trial::test(common, &file).await,
        Command::Policy { command } => policy::run(common, command).await,
        Command::Approvals { command } => approvals::run(common, command).await,
        Command::Pin { command } => pin::run(common, command).await,
        Command::Login { server } => login::login(common, &server).await,
        Command::Logout { server } => login::logout(common, &server).await,
        Command::Audit { command } => audit::run(common, command).await,
        Command::Token { command } => token::run(common, command).await,
        Command::Doctor => doctor::run(common).await,
        Command::Completions { .. } => Ok(ExitCode::SUCCESS),
    }
}

/// Whether a command runs tools or servers.
#[cfg(target_os = "linux")]
fn starts_processes(command: &Command) -> bool {
    matches!(
        command,
        Command::Serve(_)
            | Command::List(_)
            | Command::Lint(_)
            | Command::Call(_)
            | Command::Doctor
    )
}

/// Waits for the last tasks, and no longer than one may hang. Who dropped a call does not see it
/// dropped: the task that ran it does so, and only then are the processes of the call killed.
async fn tasks_ended() {
    let tasks = tokio::runtime::Handle::current().metrics();
    let ended = async {
        while tasks.num_alive_tasks() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(5), ended).await;
}

/// Prints an error with its causes, and gives the status to end with: 2 for what the caller can
/// put right on the command line or in a file, so that 1 is left to calls that did not succeed.
fn report(result: Result<ExitCode, CliError>, json: bool) -> ExitCode {
    match result {
        Ok(code) => code,
        // Whoever reads the output has gone; there is nobody to tell.
        Err(CliError::Print { source }) if source.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            match json {
                true => render::json_error(&error),
                false => render::error(&error),
            }
            ExitCode::from(2)
        }
    }
}
