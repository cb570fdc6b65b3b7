//! What is left to be undone.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use object_store::{MultipartId, MultipartUpload, PutMode};
use serde::{Deserialize, Serialize};

use crate::bucket::{Bucket, Cause};
use crate::clock::Clock;

/// What calls that failed or were dropped could not undo themselves. The next call that writes, or
/// the next sweep, does it.
#[derive(Default)]
pub(crate) struct Abandoned(Mutex<Left>);

#[derive(Default)]
struct Left {
    todo: VecDeque<Undone>,
    /// The objects that are being removed right now, each as often as that is tried.
    going: Vec<String>,
}

/// Something to be undone.
pub(crate) enum Undone {
    /// An upload in parts, to be aborted.
    Upload { name: String, note: Note },
    /// An upload that only its own process knows.
    Own(Box<dyn MultipartUpload>),
    /// An object that may be there and was never reported.
    Object(String),
}

/// What stands in the bucket about an upload in parts while it is under way.
pub(crate) struct Note {
    name: String,
    upload: MultipartId,
    written_us: u64,
}

#[derive(Serialize, Deserialize)]
struct Written {
    name: String,
    upload: String,
    at_us: u64,
}

/// What a sweep of notes came to.
#[derive(Default)]
pub(crate) struct SweptUploads {
    pub(crate) aborted: u64,
    pub(crate) failed: u64,
}

impl Abandoned {
    pub(crate) fn add(&self, undone: Undone) {
        self.left().todo.push_back(undone);
    }

    /// Whether an object of that name is to be removed, or is just being removed.
    pub(crate) fn holds(&self, sought: &str) -> bool {
        let left = self.left();
        let mut todo = left.todo.iter();
        todo.any(|undone| matches!(undone, Undone::Object(name) if name == sought))
            || left.going.iter().any(|name| name == sought)
    }

    /// The objects right below a folder that are to be removed, or are just being removed, by their
    /// names there.
    pub(crate) fn below(&self, folder: &str) -> HashSet<String> {
        let left = self.left();
        let todo = left.todo.iter().filter_map(|undone| match undone {
            Undone::Object(name) => Some(name),
            _ => None,
        });
        todo.chain(&left.going)
            .filter_map(|name| name.strip_prefix(folder)?.strip_prefix('/'))
            .map(str::to_owned)
            .collect()
    }

    fn take(&self) -> Option<Undone> {
        let mut left = self.left();
        let undone = left.todo.pop_front()?;
        if let Undone::Object(name) = &undone {
            left.going.push(name.clone());
        }
        Some(undone)
    }

    /// Ends what `take` began: it is done, or is put back.
    fn give_back(&self, undone: Undone, done: bool) {
        let mut left = self.left();
        if let Undone::Object(name) = &undone
            && let Some(at) = left.going.iter().position(|it| it == name)
        {
            left.going.swap_remove(at);
        }
        if !done {
            left.todo.push_back(undone);
        }
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something that is being undone. Dropped before that is done, it is left for the next time.
struct Undoing<'a> {
    bucket: &'a Bucket,
    undone: Option<Undone>,
    is_done: bool,
}

impl Drop for Undoing<'_> {
    fn drop(&mut self) {
        if let Some(undone) = self.undone.take() {
            self.bucket.abandoned().give_back(undone, self.is_done);
        }
    }
}

impl Note {
    /// Of an upload of an object. It is not written yet.
    pub(crate) fn new(object: &str, upload: MultipartId) -> Self {
        Self {
            name: format!("{FOLDER}/{}", object.replace('/', "-")),
            upload,
            written_us: 0,
        }
    }

    pub(crate) fn upload(&self) -> &MultipartId {
        &self.upload
    }

    /// Writes it down where that was never done or is long ago, so that nobody takes the upload for abandoned.
    pub(crate) async fn renew(
        &mut self,
        bucket: &Bucket,
        object: &str,
        clock: &Clock,
    ) -> Result<(), object_store::Error> {
        let at_us = clock.now_us();
        if at_us.saturating_sub(self.written_us) < RENEWED {
            return Ok(());
        }
        let written = Written {
            name: object.to_owned(),
            upload: self.upload.clone(),
            at_us,
        };
        let json = serde_json::to_vec(&written).unwrap_or_default();
        bucket.put(&self.name, json, PutMode::Overwrite).await?;
        self.written_us = at_us;
        Ok(())
    }

    /// Takes it away, as the upload is over.
    pub(crate) async fn remove(&self, bucket: &Bucket) {
        if let Err(error) = bucket.delete(&self.name).await {
            tracing::debug!(%error, "could not remove the note of an upload");
        }
    }
}

impl Bucket {
    /// Undoes what is left to be undone. What cannot be done stays for the next time.
    pub(crate) async fn settle(&self) {
        let todo = self.abandoned().left().todo.len();
        for _ in 0..todo {
            let Some(undone) = self.abandoned().take() else {
                return;
            };
            let mut undoing = Undoing {
                bucket: self,
                undone: Some(undone),
                is_done: false,
            };
            let done = match &mut undoing.undone {
                Some(Undone::Upload { name, note }) => {
                    let aborted = self.abort(name, &note.upload).await;
                    if aborted.is_ok() {
                        note.remove(self).await;
                    }
                    aborted
                }
                Some(Undone::Own(upload)) => upload.abort().await,
                Some(Undone::Object(name)) => self.delete(name).await,
                None => Ok(()),
            };
            match done {
                Ok(()) => undoing.is_done = true,
                Err(error) => tracing::warn!(%error, "could not undo an upload yet"),
            }
        }
    }

    /// Aborts an upload. One that is over already is none.
    async fn abort(&self, name: &str, upload: &MultipartId) -> Result<(), object_store::Error> {
        let Some(parts) = self.parts() else {
            return Ok(());
        };
        match parts.abort_multipart(&self.path(name), upload).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            // Not every store tells an upload that is over from one that cannot be aborted.
            Err(_) if self.len(name).await?.is_some() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Aborts uploads whose processes have been gone for a day.
    pub(crate) async fn sweep_uploads(
        &self,
        now_us: u64,
    ) -> Result<SweptUploads, object_store::Error> {
        let mut swept = SweptUploads::default();
        for listed in self.list(FOLDER).await? {
            let name = format!("{FOLDER}/{}", listed.name);
            let Some(json) = self.get(&name).await? else {
                continue;
            };
            let Ok(note) = serde_json::from_slice::<Written>(&json) else {
                tracing::warn!(name, "passed over a note of an upload that does not read");
                continue;
            };
            let age = now_us.saturating_sub(note.at_us);
            if age < ABANDONED {
                continue;
            }
            match self.abort(&note.name, &note.upload).await {
                Ok(()) => {
                    swept.aborted += 1;
                    self.delete(&name).await?;
                }
                Err(error) => {
                    let error = Cause(error);
                    tracing::warn!(%error, "could not abort an upload that was left");
                    swept.failed += 1;
                    if age >= HOPELESS {
                        self.delete(&name).await?;
                    }
                }
            }
        }
        Ok(swept)
    }
}

const FOLDER: &str = "uploads";
const HOUR: u64 = 60 * 60 * 1_000_000;
const RENEWED: u64 = HOUR;
/// When the process of an upload is taken for dead.
const ABANDONED: u64 = 24 * HOUR;
/// When an upload is taken for one that the store has removed itself.
const HOPELESS: u64 = 8 * 24 * HOUR;
