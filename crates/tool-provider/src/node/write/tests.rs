use super::Text;

#[test]
fn a_text_is_written_as_serde_json_writes_it_whatever_has_to_be_escaped_and_wherever() {
    let specials = (0..0x20_u8).map(char::from);
    let specials = specials.chain(['"', '\\', '/', '\u{7f}', '\u{80}', '\u{e9}', '\u{1f600}']);
    for special in specials {
        for length in 0..20 {
            for at in 0..=length {
                let mut given: String = "!#[]~ az".chars().cycle().take(length).collect();
                given.insert(at, special);
                let mut text = Text::default();
                text.text(&given);
                let wanted = serde_json::Value::from(&*given).to_string();
                assert_eq!(text.finish(), wanted);
            }
        }
    }
}
