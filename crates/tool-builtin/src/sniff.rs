//! What a file is by its first bytes.

/// What a file holds, as far as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sniffed {
    /// Text, or something that passes for it.
    Text,
    /// An image that a model can be shown, with its MIME type.
    Image(&'static str),
    /// Something else, in words.
    Binary(&'static str),
}

const IMAGES: [(&[u8], &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

const BINARIES: [(&[u8], &str); 8] = [
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x7fELF", "an executable"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

impl Sniffed {
    /// Judges the first bytes of a file; 8 KiB are plenty.
    pub(crate) fn of(head: &[u8]) -> Self {
        if let Some((_, mime)) = IMAGES.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Self::Image(mime);
        }
        if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
            return Self::Image("image/webp");
        }
        if let Some((_, what)) = BINARIES.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Self::Binary(what);
        }
        if memchr::memchr(0, head).is_some() {
            return Self::Binary("binary data");
        }
        Self::Text
    }
}
