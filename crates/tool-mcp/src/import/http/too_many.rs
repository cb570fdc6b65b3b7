//! A server that says that it is asked too often.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode};
use tokio::time::sleep;

use crate::import::call_error::CallError;
use crate::import::retry;
use crate::import::target::Check;

/// How often one request is sent at the most.
const ATTEMPTS: u32 = 3;
/// How long all waits between them may be together.
const MOST: Duration = Duration::from_secs(10);
/// The first wait, where the server names none.
const FIRST: Duration = Duration::from_millis(400);

/// What came of a request.
pub(super) enum Sent {
    Answered(Response),
    /// The server did not take it, and is not asked again; with the wait that it named.
    TooMany(Option<Duration>),
}

/// Sends a request, again where the server says that it has too many: that alone says that it did
/// nothing about it, so that it cannot be done twice. One whose body cannot be sent again is sent
/// once.
///
/// Source: RFC 6585, section 4; RFC 9110, section 10.2.3.
///
/// Each attempt is made only where it passes the check, so late as that.
///
/// # Errors
/// That of the check, or within the result that of the attempt that got no response.
///
/// # Cancel safety
/// Dropping the future ends the wait and sends nothing more.
pub(super) async fn send(
    mut request: RequestBuilder,
    check: Option<Check<'_>>,
) -> Result<Result<Sent, reqwest::Error>, CallError> {
    let mut waits = Waits::default();
    loop {
        let again = request.try_clone();
        if let Some(check) = check {
            check.pass().await?;
        }
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return Ok(Err(error)),
        };
        if response.status() != StatusCode::TOO_MANY_REQUESTS {
            return Ok(Ok(Sent::Answered(response)));
        }
        let wanted = wanted(response.headers(), SystemTime::now());
        drop(response);
        let (Some(again), Some(wait)) = (again, waits.next(wanted)) else {
            return Ok(Ok(Sent::TooMany(wanted)));
        };
        sleep(wait).await;
        request = again;
    }
}

/// The waits between the attempts of one request.
#[derive(Default)]
struct Waits {
    so_far: Duration,
    number: u32,
}

impl Waits {
    /// The next wait, as long as the server wants where it says. None when the last attempt was
    /// made, and for a wait that would make all of them too long.
    fn next(&mut self, wanted: Option<Duration>) -> Option<Duration> {
        let own = || retry::wait(FIRST, MOST, self.number, &retry::random);
        let wait = wanted.unwrap_or_else(own);
        let so_far = self.so_far.saturating_add(wait);
        let number = self.number + 1;
        if number >= ATTEMPTS || so_far > MOST {
            return None;
        }
        *self = Self { so_far, number };
        Some(wait)
    }
}

/// How long the server wants to be left alone, in seconds or until a date, by its own clock where
/// it tells the time.
fn wanted(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let wanted = text(RETRY_AFTER)?;
    if !wanted.is_empty() && wanted.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number has are longer than anybody waits.
        return Some(Duration::from_secs(wanted.parse().unwrap_or(u64::MAX)));
    }
    let until = date(wanted)?;
    let now = text(DATE).and_then(date).unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_server_is_left_alone_as_long_as_it_wants_and_never_beyond_the_whole() {
        let mut waits = Waits::default();
        assert_eq!(waits.next(Some(SECOND * 4)), Some(SECOND * 4));
        assert_eq!(waits.next(Some(SECOND * 6)), Some(SECOND * 6));
        assert_eq!(waits.next(Some(Duration::ZERO)), None, "three attempts");
        let mut waits = Waits::default();
        assert_eq!(waits.next(Some(SECOND * 4)), Some(SECOND * 4));
        assert_eq!(waits.next(Some(SECOND * 7)), None, "more than ten seconds");
        assert_eq!(Waits::default().next(Some(SECOND * 86_400)), None);
        assert_eq!(Waits::default().next(Some(Duration::MAX)), None);
    }

    #[test]
    fn where_it_names_no_wait_there_is_a_short_one() {
        let mut waits = Waits::default();
        for most in [400, 800] {
            let wait = waits.next(None).map(|wait| wait.as_millis());
            assert!(wait.is_some_and(|wait| (most / 2..=most).contains(&wait)));
        }
        assert_eq!(waits.next(None), None);
    }

    #[test]
    fn a_wait_is_read_in_both_of_its_forms() {
        let now = SystemTime::UNIX_EPOCH + SECOND * 1_000;
        let read = |headers: &[(HeaderName, &str)]| {
            let headers = headers.iter().map(|(name, value)| {
                let value = value.parse().expect("it is a value");
                (name.clone(), value)
            });
            wanted(&headers.collect(), now)
        };
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[(RETRY_AFTER, " 7 ")]), Some(SECOND * 7));
        assert_eq!(read(&[(RETRY_AFTER, "")]), None);
        assert_eq!(read(&[(RETRY_AFTER, "-1")]), None);
        assert_eq!(read(&[(RETRY_AFTER, "soon")]), None);
        let digits = "9".repeat(40);
        assert_eq!(
            read(&[(RETRY_AFTER, &digits)]),
            Some(Duration::from_secs(u64::MAX))
        );
        let until = (RETRY_AFTER, "Thu, 01 Jan 1970 00:16:45 GMT");
        assert_eq!(read(std::slice::from_ref(&until)), Some(SECOND * 5));
        let theirs = (DATE, "Thu, 01 Jan 1970 00:16:42 GMT");
        assert_eq!(read(&[until.clone(), theirs]), Some(SECOND * 3));
        let later = (DATE, "Thu, 01 Jan 1970 01:00:00 GMT");
        assert_eq!(read(&[until, later]), Some(Duration::ZERO));
    }
}
