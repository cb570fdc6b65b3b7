//! A component that is swapped for a link between check and use leads nowhere that was not judged.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use serde_json::json;
use tool_core::Decision;

use crate::fixture::{Room, run};

/// Swaps a folder, and a file in it, for links and back until it is told to stop.
struct Swapper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<usize>>,
}

impl Swapper {
    fn start(place: PathBuf, link: PathBuf, aside: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut swaps = 0;
            while !told.load(Ordering::Relaxed) {
                // A write may have made the folder aside, by the name that it had meanwhile.
                while fs::rename(&place, &aside).is_err() {
                    let _ = fs::remove_dir_all(&aside);
                }
                // A write may have made the folder anew meanwhile.
                let linked = symlink(&link, &place).is_ok();
                thread::yield_now();
                match linked {
                    true => fs::remove_file(&place).unwrap(),
                    false => drop(fs::remove_dir_all(&place)),
                }
                while fs::rename(&aside, &place).is_err() {
                    let _ = fs::remove_dir_all(&place);
                }
                thread::yield_now();
                swaps += 1;
            }
            swaps
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }

    fn end(&mut self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .take()
            .map_or(0, |thread| thread.join().unwrap())
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Calls file tools on `dir/file` while `dir` is swapped for a link to the other folder.
async fn swapped(room: &Room, other: PathBuf, secret: &str) {
    let tries = std::env::var("TOOL_BUILTIN_TRIES");
    let tries = tries.ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    room.put("dir/file", "harmless\n");
    let before = fs::read_to_string(other.join("file")).unwrap();
    let mut swapper = Swapper::start(room.path("dir"), other.clone(), room.path("aside"));
    let tools = ["read", "write", "edit", "grep"].map(|name| (name, room.tool(name)));
    for _ in 0..tries {
        for (name, tool) in &tools {
            let input = match *name {
                "read" => json!({"path": "dir/file"}),
                "write" => json!({"path": "dir/file", "content": "harmless\n"}),
                "edit" => json!({
                    "path": "dir/file", "old_string": "harmless", "new_string": "harmless",
                }),
                _ => json!({"path": "dir", "pattern": "."}),
            };
            let shown = match run(tool, input).await {
                Ok(done) => format!("{:?} {}", done.texts(), done.structured),
                Err(error) => format!("{error:?}"),
            };
            assert!(!shown.contains(secret), "{name}: {shown}");
        }
    }
    assert!(swapper.end() > 0);
    assert_eq!(fs::read_to_string(other.join("file")).unwrap(), before);
}

#[tokio::test]
async fn a_folder_that_becomes_a_link_out_lets_nothing_out() {
    let room = Room::new();
    fs::write(room.outside("file"), "canary\n").unwrap();
    swapped(&room, room.outside(""), "canary").await;
    assert_eq!(fs::read_dir(room.outside("")).unwrap().count(), 2);
}

#[tokio::test]
async fn a_folder_that_becomes_a_link_to_a_denied_folder_shows_nothing_of_it() {
    let room = Room::ruled(|request| {
        let denied = request
            .resources
            .iter()
            .any(|resource| resource.to_string().starts_with("denied"));
        if denied {
            Decision::Deny
        } else {
            Decision::Allow
        }
    });
    room.put("denied/file", "canary\n");
    swapped(&room, room.path("denied"), "canary").await;
}
