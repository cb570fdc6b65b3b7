//! Questions that are answered in another process.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::{State, StateReading, StateVersion};

use crate::kept::{MOST_ATTEMPTS, VERSION, document, millis};
use crate::{ApprovalsError, Desk, Question, QuestionId, Reply};

/// Carries the questions of desks to whoever answers them, in whatever process, through a
/// [`State`].
///
/// A gateway [serves](Self::serve) its desk; a person's program [lists](Self::list) and
/// [answers](Self::answer). What a gateway posted and does not renew, because it is gone, is
/// dropped after [`Mailbox::LEASE`].
#[derive(Clone)]
pub struct Mailbox {
    state: Arc<dyn State>,
    key: String,
}

/// A question as it was posted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Posted {
    /// Under which it is answered; unique among all gateways.
    pub id: String,
    /// What is to be done.
    pub action: String,
    /// What it is done to.
    pub resources: Vec<String>,
    /// The patterns that "always" would allow from now on, exactly.
    #[serde(default)]
    pub save: Vec<String>,
    /// Why it is asked.
    pub because: String,
    /// The tool that asks.
    #[serde(default)]
    pub tool: Option<String>,
    /// The session that it belongs to.
    #[serde(default)]
    pub session: Option<String>,
    /// The agent that asks.
    #[serde(default)]
    pub agent: Option<String>,
    /// The arguments of the call, where they are known.
    #[serde(default)]
    pub arguments: Option<Value>,
    /// Until when it counts as waiting, in milliseconds since 1970-01-01 UTC.
    pub until_ms: u64,
    /// What was answered and not taken yet.
    #[serde(default)]
    answer: Option<Reply>,
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    questions: Vec<Posted>,
}

impl Mailbox {
    /// How long a question counts as waiting after its gateway was last heard of.
    pub const LEASE: Duration = Duration::from_secs(30);
    /// How often a gateway looks for answers while something waits.
    pub const LOOK: Duration = Duration::from_millis(300);

    /// The mailbox of a project, under the key `questions/` and the project.
    pub fn kept_in(state: Arc<dyn State>, project: &str) -> Self {
        Self {
            state,
            key: format!("questions/{project}"),
        }
    }

