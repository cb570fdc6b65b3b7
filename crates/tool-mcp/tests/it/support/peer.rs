//! A client over a pair of streams, written by hand so that every byte is the test's.

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tool_mcp::{ServeError, Server};

/// A client of a server that serves it in this process.
pub(crate) struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    pub(crate) serving: JoinHandle<Result<(), ServeError>>,
}

impl Peer {
    /// A client that has said nothing yet.
    pub(crate) fn unconnected(server: &Server) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let server = server.clone();
        let serving = tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(theirs);
            server.serve_streams(reader, writer).await
        });
        let (reader, writer) = tokio::io::split(ours);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            serving,
        }
    }

    /// A client of the era with a handshake, after it.
    pub(crate) async fn connect(server: &Server) -> Self {
        let mut peer = Self::unconnected(server);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        peer.ask(0, "initialize", params).await;
        peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        peer
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.writer
            .write_all(line.as_bytes())
            .await
            .expect("the server reads");
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("it is text");
        serde_json::from_str(&line.expect("the server goes on")).expect("servers write JSON")
    }

    /// The rest of what the server writes, to its end.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Ok(Some(line)) = self.lines.next_line().await {
            rest.push(serde_json::from_str(&line).expect("servers write JSON"));
        }
        rest
    }

    pub(crate) async fn request(&mut self, id: u64, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request).await;
    }

    /// A request and its answer, whatever comes between.
    pub(crate) async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.request(id, method, params).await;
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) async fn call(&mut self, id: u64, tool: &str, arguments: Value) -> Value {
        self.ask(
            id,
            "tools/call",
            json!({"name": tool, "arguments": arguments}),
        )
        .await
    }

    /// Is gone, with both of its streams, and leaves whoever served it.
    pub(crate) fn leave(self) -> JoinHandle<Result<(), ServeError>> {
        self.serving
    }

    /// Closes the client's side of the streams.
    pub(crate) async fn finish(&mut self) {
        self.writer.shutdown().await.expect("it can be closed");
    }
}

/// What a request of the era without a handshake carries of the client.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    params
}
