//! Whether an output is what was stored.

use tool_core::{PageRequest, StoreError, StoreErrorKind};

use crate::checksum::{Checksum, Mismatch};
use crate::managed::ManagedOutputs;
use crate::summary::OutputSummary;

/// Reads an output, whole, and holds it against its checksum.
pub(crate) async fn verify<S: ManagedOutputs + ?Sized>(
    store: &S,
    id: &str,
) -> Result<OutputSummary, StoreError> {
    let mut checksum = Checksum::new();
    let mut next = Some(0);
    while let Some(offset) = next {
        let request = PageRequest::new(id, None).offset(offset).max_bytes(PIECE);
        let page = store.page(request).await?;
        checksum.take(&page.bytes);
        next = page.next;
    }
    let listed = store.list().await?;
    let Some(output) = listed.into_iter().find(|output| output.id == id) else {
        let detail = format!("output {id} has left while it was read");
        return Err(StoreError::new(StoreErrorKind::NotFound, detail));
    };
    match checksum.check(&output.digest) {
        Ok(()) => Ok(output),
        Err(mismatch) => {
            let detail = match mismatch {
                Mismatch::Other => format!("output {id} is damaged: its bytes have changed"),
                Mismatch::Unknown(name) => format!(
                    "output {id} has a checksum by `{name}`, which this version does not know; \
                     verify it with the version that stored it"
                ),
            };
            Err(StoreError::new(StoreErrorKind::Io, detail))
        }
    }
}

const PIECE: usize = 1 << 20;
