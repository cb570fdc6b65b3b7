use super::*;

#[track_caller]
fn body_of(text: &str) -> String {
    let mut input = text.as_bytes();
    let head = read_head(&mut input).unwrap().unwrap();
    let body = head.read_body(&mut input).unwrap();
    assert!(input.is_empty());
    String::from_utf8(body).unwrap()
}

#[test]
fn a_body_is_as_long_as_its_head_says() {
    assert_eq!(
        body_of("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"),
        "abc"
    );
    assert_eq!(body_of("HTTP/1.1 202 Accepted\r\n\r\n"), "");
}

#[test]
fn a_body_in_chunks_is_put_together() {
    let text =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
    assert_eq!(body_of(text), "abc");
}
