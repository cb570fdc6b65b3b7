//! A tool of a server, as something that runs.

use std::sync::Arc;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::{Map, Value};
use tool_core::{
    BoxFuture, Context, Executor, Finished, HandlerError, InvalidArguments, Issue, Namespace,
    Prepared, Progress, Tool,
};

use super::advertised::Advertised;
use super::connection::Connection;
use super::mailbox::Report;
use super::{answer, call_error::CallError};

/// Calls one tool of a server, under the name that the server gave it.
#[derive(Clone)]
struct Remote {
    connection: Arc<Connection>,
    server: Namespace,
    name: Arc<str>,
}

struct RemoteCall {
    remote: Remote,
    arguments: Map<String, Value>,
}

/// The tool that an advertised one becomes.
pub(crate) fn tool(
    connection: &Arc<Connection>,
    server: &Namespace,
    advertised: Advertised,
) -> (String, Tool) {
    let Advertised {
        name,
        description,
        input,
        output,
        annotations,
    } = advertised;
    let description = description.unwrap_or_else(|| format!("Tool {name} of server {server}"));
    let remote = Remote {
        connection: Arc::clone(connection),
        server: server.clone(),
        name: name.as_str().into(),
    };
    let mut tool =
        Tool::from_executor(description, input, Arc::new(remote)).annotations(annotations);
    if let Some(output) = output {
        tool = tool.output_schema(output);
    }
    (name, tool)
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
    fn run(
        self: Box<Self>,
        cx: Context,
    ) -> BoxFuture<'static, Result<Box<dyn Finished>, HandlerError>> {
        Box::pin(async move {
            let Self { remote, arguments } = *self;
            match remote.call(arguments, &cx).await {
                Ok(answer) => {
                    let produced = answer::read(&remote.server, answer)?;
                    Ok(Box::new(produced) as Box<dyn Finished>)
                }
                Err(error) => Err(answer::unanswered(&remote.server, error).into()),
            }
        })
    }
}

impl Remote {
    async fn call(&self, arguments: Map<String, Value>, cx: &Context) -> Result<Value, CallError> {
        let params = CallToolRequestParams::new(self.name.to_string()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.connection
            .request(request, |report| cx.progress(progress(report)))
            .await
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
