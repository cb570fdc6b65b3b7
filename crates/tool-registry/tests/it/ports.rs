//! Ports that a test can steer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_core::{
    AfterHook, Answer, Approver, ApproverError, Artifact, ArtifactError, ArtifactStore, Ask,
    BeforeHook, Bounded, BoxFuture, Capability, Content, Credential, CredentialError,
    CredentialNeed, Credentials, Decision, Digest, Facts, HookError, Incoming, NobodyToAsk,
    OutputPage, OutputStore, PageRequest, Permission, Policy, PolicyError, Request, Retained,
    Retention, Ruling, SettledCall, Settlement, StoreError, StoreErrorKind, Word,
};
use tool_registry::{Registry, RegistryBuilder};

/// A registry that lets everything run.
pub(crate) fn open() -> RegistryBuilder {
    Registry::builder().permission(Permission::new(Always(Decision::Allow), NobodyToAsk))
}

/// A policy with one answer.
pub(crate) struct Always(pub(crate) Decision);

impl Policy for Always {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { Ok(Ruling::new(self.0, "the rule of this test")) })
    }
}

/// A policy made of a closure, with a say on every capability.
pub(crate) struct Rules<F>(pub(crate) F);

impl<F> Policy for Rules<F>
where
    F: Fn(&Request<'_>) -> Result<Ruling, PolicyError> + Send + Sync,
{
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async move { (self.0)(request) })
    }

    fn governs(&self, _: &Capability) -> bool {
        true
    }
}

pub(crate) fn rule(decision: Decision) -> Result<Ruling, PolicyError> {
    Ok(Ruling::new(decision, "the rule of this test"))
}

/// An approver that gives one answer and counts how often it was asked.
#[derive(Clone)]
pub(crate) struct Answers(pub(crate) Answer, pub(crate) Count);

impl Answers {
    pub(crate) fn yes() -> Self {
        Self(Answer::Approved, Count::default())
    }
}

impl Approver for Answers {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        self.1.add();
        Box::pin(async { Ok(self.0.clone().by("ada")) })
    }
}

/// How often something happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Lines that something wrote, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Says that the future that held its guard is gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gone(Arc<AtomicBool>);

/// Held by a future.
pub(crate) struct Held(Gone);

impl Gone {
    pub(crate) fn hold(&self) -> Held {
        Held(self.clone())
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::SeqCst);
    }
}

/// A port that is reached and never answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stuck {
    pub(crate) reached: Count,
    pub(crate) gone: Gone,
}

impl Stuck {
    pub(crate) fn wait<T: Send + 'static>(&self) -> BoxFuture<'static, T> {
        let (reached, held) = (self.reached.clone(), self.gone.hold());
        Box::pin(async move {
            reached.add();
            let answer = std::future::pending().await;
            drop(held);
            answer
        })
    }
}

impl Policy for Stuck {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        self.wait()
    }
}

impl Approver for Stuck {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        self.wait()
    }
}

impl ArtifactStore for Stuck {
    fn get<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        self.wait()
    }
}

impl Credentials for Stuck {
    fn acquire<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        self.wait()
    }
}

impl BeforeHook for Stuck {
    fn before<'a>(
        &'a self,
        _: &'a mut Incoming,
        _: &'a Facts,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        self.wait()
    }
}

impl AfterHook for Stuck {
    fn after<'a>(
        &'a self,
        _: &'a mut Settlement,
        _: &'a SettledCall<'a>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        self.wait()
    }
}

impl OutputStore for Stuck {
    fn bound<'a>(&'a self, _: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        self.wait()
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        self.wait()
    }
}

/// A hook made of a closure.
pub(crate) struct Before<F>(pub(crate) F);
/// A hook made of a closure.
pub(crate) struct After<F>(pub(crate) F);

impl<F> BeforeHook for Before<F>
where
    F: Fn(&mut Incoming, &Facts) -> Result<(), HookError> + Send + Sync,
{
    fn before<'a>(
        &'a self,
        incoming: &'a mut Incoming,
        facts: &'a Facts,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        Box::pin(async move { (self.0)(incoming, facts) })
    }
}

impl<F> AfterHook for After<F>
where
    F: Fn(&mut Settlement, &Facts) -> Result<(), HookError> + Send + Sync,
{
    fn after<'a>(
        &'a self,
        settlement: &'a mut Settlement,
        call: &'a SettledCall<'a>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        let facts = call.facts;
        Box::pin(async move { (self.0)(settlement, facts) })
    }
}

/// Artifacts, or a store that is out of order, made of a closure.
pub(crate) struct Shelf<F>(pub(crate) F);

impl<F> ArtifactStore for Shelf<F>
where
    F: Fn(&str) -> Result<Option<Artifact>, ArtifactError> + Send + Sync,
{
    fn get<'a>(
        &'a self,
        _: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        Box::pin(async move { (self.0)(reference) })
    }
}

/// Credentials, or the want of them, made of a closure.
pub(crate) struct Keyring<F>(pub(crate) F);

impl<F> Credentials for Keyring<F>
where
    F: Fn(&CredentialNeed) -> Result<Credential, CredentialError> + Send + Sync,
{
    fn acquire<'a>(
        &'a self,
        _: &'a Facts,
        need: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        Box::pin(async move { (self.0)(need) })
    }
}

/// A store in memory. Its preview is the first line and a marker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawer {
    /// What was stored whole, with the tool that produced it.
    pub(crate) kept: Arc<Mutex<Vec<(String, String)>>>,
}

impl OutputStore for Drawer {
    fn bound<'a>(&'a self, retention: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        Box::pin(async move {
            let texts: Vec<_> = retention
                .content
                .iter()
                .filter_map(Content::as_text)
                .collect();
            let whole = texts.join("\n");
            let retained = Retained::new(
                "out_1",
                whole.len() as u64,
                whole.lines().count() as u64,
                Digest::of(whole.as_bytes()),
            );
            let mut content = vec![Content::text("preview")];
            content.extend(
                retention
                    .content
                    .iter()
                    .filter(|block| block.as_text().is_none())
                    .cloned(),
            );
            let tool = retention.tool.to_owned();
            self.kept.lock().unwrap().push((tool, whole));
            Ok(Bounded::new(content, retained))
        })
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async { Err(StoreError::new(StoreErrorKind::NotFound, "no such output")) })
    }
}

/// A store that can keep nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full;

impl OutputStore for Full {
    fn bound<'a>(&'a self, _: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        Box::pin(async {
            Err(StoreError::new(
                StoreErrorKind::Io,
                "no space left on device",
            ))
        })
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async {
            Err(StoreError::new(
                StoreErrorKind::Io,
                "no space left on device",
            ))
        })
    }
}