    /// The questions that wait for an answer, in the order in which each gateway asked them.
    ///
    /// # Errors
    /// [`ApprovalsError`] when they cannot be read.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn list(&self) -> Result<Vec<Posted>, ApprovalsError> {
        let (mut questions, _) = self.read().await?;
        let now = now();
        questions.retain(|posted| posted.answer.is_none() && posted.until_ms > now);
        Ok(questions)
    }

    /// Posts an answer in the name of the mailbox; false if no such question waits.
    ///
    /// # Errors
    /// [`ApprovalsError`] when it could not be posted.
    ///
    /// # Cancel safety
    /// The answer may be posted though the future was dropped.
    pub async fn answer(&self, id: &str, reply: Reply) -> Result<bool, ApprovalsError> {
        self.answer_as(id, reply, "mailbox").await
    }

    /// Posts an answer in the name of somebody, as an audit log is to have it; false if no such
    /// question waits. Of several answers the first counts.
    ///
    /// The gateway takes it within [`Mailbox::LOOK`]; by then the asker may be gone.
    ///
    /// # Errors
    /// [`ApprovalsError`] when it could not be posted.
    ///
    /// # Cancel safety
    /// The answer may be posted though the future was dropped.
    pub async fn answer_as(
        &self,
        id: &str,
        reply: Reply,
        by: &str,
    ) -> Result<bool, ApprovalsError> {
        let now = now();
        self.change(|questions| {
            let waiting = questions
                .iter_mut()
                .find(|posted| posted.id == id && posted.until_ms > now);
            match waiting {
                Some(posted) if posted.answer.is_none() => {
                    posted.answer = Some(reply.clone());
                    posted.by = Some(by.to_owned());
                    true
                }
                _ => false,
            }
        })
        .await
    }

    /// Posts what waits at a desk and brings it the answers, until the desk is gone. The name of
    /// the gateway must be its own among all that share the state.
    ///
    /// Needs a tokio runtime with its timer enabled. A state that fails is tried again; meanwhile
    /// nothing is answered.
    ///
    /// # Cancel safety
    /// Dropping the future leaves what was posted until its lease is over.
    pub async fn serve(&self, desk: &Desk, gateway: &str) {
        let mut notices = desk.notices();
        let mut posted = false;
        loop {
            let waiting = !desk.all().is_empty();
            if waiting {
                // What was granted elsewhere answers too; what cannot be read answers nothing.
                let _ = desk.look_again().await;
            }
            if waiting || posted {
                match self.exchange(desk, gateway).await {
                    Ok(answers) => {
                        posted = waiting;
                        for (id, reply, by) in answers {
                            let by = by.as_deref().unwrap_or(Desk::NAME);
                            // It may have ended meanwhile, and then it has ended once already.
                            let _ = desk.answer_as(id, reply, by).await;
                            posted = true;
                        }
                    }
                    Err(_) => posted = true,
                }
            }
            if waiting || posted {
                let _ = tokio::time::timeout(Self::LOOK, notices.next()).await;
            } else if notices.next().await.is_none() {
                return;
            }
        }
    }

    /// Makes the posted questions of a gateway those that wait at its desk, and takes the answers.
    async fn exchange(
        &self,
        desk: &Desk,
        gateway: &str,
    ) -> Result<Vec<(QuestionId, Reply, Option<String>)>, ApprovalsError> {
        let prefix = format!("{gateway}.");
        for _ in 0..MOST_ATTEMPTS {
            let waiting = desk.all();
            let (before, version) = self.read().await?;
            let now = now();
            let mut answers = Vec::new();
            let mut after: Vec<Posted> = before
                .iter()
                .filter(|posted| !posted.id.starts_with(&prefix) && posted.until_ms > now)
                .cloned()
                .collect();
            for question in waiting {
                let id = format!("{prefix}{}", question.id);
                let earlier = before.iter().find(|posted| posted.id == id);
                let answered = earlier.and_then(|posted| {
                    let reply = posted.answer.clone()?;
                    Some((question.id, reply, posted.by.clone()))
                });
                match answered {
                    Some(answered) => answers.push(answered),
                    None => after.push(posted(&question, id, lease(earlier, now))),
                }
            }
            if after == before {
                return Ok(answers);
            }
            if self.write(version.as_ref(), after).await? {
                return Ok(answers);
            }
        }
        Err(ApprovalsError::Contended)
    }

    async fn change(
        &self,
        change: impl Fn(&mut Vec<Posted>) -> bool,
    ) -> Result<bool, ApprovalsError> {
        for _ in 0..MOST_ATTEMPTS {
            let (mut questions, version) = self.read().await?;
            if !change(&mut questions) {
                return Ok(false);
            }
            if self.write(version.as_ref(), questions).await? {
                return Ok(true);
            }
        }
        Err(ApprovalsError::Contended)
    }

    async fn read(&self) -> Result<(Vec<Posted>, Option<StateVersion>), ApprovalsError> {
        let StateReading::Value(text, version) = self.state.read(&self.key, None).await? else {
            return Ok((Vec::new(), None));
        };
        let document: Document = document(&text)?;
        Ok((document.questions, Some(version)))
    }

    async fn write(
        &self,
        expected: Option<&StateVersion>,
        questions: Vec<Posted>,
    ) -> Result<bool, ApprovalsError> {
        let document = Document {
            version: VERSION,
            questions,
        };
        let text = serde_json::to_vec(&document).map_err(ApprovalsError::Form)?;
        let written = self.state.write(&self.key, expected, &text).await?;
        Ok(written.is_some())
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

fn posted(question: &Question, id: String, until_ms: u64) -> Posted {
    let facts = &question.facts;
    Posted {
        id,
        action: question.action.clone(),
        resources: question.resources.iter().map(ToString::to_string).collect(),
        save: question.save.clone(),
        because: question.because.clone(),
        tool: question.tool.as_ref().map(ToString::to_string),
        session: facts.session_id().map(ToString::to_string),
        agent: facts.agent_id().map(ToString::to_string),
        arguments: question.arguments.clone(),
        until_ms,
        answer: None,
        by: None,
    }
}

/// The lease of a question, renewed when half of it is over so that not every look writes.
fn lease(earlier: Option<&Posted>, now: u64) -> u64 {
    let lease = millis(Mailbox::LEASE);
    match earlier {
        Some(posted) if posted.until_ms > now.saturating_add(lease / 2) => posted.until_ms,
        _ => now.saturating_add(lease),
    }
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, millis)
}
