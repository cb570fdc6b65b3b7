//! Credentials: those a tool declares, those it asks for while it runs, and asking again.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tool_core::{
    BoxFuture, Call, Consent, Context, Credential, CredentialError, CredentialMode, CredentialNeed,
    Credentials, Event, EventKind, Facts, Identification, RefusalKind, Tool,
};
use tool_registry::{Approvals, Registry, RetriedCredentials};

use crate::ports::{Count, Keyring, Log, open};
use crate::tools::{call, mirror, refusal, run};
use crate::waits::any;

/// What is told of credentials, each as one line.
fn told(builder: tool_registry::RegistryBuilder) -> (Registry, Log) {
    let log = Log::default();
    let seen = log.clone();
    let registry = builder
        .events(move |event: &Event<'_>| {
            if let EventKind::Credential { service, step } = event.kind {
                seen.write(format!("{} {service} {step:?}", event.tool));
                assert!(!format!("{event:?}").contains("canary"));
            }
        })
        .build();
    (registry, log)
}

/// Asks for a credential while it runs.
fn pulling() -> Tool {
    run(|cx: Context| async move {
        let need = CredentialNeed::new("calendar").mode(CredentialMode::User);
        match cx.acquire(&need).await {
            Ok(credential) => Ok(json!(credential.expose().len())),
            // The tool sees the failure and can do without.
            Err(error) => Ok(json!(format!("without: {error}"))),
        }
    })
}

#[tokio::test]
async fn a_handler_can_ask_for_a_credential_and_fails_closed_without_a_provider() {
    let (registry, log) = told(open().credentials(Keyring(|need: &CredentialNeed| {
        assert_eq!(need.mode, CredentialMode::User);
        Ok(Credential::new("canary"))
    })));
    registry.register([("tool", pulling())]).unwrap().keep();
    assert_eq!(call(&registry, "tool").await.text(), "6");
    assert_eq!(
        log.lines(),
        ["tool calendar Requested", "tool calendar Acquired"]
    );

    let (registry, log) = told(open());
    registry.register([("tool", pulling())]).unwrap().keep();
    assert!(
        call(&registry, "tool")
            .await
            .text()
            .starts_with("without: no credential provider")
    );
    assert_eq!(
        log.lines(),
        ["tool calendar Requested", "tool calendar Failed"]
    );
    let need = CredentialNeed::new("calendar");
    assert!(Context::detached().acquire(&need).await.is_err());
}

#[tokio::test]
async fn a_provider_is_told_whose_call_it_is_and_what_is_needed() {
    struct Seen(Arc<Mutex<Vec<(Facts, CredentialNeed)>>>);
    impl Credentials for Seen {
        fn acquire<'a>(
            &'a self,
            facts: &'a Facts,
            need: &'a CredentialNeed,
        ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
            self.0.lock().unwrap().push((facts.clone(), need.clone()));
            Box::pin(async { Ok(Credential::new("canary")) })
        }
    }
    let seen = Arc::default();
    let registry = open().credentials(Seen(Arc::clone(&seen))).build();
    let need = CredentialNeed::new("mail").scopes(["send"]);
    let tool = run(|cx: Context| async move {
        assert_eq!(cx.credential().unwrap().expose(), "canary");
        Ok(json!(null))
    });
    registry
        .register([("tool", tool.needs(need.clone()))])
        .unwrap()
        .keep();
    let facts = Facts::new().identity(Identification::principal("ada"));
    let settled = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &facts)
        .await;
    assert!(!format!("{settled:?}").contains("canary"));
    assert_eq!(*seen.lock().unwrap(), [(facts, need)]);
}

