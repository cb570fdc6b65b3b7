use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactStore, BoxFuture, Facts, Kept, NoArtifacts,
    Payload,
};
use tool_testkit::Verdict;
use tool_testkit::artifacts::{self, ArtifactHarness};

/// A store that is none.
struct Nothing(Vec<(&'static str, &'static str)>);

impl ArtifactHarness for Nothing {
    type Store = NoArtifacts;

    fn open(&self) -> NoArtifacts {
        NoArtifacts
    }

    fn declared(&self) -> Vec<(&'static str, &'static str)> {
        self.0.clone()
    }
}

#[tokio::test]
async fn what_does_not_hold_fails_unless_it_is_declared() {
    let report = artifacts::run(&Nothing(vec![("what_is_put_is_got", "it keeps nothing")])).await;
    assert!(!report.is_good());
    assert_eq!(
        *report.verdict("what_is_put_is_got"),
        Verdict::Declared {
            reason: "it keeps nothing".to_owned()
        }
    );
    assert!(matches!(
        report.verdict("parents_are_proven"),
        Verdict::Failed { seen } if seen.contains("no artifact store is configured")
    ));
}

#[tokio::test]
async fn an_optional_part_that_is_missing_is_no_failure() {
    let report = artifacts::run(&Gossips(Vec::new())).await;
    assert_eq!(
        *report.verdict("streaming_is_detected"),
        Verdict::NotApplicable
    );
}

#[tokio::test]
async fn a_case_without_its_hook_fails_by_name() {
    let report = artifacts::run(&Nothing(Vec::new())).await;
    assert!(matches!(
        report.verdict("refusals_carry_no_secrets"),
        Verdict::Failed { seen } if seen.contains("`bounded`")
    ));
}

#[tokio::test]
async fn a_case_that_is_declared_and_holds_is_stale() {
    let holds = "each_shape_comes_back_as_it_was";
    let report = artifacts::run(&Gossips(Vec::new())).await;
    assert_eq!(*report.verdict(holds), Verdict::Passed);
    let report = artifacts::run(&Gossips(vec![(holds, "it did not hold once")])).await;
    assert_eq!(*report.verdict(holds), Verdict::Stale);
    let said = format!("stale           {holds}: it is declared and passes\n");
    assert!(report.to_string().contains(&said));

    // Of one that is stale alone the whole is not good.
    let failing = report.cases().iter().filter_map(|(name, verdict)| {
        let failed = matches!(verdict, Verdict::Failed { .. });
        failed.then_some((*name, "it gossips"))
    });
    let mut declared: Vec<_> = failing.collect();
    assert!(artifacts::run(&Gossips(declared.clone())).await.is_good());
    declared.push((holds, "it did not hold once"));
    assert!(!artifacts::run(&Gossips(declared)).await.is_good());
}

#[tokio::test]
async fn what_is_declared_under_the_name_of_no_case_fails() {
    let report = artifacts::run(&Gossips(vec![("what_is_put_is_gto", "it gossips")])).await;
    assert!(matches!(
        report.verdict("what_is_put_is_gto"),
        Verdict::Failed { seen } if seen.contains("no case of that name")
    ));
}

#[tokio::test]
async fn a_report_says_in_a_line_what_each_case_came_to() {
    let gossips = Gossips(vec![("a_reference_alone_opens_nothing", "it gossips")]);
    let report = artifacts::run(&gossips).await.to_string();
    assert!(report.contains("declared        a_reference_alone_opens_nothing: it gossips\n"));
    assert!(report.contains("not applicable  streaming_is_detected\n"));
    assert!(report.contains("FAILED          references_are_minted_and_not_derived: "));
}

/// Stores that gossip, and take and give no streams.
struct Gossips(Vec<(&'static str, &'static str)>);

impl ArtifactHarness for Gossips {
    type Store = Gossip;

    fn open(&self) -> Gossip {
        Gossip::default()
    }

    fn declared(&self) -> Vec<(&'static str, &'static str)> {
        self.0.clone()
    }
}

/// A store that gives everybody what anybody put last, whatever it is asked for.
#[derive(Default)]
struct Gossip(std::sync::Mutex<Option<(ArtifactDraft, Payload)>>);

impl ArtifactStore for Gossip {
    fn get<'a>(
        &'a self,
        _facts: &'a Facts,
        _reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        let last = self.0.lock().unwrap().clone();
        Box::pin(async { Ok(last.map(|(draft, payload)| Artifact::new(draft.kind, payload))) })
    }

    fn put<'a>(
        &'a self,
        _facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        *self.0.lock().unwrap() = Some((draft.clone(), payload.clone()));
        Box::pin(async move {
            let bytes = payload.to_bytes().len() as u64;
            let now = std::time::SystemTime::UNIX_EPOCH;
            let reference = "art_0123456789ABCDEFGHabcd".into();
            let media_type = payload.media_type();
            let meta = tool_core::ArtifactMeta::of_draft(draft, reference, media_type, bytes, now);
            Ok(Kept::new(meta, Vec::new()))
        })
    }
}

#[tokio::test]
async fn a_store_that_tells_everybody_everything_is_found_out() {
    let report = artifacts::run(&Gossips(Vec::new())).await;
    for (case, says) in [
        ("a_reference_alone_opens_nothing", "a stranger gets it"),
        ("references_are_minted_and_not_derived", "minted twice"),
        (
            "malformed_references_are_absent",
            "a malformed reference is got",
        ),
    ] {
        let verdict = report.verdict(case);
        assert!(
            matches!(verdict, Verdict::Failed { seen } if seen.contains(says)),
            "{case}: {verdict:?}"
        );
    }
}
