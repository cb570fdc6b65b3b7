//! The bytes of an artifact on their way into a store.

use std::future::poll_fn;

use tool_core::{ArtifactError, ArtifactErrorKind, ByteStream};

use crate::artifact_draft::invalid;
use crate::staged::pause;

/// Where the bytes of an artifact go before it is shown.
pub(crate) trait Intake: Send {
    /// The bytes so far.
    fn bytes(&self) -> u64;

    /// Writes on.
    fn write(&mut self, piece: &[u8]) -> impl Future<Output = Result<(), ArtifactError>> + Send;
}

/// Takes a stream in, which must have as many bytes as were declared.
pub(crate) async fn take_in(
    mut stream: ByteStream<'_>,
    bytes: u64,
    intake: &mut impl Intake,
) -> Result<(), ArtifactError> {
    while let Some(piece) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        let piece = piece.map_err(|cause| {
            let detail = "the stream of an artifact failed";
            ArtifactError::of(ArtifactErrorKind::Io, detail).because(cause)
        })?;
        if piece.is_empty() {
            // A stream that has nothing over and over shall not keep the executor.
            pause().await;
        }
        if intake.bytes().saturating_add(piece.len() as u64) > bytes {
            return Err(invalid("a stream has more bytes than were declared"));
        }
        intake.write(&piece).await?;
    }
    if intake.bytes() < bytes {
        return Err(invalid("a stream has fewer bytes than were declared"));
    }
    Ok(())
}
