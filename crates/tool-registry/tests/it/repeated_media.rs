//! Media that a result holds twice: in a block and as base64.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::{
    Call, Content, Embedded, EmbeddedBody, Facts, Produced, Settlement, Tool, ToolFailure,
};

use crate::ports::{Drawer, open};
use crate::tools::run;

fn picture(seed: u8) -> Vec<u8> {
    (0..400_000_u32)
        .map(|at| (at.wrapping_mul(31) >> 3) as u8 ^ seed)
        .collect()
}

fn base64_of(data: &[u8]) -> String {
    Content::image("image/png", data.to_vec())
        .to_base64()
        .unwrap()
}

async fn settled(tool: Tool) -> (Settlement, Drawer) {
    let drawer = Drawer::default();
    let registry = open().outputs(Arc::new(drawer.clone())).build();
    let _tool = registry.register([("shot", tool)]).unwrap();
    let call = Call::new("shot", "{}");
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    (settled, drawer)
}

fn gives(produced: Produced) -> Tool {
    Tool::dynamic("Gives", json!({"type": "object"}), move |_: Value, _| {
        let produced = produced.clone();
        async move { Ok(produced) }
    })
}

#[tokio::test]
async fn base64_that_repeats_a_media_block_is_a_reference_wherever_it_stands() {
    let (first, second) = (picture(1), picture(2));
    let uri = format!("data:image/png;base64,{}", base64_of(&second));
    let output = json!({"shots": [{"img": base64_of(&first)}, {"uri": uri}], "width": 800});
    let blob = EmbeddedBody::Blob(second.clone().into());
    let produced = Produced::value(output.clone()).with_content([
        Content::text("two shots"),
        Content::image("image/png", first.clone()),
        Content::text(output.to_string()),
        Content::Embedded(Embedded::new(
            "file:///b",
            Some("image/\"png".to_owned()),
            blob,
        )),
    ]);
    let (settled, drawer) = settled(gives(produced)).await;

    let expected = json!({
        "shots": [
            {"img": "[400000 bytes of image/png: see media block 1]"},
            {"uri": "data:image/png;base64,[400000 bytes of another type: see media block 2]"},
        ],
        "width": 800,
    });
    assert_eq!(settled.structured(), Some(&expected));
    let text: Value = serde_json::from_str(settled.content[2].as_text().unwrap()).unwrap();
    assert_eq!(text, expected, "the copy in text is still JSON");
    assert_eq!(settled.content[1], Content::image("image/png", first));
    assert_eq!(
        settled.output(),
        Some(&output),
        "law 8: the output is what it was"
    );
    // Without the letters it is short enough to be shown.
    assert!(drawer.kept.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_copy_that_its_schema_would_not_take_with_a_reference_stays() {
    let data = picture(3);
    let output = json!({"img": base64_of(&data)});
    let content = [Content::image("image/png", data)];
    for (pattern, stays) in [("^[A-Za-z0-9+/=]*$", true), ("", false)] {
        let schema = json!({
            "type": "object", "properties": {"img": {"type": "string", "pattern": pattern}},
        });
        let produced = Produced::value(output.clone()).with_content(content.clone());
        let tool = gives(produced).output_schema(schema);
        let (settled, _) = settled(tool).await;
        assert!(!settled.is_error());
        assert_eq!(settled.structured() == Some(&output), stays, "{pattern}");
    }
}

#[tokio::test]
async fn data_of_a_failure_is_referred_to_as_well_and_other_text_is_left_alone() {
    let data = picture(4);
    let (base64, other) = (base64_of(&data), base64_of(&picture(5)));
    let failing = run(move |_| {
        let failure = ToolFailure::new("broken")
            .content([
                Content::text("why"),
                Content::image("image/png", data.clone()),
            ])
            .structured(json!({"img": base64, "other": other}));
        async move { Err(failure.into()) }
    });
    let (settled, _) = settled(failing).await;
    assert!(settled.is_error());
    let structured = settled.structured().unwrap();
    assert_eq!(
        structured["img"],
        "[400000 bytes of image/png: see media block 1]"
    );
    assert_eq!(structured["other"], base64_of(&picture(5)));
}

#[tokio::test]
async fn only_the_largest_blocks_are_looked_for() {
    let data = |at: u8| vec![at; 100 + usize::from(at)];
    let text: Vec<_> = (0..40).map(|at| base64_of(&data(at))).collect();
    let blocks = (0..40).map(|at| Content::image("image/png", data(at)));
    let output = json!({"shots": text});
    let produced = Produced::value(output).with_content(blocks);
    let (settled, _) = settled(gives(produced)).await;
    let shots = settled.structured().unwrap()["shots"].as_array().unwrap();
    for (at, shot) in shots.iter().enumerate() {
        let shot = shot.as_str().unwrap();
        if at < 24 {
            assert_eq!(shot, text[at], "it stays");
        } else {
            let expected = format!(
                "[{} bytes of image/png: see media block {}]",
                100 + at,
                at + 1
            );
            assert_eq!(shot, expected);
        }
    }
}

#[tokio::test]
async fn blocks_too_large_for_any_text_take_no_place_from_those_that_are_repeated() {
    let small = vec![7; 99];
    let large = (0..20).map(|at| Content::image("image/png", vec![at; 1_000]));
    let blocks = large.chain([Content::image("image/png", small.clone())]);
    // Just as long as the letters without their padding.
    let output = json!({"shot": base64_of(&small).trim_end_matches('=')});
    let produced = Produced::value(output).with_content(blocks);
    let (settled, _) = settled(gives(produced)).await;
    assert_eq!(
        settled.structured(),
        Some(&json!({"shot": "[99 bytes of image/png: see media block 21]"}))
    );
}
