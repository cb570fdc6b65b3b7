use std::cell::Cell;

use super::*;

const FAKE: Kit = Kit {
    language: "fake",
    pins: &["pins.txt"],
    probe: || Ok("1.0".to_owned()),
    install,
};

thread_local! {
    static INSTALLS: Cell<u32> = const { Cell::new(0) };
}

fn install(pins: &Path, folder: &Path) -> Result<bool, Error> {
    INSTALLS.set(INSTALLS.get() + 1);
    let left = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(left, 0, "an install begins in an empty folder");
    std::fs::write(folder.join("program"), "").unwrap();
    let text = std::fs::read_to_string(pins.join("pins.txt")).unwrap();
    match text.as_str() {
        "broken" => Ok(false),
        "missing" => Err(Error::new("no such program")),
        _ => Ok(true),
    }
}

struct Fixture {
    _folder: tempfile::TempDir,
    peers: Peers,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let peers = Peers {
            pins: folder.path().to_owned(),
            folder: folder.path().join("peers"),
        };
        Self {
            _folder: folder,
            peers,
        }
    }

    /// Installs with these pins; what became of it and how many installs there were so far.
    fn install(&self, pins: &str) -> (State, u32) {
        std::fs::write(self.peers.pins.join("pins.txt"), pins).unwrap();
        let state = self.peers.install_one(&FAKE).unwrap().state;
        (state, INSTALLS.get())
    }
}

#[test]
fn the_same_pins_are_installed_once() {
    let fixture = Fixture::new();
    assert_eq!(fixture.install("a 1"), (State::Installed, 1));
    assert_eq!(fixture.install("a 1"), (State::AlreadyThere, 1));
}

#[test]
fn other_pins_replace_what_is_there() {
    let fixture = Fixture::new();
    assert_eq!(fixture.install("a 1"), (State::Installed, 1));
    assert_eq!(fixture.install("a 2"), (State::Installed, 2));
}

#[test]
fn an_install_that_was_given_up_is_done_again() {
    let fixture = Fixture::new();
    assert!(matches!(fixture.install("broken"), (State::Broke(_), 1)));
    assert!(matches!(fixture.install("broken"), (State::Broke(_), 2)));
    assert_eq!(fixture.install("a 1"), (State::Installed, 3));
}

#[test]
fn an_install_that_cannot_start_says_why() {
    let (state, _) = Fixture::new().install("missing");
    assert_eq!(state, State::Broke("no such program".to_owned()));
}

#[test]
fn a_machine_without_the_language_is_named_and_not_broken() {
    let fixture = Fixture::new();
    let kit = Kit {
        probe: || Err("there is no fake".to_owned()),
        ..FAKE
    };
    let peer = fixture.peers.install_one(&kit).unwrap();
    assert_eq!(peer.to_string(), "fake peers: left out, there is no fake");
    assert!(!peer.is_ready() && !peer.broke());
}
