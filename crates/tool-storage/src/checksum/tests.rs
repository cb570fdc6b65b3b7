use super::{Checksum, Mismatch};

fn of(bytes: &[u8]) -> Checksum {
    let mut checksum = Checksum::new();
    checksum.take(bytes);
    checksum
}

#[test]
fn it_is_what_xxhsum_prints() {
    // The first two stand in the specification's own sanity checks.
    for (bytes, expected) in [
        (&b""[..], "xxh3-128:99aa06d3014798d86001c324468d497f"),
        (&b"abc"[..], "xxh3-128:06b05ab6733a618578af5f94892f3950"),
    ] {
        assert_eq!(of(bytes).text(), expected);
    }
}

#[test]
fn pieces_make_no_difference_and_every_byte_does() {
    let bytes: Vec<u8> = (0..5_000_u32).map(|at| (at % 251) as u8).collect();
    let mut pieces = Checksum::new();
    for piece in bytes.chunks(7) {
        pieces.take(piece);
    }
    assert_eq!(pieces.text(), of(&bytes).text());
    for at in [0, 1, 2_499, 4_999] {
        let mut other = bytes.clone();
        other[at] ^= 1;
        assert_eq!(of(&other).check(&pieces.text()), Err(Mismatch::Other));
    }
}

#[test]
fn a_digest_of_another_name_is_told_by_its_name() {
    let unknown = |name: &str| Err(Mismatch::Unknown(name.to_owned()));
    assert_eq!(of(b"x").check("sha-256:00"), unknown("sha-256"));
    assert_eq!(of(b"x").check("00"), unknown("no name"));
}