#[tokio::test]
async fn no_credential_is_acquired_for_a_call_that_does_not_run() {
    let asked = Count::default();
    let counted = asked.clone();
    let (registry, log) = told(open().credentials(Keyring(move |_: &CredentialNeed| {
        counted.add();
        Ok(Credential::new("canary"))
    })));
    let tool = mirror(
        json!({"type": "object", "required": ["a"]}),
        &Count::default(),
    )
    .needs(CredentialNeed::new("mail"));
    registry
        .register([
            ("tool", tool.clone()),
            ("asking", tool.needs_approval(true)),
        ])
        .unwrap()
        .keep();
    assert_eq!(
        refusal(&call(&registry, "tool").await).kind(),
        RefusalKind::InvalidArguments
    );
    let settling = registry
        .snapshot()
        .settle(Call::new("asking", r#"{"a":1}"#), &Facts::new());
    let settled = settling.approvals(Approvals::Suspend).await;
    assert_eq!(settled.outcome.as_str(), "suspended");
    assert_eq!((asked.get(), log.lines().len()), (0, 0));
}

#[tokio::test]
async fn a_declared_need_that_nobody_meets_is_refused_aloud_after_one_question() {
    let (asked, runs) = (Count::default(), Count::default());
    let counted = asked.clone();
    let failing = open().credentials(Keyring(move |_: &CredentialNeed| {
        counted.add();
        Err(CredentialError::new("the vault is sealed"))
    }));
    for (builder, operator) in [
        (
            open(),
            "no credential provider is configured; give the registry one",
        ),
        (failing, "the vault is sealed"),
    ] {
        let (registry, log) = told(builder);
        let tool = mirror(any(), &runs).needs(CredentialNeed::new("mail"));
        registry.register([("tool", tool)]).unwrap().keep();
        let settled = call(&registry, "tool").await;
        assert_eq!(
            settled.text(),
            "access to mail could not be obtained; continue without it"
        );
        let said = refusal(&settled).operator();
        assert_eq!(said, format!("credential for mail: {operator}"));
        assert_eq!(log.lines(), ["tool mail Requested", "tool mail Failed"]);
    }
    assert_eq!((asked.get(), runs.get()), (1, 0));
}

#[tokio::test]
async fn where_nobody_can_wait_consent_is_a_refusal_without_its_address() {
    let (registry, log) = told(open().credentials(Keyring(|_: &CredentialNeed| {
        let consent = Consent::new("https://example.org/canary");
        Err(CredentialError::consent_required(consent))
    })));
    let tool = mirror(any(), &Count::default()).needs(CredentialNeed::new("mail"));
    registry.register([("tool", tool)]).unwrap().keep();
    let settled = call(&registry, "tool").await;
    assert_eq!(refusal(&settled).kind(), RefusalKind::Credential);
    assert!(settled.is_error() && !format!("{settled:?}").contains("canary"));
    assert_eq!(
        log.lines(),
        ["tool mail Requested", "tool mail ConsentRequired"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_is_asked_again_and_one_that_answers_is_not() {
    let asked = Count::default();
    let flaky = |fails: usize, consent: bool| {
        let asked = asked.clone();
        Keyring(move |_: &CredentialNeed| {
            asked.add();
            if asked.get() > fails {
                return Ok(Credential::new("canary"));
            }
            if consent {
                return Err(CredentialError::consent_required(Consent::new("canary")));
            }
            Err(CredentialError::new(format!("failure {}", asked.get())))
        })
    };
    let (facts, need) = (Facts::new(), CredentialNeed::new("mail"));
    let began = tokio::time::Instant::now();
    let provider = RetriedCredentials::new(flaky(2, false));
    let credential = provider.acquire(&facts, &need).await.unwrap();
    assert_eq!((credential.expose(), asked.get()), ("canary", 3));
    assert_eq!(began.elapsed(), Duration::from_millis(200 + 400));

    // The last error comes back as it is.
    let asked_before = asked.get();
    let provider = RetriedCredentials::new(flaky(asked_before + 9, false));
    let error = provider.acquire(&facts, &need).await.unwrap_err();
    assert_eq!(error.to_string(), format!("failure {}", asked_before + 3));

    // Consent is an answer.
    let asked_before = asked.get();
    let provider = RetriedCredentials::new(flaky(asked_before + 9, true));
    let error = provider.acquire(&facts, &need).await.unwrap_err();
    assert!(error.consent().is_some());
    assert_eq!(asked.get(), asked_before + 1);

    // No wait is longer than ten seconds.
    let began = tokio::time::Instant::now();
    let asked_before = asked.get();
    let provider = RetriedCredentials::new(flaky(asked_before + 9, false))
        .attempts(3.try_into().unwrap())
        .first_wait(Duration::from_secs(7));
    assert!(provider.acquire(&facts, &need).await.is_err());
    assert_eq!(began.elapsed(), Duration::from_secs(7 + 10));
}
