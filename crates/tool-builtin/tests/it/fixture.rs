use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};
use tempfile::TempDir;
use tool_builtin::{Options, Workspace, all};
use tool_core::{
    BoxFuture, CallControl, Content, Decision, Facts, HandlerErrorKind, Identity, Loss,
    NobodyToAsk, OutputStore, Permission, Policy, PolicyError, Progress, ProgressSink, Refusal,
    Request, Resource, Ruling, Source, Tool, ToolName,
};

/// A workspace in a temporary folder, beside which there is a folder outside.
pub(crate) struct Room {
    folder: TempDir,
    pub(crate) workspace: Workspace,
    pub(crate) policy: Arc<Recording>,
}

impl Room {
    /// Everything is allowed.
    pub(crate) fn new() -> Self {
        Self::ruled(|_| Decision::Allow)
    }

    pub(crate) fn ruled(rule: impl Fn(&Request<'_>) -> Decision + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ws")).unwrap();
        std::fs::create_dir(folder.path().join("outside")).unwrap();
        std::fs::write(folder.path().join("outside/secret.txt"), "secret canary\n").unwrap();
        let workspace = Workspace::open(folder.path().join("ws")).unwrap();
        Self {
            folder,
            workspace,
            policy: Arc::new(Recording {
                rule: Box::new(rule),
                asked: Mutex::default(),
            }),
        }
    }

    pub(crate) fn permission(&self) -> Permission {
        Permission::new(Arc::clone(&self.policy), NobodyToAsk)
    }

    pub(crate) fn tool(&self, name: &str) -> Tool {
        self.tool_with(name, None, Options::new())
    }

    pub(crate) fn tool_with(
        &self,
        name: &str,
        store: Option<Arc<dyn OutputStore>>,
        options: Options,
    ) -> Tool {
        all(&self.workspace, self.permission(), store, options)
            .into_iter()
            .find_map(|(found, tool)| (found == name).then_some(tool))
            .unwrap()
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join("ws").join(relative)
    }

    pub(crate) fn outside(&self, relative: &str) -> PathBuf {
        self.folder.path().join("outside").join(relative)
    }

    /// Writes a file of the workspace, with the folders above it.
    pub(crate) fn put(&self, relative: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    pub(crate) fn get(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap()
    }

    /// Every path below the workspace, sorted.
    pub(crate) fn tree(&self) -> Vec<String> {
        fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let path = entry.path();
                let relative = path.strip_prefix(root).unwrap();
                found.push(relative.to_string_lossy().into_owned());
                if entry.file_type().unwrap().is_dir() {
                    walk(root, &path, found);
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.path(""), &self.path(""), &mut found);
        found.sort();
        found
    }
}

/// A policy that keeps what it was asked.
pub(crate) struct Recording {
    rule: Box<dyn Fn(&Request<'_>) -> Decision + Send + Sync>,
    asked: Mutex<Vec<Asked>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) action: String,
    pub(crate) resources: Vec<Resource>,
    pub(crate) save: Vec<String>,
    pub(crate) metadata: Map<String, Value>,
}

impl Recording {
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Policy for Recording {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        self.asked.lock().unwrap().push(Asked {
            action: request.action.as_str().to_owned(),
            resources: request.resources.to_vec(),
            save: request.save.to_vec(),
            metadata: request.metadata.cloned().unwrap_or_default(),
        });
        let decision = (self.rule)(request);
        Box::pin(async move { Ok(Ruling::new(decision, "test")) })
    }
}

/// A completed call.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) content: Vec<Content>,
    pub(crate) structured: Value,
    /// What the tool reported to have left out.
    pub(crate) loss: Option<Loss>,
}

impl Done {
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.content.iter().filter_map(Content::as_text).collect()
    }
}

pub(crate) fn control(progress: Option<Arc<dyn ProgressSink>>) -> CallControl {
    let source = Source::Host;
    let tool = Identity::new(&source, ToolName::new("tested").unwrap());
    CallControl::builder(Facts::new().session("s1"), None, tool, source)
        .progress(progress)
        .build()
}

/// Runs a call to its end, and holds what it gives to the tool's own schemas.
pub(crate) async fn run(tool: &Tool, input: Value) -> Result<Done, HandlerErrorKind> {
    run_under(&control(None), tool, input).await
}

pub(crate) async fn run_under(
    control: &CallControl,
    tool: &Tool,
    input: Value,
) -> Result<Done, HandlerErrorKind> {
    fits(tool.input().as_value(), &input);
    let prepared = tool.executor().prepare(&input).unwrap();
    let mut running = prepared.run(control.context());
    let ended = running.as_mut().await;
    ended.map_err(|error| error.into_kind())?;
    assert!(control.asserted(), "a tool that completes has asked");
    let output = running
        .as_mut()
        .encode()
        .unwrap()
        .output
        .unwrap()
        .into_value();
    fits(tool.output().unwrap().as_value(), &output);
    let structured = match tool.project_structured(&output) {
        Some(projected) => projected.unwrap(),
        None => output.clone(),
    };
    fits(tool.advertised_output().unwrap().as_value(), &structured);
    let content = tool.project_model(&input, &output).unwrap().unwrap();
    Ok(Done {
        content,
        structured,
        loss: control.loss(),
    })
}

#[track_caller]
fn fits(schema: &Value, value: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    if let Err(error) = validator.validate(value) {
        panic!("{error}\n{value:#}");
    }
}

pub(crate) async fn done(tool: &Tool, input: Value) -> Done {
    match run(tool, input).await {
        Ok(done) => done,
        Err(error) => panic!("{error:?}"),
    }
}

/// The text that the model reads of a failure.
pub(crate) async fn failure(tool: &Tool, input: Value) -> String {
    match run(tool, input).await {
        Err(HandlerErrorKind::Failure(failure)) => failure.message().to_owned(),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn refusal(tool: &Tool, input: Value) -> Refusal {
    match run(tool, input).await {
        Err(HandlerErrorKind::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

/// Keeps what is reported.
#[derive(Default)]
pub(crate) struct Reports(pub(crate) Mutex<Vec<Progress>>);

impl ProgressSink for Reports {
    fn report(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }
}

impl Reports {
    pub(crate) fn last_message(&self) -> Option<String> {
        self.0.lock().unwrap().last()?.message.clone()
    }
}

/// Waits until something holds; panics when it takes too long.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !holds() {
        assert!(std::time::Instant::now() < deadline, "never: {what}");
        // A look costs much, and who is looked at needs the processor too.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}
