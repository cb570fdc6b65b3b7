//! As much of HTTP/1.1 as the client and the server of this group need.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use super::lines::{call, hello, initialized, is_answer};

/// Where a server is and what it wants to be told.
#[derive(Clone)]
pub struct Site {
    pub port: u16,
    pub path: &'static str,
    pub token: Option<String>,
    /// The name of the tool there.
    pub tool: String,
}

/// A client with some connections, on each of which at most one call is on its way.
pub struct Client {
    connections: Vec<Connection>,
}

struct Connection {
    input: BufReader<TcpStream>,
    output: TcpStream,
    /// The call that is made on it.
    call: Vec<u8>,
}

/// What goes before a body.
#[derive(Default)]
pub struct Head {
    pub first: String,
    pub session: Option<String>,
    length: Option<usize>,
    chunked: bool,
}

impl Client {
    /// Shakes hands once, opens that many connections, and finds that a call is answered on each.
    pub fn connect(site: &Site, connections: usize) -> Result<Self, Box<dyn Error>> {
        let mut first = Connection::open(site)?;
        let head = first.exchange(&request(site, None, &hello()))?.0;
        let session = head.session.as_deref();
        first.exchange(&request(site, session, &initialized()))?;
        let mut client = Self {
            connections: vec![first],
        };
        while client.connections.len() < connections {
            client.connections.push(Connection::open(site)?);
        }
        for (number, connection) in client.connections.iter_mut().enumerate() {
            connection.call = request(site, session, &call(&site.tool, number + 1));
        }
        client.calls(connections)?;
        Ok(client)
    }

    /// So many calls, of which as many are on their way as there are connections.
    pub fn calls(&mut self, calls: usize) -> Result<(), Box<dyn Error>> {
        let ahead = self.connections.len().min(calls);
        for connection in &mut self.connections[..ahead] {
            connection.send()?;
        }
        for number in 0..calls {
            let connection = &mut self.connections[number % ahead];
            let (head, body) = connection.receive()?;
            if !is_answer(&body) {
                let body = String::from_utf8_lossy(&body).into_owned();
                return Err(format!("a call was answered with {} {body}", head.first).into());
            }
            if number + ahead < calls {
                connection.send()?;
            }
        }
        Ok(())
    }
}

impl Connection {
    fn open(site: &Site) -> io::Result<Self> {
        let output = TcpStream::connect(("127.0.0.1", site.port))?;
        output.set_nodelay(true)?;
        let input = BufReader::new(output.try_clone()?);
        Ok(Self {
            input,
            output,
            call: Vec::new(),
        })
    }

    fn send(&mut self) -> io::Result<()> {
        self.output.write_all(&self.call)
    }

    fn exchange(&mut self, request: &[u8]) -> Result<(Head, Vec<u8>), Box<dyn Error>> {
        self.output.write_all(request)?;
        self.receive()
    }

    fn receive(&mut self) -> Result<(Head, Vec<u8>), Box<dyn Error>> {
        let head = read_head(&mut self.input)?.ok_or("the server has closed the connection")?;
        let body = head.read_body(&mut self.input)?;
        Ok((head, body))
    }
}

fn request(site: &Site, session: Option<&str>, body: &[u8]) -> Vec<u8> {
    let mut head = format!(
        "POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        site.path,
        site.port,
        body.len()
    );
    if let Some(token) = &site.token {
        head += &format!("Authorization: Bearer {token}\r\n");
    }
    if let Some(session) = session {
        head += &format!("Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-11-25\r\n");
    }
    let mut request = (head + "\r\n").into_bytes();
    request.extend_from_slice(body);
    request
}

/// The head of the next message; `None` when there is none.
pub fn read_head(input: &mut impl BufRead) -> io::Result<Option<Head>> {
    let mut head = Head::default();
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    head.first = line.trim_end().to_owned();
    loop {
        line.clear();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return Ok(Some(head));
        };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            head.length = value.parse().ok();
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            head.chunked = value.eq_ignore_ascii_case("chunked");
        } else if name.eq_ignore_ascii_case("mcp-session-id") {
            head.session = Some(value.to_owned());
        }
    }
}

impl Head {
    /// The body that follows.
    pub fn read_body(&self, input: &mut impl BufRead) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if !self.chunked {
            body.resize(self.length.unwrap_or_default(), 0);
            input.read_exact(&mut body)?;
            return Ok(body);
        }
        let mut line = String::new();
        loop {
            line.clear();
            input.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
            input.take(size as u64).read_to_end(&mut body)?;
            line.clear();
            input.read_line(&mut line)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
}

/// Answers a request: with JSON, or with nothing.
pub fn write_response(output: &mut TcpStream, body: Option<&[u8]>) -> io::Result<()> {
    let status = match body {
        Some(_) => "200 OK",
        None => "202 Accepted",
    };
    let body = body.unwrap_or_default();
    let mut response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    response.extend_from_slice(body);
    output.write_all(&response)
}

#[cfg(test)]
mod tests;
