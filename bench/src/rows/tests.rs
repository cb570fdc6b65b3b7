use serde_json::{Value, json};

use super::*;

fn line(median: f64, bound: Option<f64>) -> Line {
    let ratio = Spread {
        low: median - 0.1,
        median,
        high: median + 0.1,
    };
    Line {
        name: "pipeline/floor".to_owned(),
        peer: "floor".to_owned(),
        bound,
        measured: Some(Measured {
            ours: Amount::Nanos(500.04),
            peer: Amount::Nanos(400.0),
            ratio,
        }),
    }
}

#[test]
fn a_line_is_one_object_with_what_programs_look_for() {
    let text = line(1.25, Some(1.5)).json();
    assert!(!text.contains('\n'));
    let read: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({
        "name": "pipeline/floor", "ours_ns": 500.0, "peer": "floor", "peer_ns": 400.0,
        "ratio": 1.25, "bound": 1.5, "holds": true,
    });
    assert_eq!(read, expected);
}

#[test]
fn a_bound_is_met_up_to_and_including_itself() {
    assert_eq!(line(1.5, Some(1.5)).holds(), Some(true));
    assert_eq!(line(1.51, Some(1.5)).holds(), Some(false));
    assert_eq!(line(9.0, None).holds(), None);
}

#[test]
fn a_peer_that_is_not_there_is_named_and_nothing_is_said_to_hold() {
    let absent = Line {
        measured: None,
        ..line(1.0, Some(1.0))
    };
    let read: Value = serde_json::from_str(&absent.json()).unwrap();
    assert_eq!(
        (&read["ours_ns"], &read["holds"]),
        (&Value::Null, &Value::Null)
    );
    assert!(absent.to_string().contains("skipped: there is no floor"));
}

#[test]
fn bytes_are_told_as_bytes_and_not_as_time() {
    let of_bytes = Line {
        measured: Some(Measured {
            ours: Amount::Bytes(9e6),
            peer: Amount::Bytes(20e6),
            ratio: Spread::of(vec![0.45]),
        }),
        ..line(1.0, Some(1.0))
    };
    let read: Value = serde_json::from_str(&of_bytes.json()).unwrap();
    assert_eq!(
        (&read["ours_ns"], &read["peer_ns"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&read["ours_bytes"], &read["peer_bytes"], &read["holds"]),
        (&json!(9e6), &json!(20e6), &json!(true))
    );
}
