//! Every tool of real servers, in every profile.

use tool_provider::Profile;

use crate::checker::refused;
use crate::tools::corpus;

#[test]
fn every_tool_of_the_corpus_is_taken_by_every_provider() {
    let Some(tools) = corpus("every_tool_of_the_corpus_is_taken_by_every_provider") else {
        return;
    };
    let mut wrong = Vec::new();
    for profile in Profile::ALL {
        let (mut strict, mut losses) = (0, 0);
        for tool in &tools {
            let sent = match profile.project(tool) {
                Ok(sent) => sent,
                Err(quarantine) => {
                    wrong.push(quarantine.to_string());
                    continue;
                }
            };
            strict += usize::from(sent.is_strict());
            losses += usize::from(!sent.losses().is_empty());
            for rule in refused(profile, sent.definition(), sent.is_strict()) {
                wrong.push(format!("{profile} {}: {rule}", sent.name()));
            }
            let given = serde_json::to_string(tool).expect("JSON").len();
            let made = sent.definition().to_string().len();
            if made > 2 * given + 512 {
                wrong.push(format!(
                    "{profile} {}: {given} bytes became {made}",
                    sent.name()
                ));
            }
        }
        println!(
            "{profile}: {} tools, {strict} strict, {losses} with losses",
            tools.len()
        );
    }
    println!("{} refused", wrong.len());
    assert!(
        wrong.is_empty(),
        "{}",
        wrong[..wrong.len().min(40)].join("\n")
    );
}

#[test]
fn any_order_gives_the_same_bytes() {
    let Some(mut tools) = corpus("any_order_gives_the_same_bytes") else {
        return;
    };
    tools.truncate(300);
    for profile in Profile::ALL {
        let list = profile.tools(&tools);
        let list = list.as_json();
        tools.reverse();
        assert_eq!(list, profile.tools(&tools).as_json(), "{profile}");
        tools.rotate_left(97);
        assert_eq!(list, profile.tools(&tools).as_json(), "{profile}");
    }
}
