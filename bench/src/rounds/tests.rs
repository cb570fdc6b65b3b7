use super::*;

#[test]
fn what_is_added_is_compared_round_by_round_without_the_base() {
    let rounds = Rounds::of(vec![
        vec![50.0, 70.0, 90.0],
        vec![20.0, 30.0, 40.0],
        vec![10.0, 10.0, 10.0],
    ]);
    assert_eq!(rounds.extra(0, 2).median, 60.0);
    assert_eq!(rounds.added(0, 1, 2).median, 3.0);
}

#[test]
fn how_a_ratio_grows_is_told_round_by_round() {
    let rounds = Rounds::of(vec![
        vec![60.0, 120.0, 90.0],
        vec![20.0, 20.0, 15.0],
        vec![10.0, 30.0, 30.0],
        vec![5.0, 10.0, 10.0],
    ]);
    assert_eq!(rounds.grown([0, 1], [2, 3]).median, 2.0);
}

#[test]
fn rounds_of_several_starts_count_together() {
    let mut rounds = Rounds::default();
    rounds.append(Rounds::of(vec![vec![3.0], vec![1.0]]));
    rounds.append(Rounds::of(vec![vec![8.0, 10.0], vec![2.0, 2.0]]));
    assert_eq!(rounds.nanos(0).median, 8.0);
    assert_eq!(rounds.ratio(0, 1).high, 5.0);
}
