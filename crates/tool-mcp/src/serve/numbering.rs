//! Progress as the protocol wants it.

use tool_core::Progress;

/// Gives reports of one call numbers that always go up, as the protocol demands, whatever the
/// tool counts and whether or not it counts at all.
///
/// Source: Model Context Protocol 2025-11-25, "Progress".
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    last: Option<f64>,
    /// The tool has given a number of its own.
    counts: bool,
}

impl Numbering {
    /// The number of the next report.
    pub(crate) fn next(&mut self, report: &Progress) -> f64 {
        let own = report.done.filter(|done| done.is_finite());
        self.counts |= own.is_some();
        let next = match (own, self.last) {
            (Some(own), None) => own,
            (Some(own), Some(last)) if own > last => own,
            (None, None) => 1.0,
            (None, Some(last)) if !self.counts => last + 1.0,
            // As little further as can be: the tool's own count goes on from where it was.
            (_, Some(last)) => last.next_up(),
        };
        self.last = Some(next);
        next
    }
}

#[cfg(test)]
mod tests {
    use tool_core::Progress;

    use super::Numbering;

    #[track_caller]
    fn check(reports: &[Option<f64>], expected: &[f64]) {
        let mut numbering = Numbering::default();
        let numbers: Vec<_> = reports
            .iter()
            .map(|done| {
                let mut report = Progress::new();
                report.done = *done;
                numbering.next(&report)
            })
            .collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn numbers_always_go_up() {
        check(&[Some(0.0), Some(50.0), Some(100.0)], &[0.0, 50.0, 100.0]);
        check(&[None, None, None], &[1.0, 2.0, 3.0]);
        check(&[Some(5.0), Some(5.0)], &[5.0, 5.0_f64.next_up()]);
        check(
            &[Some(5.0), Some(1.0), Some(6.0)],
            &[5.0, 5.0_f64.next_up(), 6.0],
        );
        check(
            &[Some(5.0), None, Some(6.0)],
            &[5.0, 5.0_f64.next_up(), 6.0],
        );
        check(&[Some(f64::NAN)], &[1.0]);
    }
}
