//! A process that passes bytes on between its own streams and those of a process that it starts: the
//! least that anything can cost which stands between a client and a server.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};

/// Passes bytes on, unread, until the server has closed its side.
pub fn relay(command: &[String]) -> io::Result<()> {
    let [program, args @ ..] = command else {
        return Err(io::Error::other("there is nothing to start"));
    };
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("a stream is missing"));
    };
    std::thread::spawn(move || pump(io::stdin().lock(), stdin));
    // Unbuffered: the lock of standard output would look for ends of lines.
    pump(
        stdout,
        std::fs::File::options().write(true).open("/dev/stdout")?,
    )?;
    child.wait()?;
    Ok(())
}

/// One read, one write.
fn pump(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => to.write_all(&buffer[..read])?,
        }
    }
}
