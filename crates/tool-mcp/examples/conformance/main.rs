//! The server that the official conformance suite is run against, built on nothing but this crate.
//!
//! ```text
//! conformance                  serves standard input and output
//! conformance 127.0.0.1:8011   serves HTTP at /mcp, to whoever comes, and prints the address
//! ```

#![expect(clippy::print_stdout, reason = "whoever started it reads the address")]

mod inputs;
mod media;
mod offers;
mod registry;
mod tools;

use std::net::SocketAddr;

use tool_mcp::HttpOptions;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let served = registry::served()?;
    match std::env::args().nth(1) {
        None => served.server.serve_stdio().await?,
        Some(address) => {
            let address: SocketAddr = address.parse()?;
            // The suite shows no token.
            let options = HttpOptions::new(address).allow_anyone_unchecked();
            let mut http = served.server.serve_http(options).await?;
            println!("{}", http.url());
            http.ended().await?;
        }
    }
    Ok(())
}
