//! The body of a response.

use reqwest::Response;

/// A body of at most so many bytes; without an error where it is longer.
pub(super) async fn read(
    mut response: Response,
    limit: usize,
) -> Result<Vec<u8>, Option<reqwest::Error>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Some)? {
        if body.len() + chunk.len() > limit {
            return Err(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
