//! Room on the disk, as it is read and told.

use xtask::disk::{left_kib, note};

const HEAD: &str = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n";

#[test]
fn what_is_left_is_read_wherever_names_hold_blanks() {
    for line in [
        "/dev/vda        263112772 22118960 73400320      24% /",
        "/dev/my disk    263112772 22118960 73400320      24% /mnt/50% full",
        "map auto_home           0        0 73400320     100% /System/Volumes/Data/home",
    ] {
        assert_eq!(
            left_kib(&format!("{HEAD}{line}\n")),
            Some(73_400_320),
            "{line}"
        );
    }
}

#[test]
fn what_is_no_answer_of_df_tells_nothing() {
    for text in [
        "",
        HEAD,
        "df: no such file\n",
        "/dev/vda 1 2 3 4% /\n",
        "Filesystem 1024-blocks Used Available Capacity Mounted on\n- - - - - /\n",
        "Filesystem 1024-blocks Used Available Capacity Mounted on\n24% /\n",
    ] {
        assert_eq!(left_kib(text), None, "{text}");
    }
}

#[test]
fn too_little_room_is_told_with_the_way_out() {
    let gib = 1024 * 1024;
    assert_eq!(
        note(70 * gib, true),
        "75 GB are left on the disk of the target folder"
    );
    assert!(note(10 * gib, false).ends_with("target folder"));
    assert!(note(10 * gib, true).contains("takes 16: make room, or export CARGO_INCREMENTAL=0"));
    assert!(note(5 * gib, false).contains("takes 9: make room (cargo clean"));
}
