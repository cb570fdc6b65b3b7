//! A tool of a server, as something that runs.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};
use tool_core::{
    Context, Digest, Executor, InvalidArguments, Issue, Namespace, Prepared, Progress, Running,
    Tool, ToolFailure, producing,
};

use super::advertised::Advertised;
use super::gates::Gates;
use super::line::Line;
use super::mailbox::{Answer, Report};
use super::slot::Claim;
use super::target::Target;
use super::{answer, call_error::CallError, lacking};

const METHOD: &str = "tools/call";

/// Calls one tool of a server, under the name that the server gave it.
#[derive(Clone)]
struct Remote {
    target: Arc<Target>,
    server: Namespace,
    gates: Gates,
}

struct RemoteCall {
    remote: Remote,
    arguments: Map<String, Value>,
}

/// The tool that an advertised one becomes.
///
/// With a digest it is called only while that is what the server's tool of the name is.
pub(crate) fn tool(
    line: &Arc<Line>,
    server: &Namespace,
    advertised: Advertised,
    digest: Option<Digest>,
    gates: Gates,
) -> Tool {
    let Advertised {
        name,
        description,
        input,
        output,
        annotations,
        icons,
        meta,
        ..
    } = advertised;
    let description = description.unwrap_or_else(|| format!("Tool {name} of server {server}"));
    let remote = Remote {
        target: Arc::new(Target {
            line: Arc::clone(line),
            name,
            digest,
        }),
        server: server.clone(),
        gates,
    };
    let mut tool =
        Tool::from_executor(description, input, Arc::new(remote)).annotations(annotations);
    tool = tool.icons(icons).meta(meta);
    if let Some(output) = output {
        // It is the server's promise; what it gives all the same is not lost.
        tool = tool.output_schema(output).advisory_output();
    }
    tool
}

impl Executor for Remote {
    fn prepare(&self, input: &Value) -> Result<Box<dyn Prepared>, InvalidArguments> {
        let Value::Object(arguments) = input else {
            return Err(InvalidArguments::new([Issue::NotObject {
                got: "something else",
            }]));
        };
        Ok(Box::new(RemoteCall {
            remote: self.clone(),
            arguments: arguments.clone(),
        }))
    }
}

impl Prepared for RemoteCall {
    fn run<'a>(self: Box<Self>, cx: Context) -> Pin<Box<dyn Running + 'a>>
    where
        Self: 'a,
    {
        let Self { remote, arguments } = *self;
        producing(async move {
            let mut params = Map::new();
            params.insert("name".to_owned(), remote.target.name.as_str().into());
            params.insert("arguments".to_owned(), arguments.into());
            let mut claim = Claim::of(
                remote.server.as_str(),
                METHOD,
                &params,
                &remote.gates.tickets,
            );
            let arguments = params.get("arguments").unwrap_or(&Value::Null);
            let places = match remote.gates.enter(arguments, claim.as_mut()).await {
                Ok(places) => places,
                Err(refused) => {
                    remote.abandon(claim);
                    return Err(ToolFailure::new(refused).into());
                }
            };
            if let Some(claim) = &mut claim {
                claim.turn.clone_from(&places.turn);
            }
            let answer = remote.call(params, claim.as_mut(), &cx).await;
            match answer {
                Ok(answer) => Ok(answer::read(&remote.server, answer)?),
                Err(error) => {
                    remote.abandon(claim);
                    lacking::tell(&remote.target.line, &error).await;
                    Err(answer::unanswered(&remote.server, error).into())
                }
            }
        })
    }
}

impl Remote {
    async fn call(
        &self,
        params: Map<String, Value>,
        claim: Option<&mut Claim>,
        cx: &Context,
    ) -> Result<Answer, CallError> {
        let begun = claim.as_ref().is_some_and(|claim| claim.goes_on());
        let target = &self.target;
        let connection = target.line.get().map_err(|error| error.after(begun))?;
        if begun {
            // What goes on may be on its way, so that nothing more is sent of it.
            let checked = connection.check(target).await;
            checked.map_err(|error| error.after(begun))?;
        }
        let report = |report| cx.progress(progress(report));
        connection
            .ask(METHOD, params, Some(target), claim, report)
            .await
    }

    /// Gives up what a call was to go on from.
    fn abandon(&self, claim: Option<Claim>) {
        let Some(mut claim) = claim else {
            return;
        };
        match self.target.line.get() {
            Ok(connection) => connection.abandon(&mut claim),
            // Whatever there was has ended with the connection.
            Err(_) => drop(claim.take()),
        }
    }
}

fn progress(report: Report) -> Progress {
    let mut progress = match report.total {
        Some(total) => Progress::new().of(report.progress, total),
        None => Progress::new().done(report.progress),
    };
    progress.message = report.message;
    progress
}
