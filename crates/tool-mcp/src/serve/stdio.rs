//! Serving whoever started this process.

use super::{ServeError, Server};

impl Server {
    /// Serves the client that started this process, over its stdin and stdout, until it closes
    /// them. Nothing else may write to stdout meanwhile.
    ///
    /// # Errors
    /// As for [`serve_streams`](Self::serve_streams).
    ///
    /// # Cancel safety
    /// Dropping the future ends the connection and drops the calls in flight. Where stdin is no
    /// pipe, a read of it may keep the tokio runtime from ending until the next line.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        let (stdin, stdout) = rmcp::transport::stdio_pipes();
        self.serve_streams(stdin, stdout).await
    }
}
