use proptest::prelude::*;
use tool_core::{ArtifactRef, SweepReason};
use tool_storage::{ArtifactLimits, ArtifactRow, plan_artifacts};

#[derive(Clone, Debug)]
struct Made {
    reference: ArtifactRef,
    bytes: u64,
    used: u64,
    expires: Option<u64>,
    stays: bool,
}

fn made() -> impl Strategy<Value = Vec<Made>> {
    let row = (
        0..20_u64,
        0..5_u64,
        proptest::option::of(0..10_u64),
        prop::bool::weighted(0.2),
    );
    proptest::collection::vec(row, 0..12).prop_map(|rows| {
        let made = |(number, (bytes, used, expires, stays)): (usize, _)| Made {
            reference: ArtifactRef::from(&*format!("{number:02}")),
            bytes,
            used,
            expires,
            stays,
        };
        rows.into_iter().enumerate().map(made).collect()
    })
}

fn row(made: &Made) -> ArtifactRow<'_> {
    let mut row = ArtifactRow::new(&made.reference, made.bytes, made.used);
    row.expires = made.expires;
    row.stays = made.stays;
    row
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn after_a_plan_everything_fits_and_nothing_left_for_nothing(
        made in made(),
        bytes in 0..60_u64,
        max_bytes in 1..80_u64,
        max_count in 1..10_usize,
        now in 0..10_u64,
    ) {
        let limits = ArtifactLimits::MEMORY
            .max_bytes(max_bytes.try_into().unwrap())
            .max_count(max_count.try_into().unwrap());
        let rows: Vec<ArtifactRow<'_>> = made.iter().map(row).collect();
        let planned = plan_artifacts(&rows, bytes, &limits, now);
        let mut shuffled = rows.clone();
        shuffled.reverse();
        prop_assert_eq!(&planned, &plan_artifacts(&shuffled, bytes, &limits, now));

        let expired = |row: &&Made| !row.stays && row.expires.is_some_and(|at| at <= now);
        let fits = |rows: &[&Made]| {
            rows.len() < max_count && rows.iter().map(|row| row.bytes).sum::<u64>() + bytes <= max_bytes
        };
        let Ok(plan) = planned else {
            let staying: Vec<&Made> = made.iter().filter(|row| row.stays).collect();
            prop_assert!(!fits(&staying), "it was refused and would fit");
            return Ok(());
        };
        let gone = |row: &Made| plan.iter().position(|(reference, _)| *reference == row.reference);
        let left: Vec<&Made> = made.iter().filter(|row| gone(row).is_none()).collect();
        prop_assert!(fits(&left));
        for row in &made {
            match gone(row).map(|at| plan[at].1) {
                Some(SweepReason::Expired) => prop_assert!(expired(&row)),
                Some(_) => prop_assert!(!row.stays && !expired(&row)),
                None => prop_assert!(!expired(&row), "what had its time stayed"),
            }
        }
        // Without the last that left for room it would not fit.
        let needless = plan.iter().rev().find(|(_, reason)| *reason != SweepReason::Expired);
        if let Some((last, _)) = needless {
            let last = made.iter().find(|row| row.reference == *last).unwrap();
            let mut more = left.clone();
            more.push(last);
            prop_assert!(!fits(&more));
            for row in left.iter().filter(|row| !row.stays) {
                prop_assert!((row.used, &row.reference) > (last.used, &last.reference));
            }
        }
    }
}
