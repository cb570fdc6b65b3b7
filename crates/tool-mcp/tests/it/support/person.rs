//! A person who logs in.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::Url;
use tool_core::BoxFuture;
use tool_mcp::{Authorization, AuthorizationPage, Authorizer};

pub(crate) const REDIRECT_URI: &str = "http://127.0.0.1:1/callback";

type Answer = dyn Fn(&Url) -> Result<String, String> + Send + Sync;

/// A person who is sent back from every page as the test says.
pub(crate) struct Person {
    redirect_uri: String,
    answer: std::sync::Arc<Answer>,
    asked: AtomicUsize,
    pages: std::sync::Arc<Mutex<Vec<AuthorizationPage>>>,
}

struct Login {
    redirect_uri: String,
    answer: std::sync::Arc<Answer>,
    pages: std::sync::Arc<Mutex<Vec<AuthorizationPage>>>,
}

/// One value of a query.
pub(crate) fn value(url: &Url, name: &str) -> String {
    let mut pairs = url.query_pairs();
    let found = pairs.find(|(key, _)| key == name);
    found
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

impl Person {
    /// One who agrees.
    pub(crate) fn agreeing() -> Self {
        Self::answering(|url| Ok(format!("code=canary-code&state={}", value(url, "state"))))
    }

    /// One who is sent back with this query.
    pub(crate) fn answering(
        query: impl Fn(&Url) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            redirect_uri: REDIRECT_URI.to_owned(),
            answer: std::sync::Arc::new(query),
            asked: AtomicUsize::new(0),
            pages: std::sync::Arc::default(),
        }
    }

    pub(crate) fn coming_back_at(mut self, redirect_uri: &str) -> Self {
        redirect_uri.clone_into(&mut self.redirect_uri);
        self
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// The pages that were shown.
    pub(crate) fn pages(&self) -> Vec<AuthorizationPage> {
        self.pages.lock().expect("no panic").clone()
    }

    /// The addresses of the pages that were shown.
    pub(crate) fn urls(&self) -> Vec<Url> {
        let pages = self.pages();
        let urls = pages
            .iter()
            .map(|page| Url::parse(&page.url).expect("it is one"));
        urls.collect()
    }
}

impl Authorizer for Person {
    fn begin<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Box<dyn Authorization>, String>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let login = Login {
            redirect_uri: self.redirect_uri.clone(),
            answer: std::sync::Arc::clone(&self.answer),
            pages: std::sync::Arc::clone(&self.pages),
        };
        Box::pin(async move { Ok(Box::new(login) as Box<dyn Authorization>) })
    }
}

impl Authorization for Login {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn authorize<'a>(
        self: Box<Self>,
        page: &'a AuthorizationPage,
    ) -> BoxFuture<'a, Result<String, String>> {
        self.pages.lock().expect("no panic").push(page.clone());
        let url = Url::parse(&page.url).expect("it is one");
        let answer = (self.answer)(&url).map(|query| format!("{}?{query}", self.redirect_uri));
        Box::pin(async move { answer })
    }
}
