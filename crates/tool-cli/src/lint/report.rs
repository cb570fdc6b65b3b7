//! What was found, for people.

use std::io::{self, IsTerminal as _, Write as _};

use tool_runtime::provider::{Finding, Level, Profile};

use super::Linted;
use crate::error::CliError;
use crate::render;

/// Places of one finding that are shown; all of them stand in the JSON.
const MOST_PLACES: usize = 3;

/// Findings of one tool that differ in nothing but places and profiles.
struct Group<'a> {
    first: &'a Finding,
    places: Vec<&'a str>,
    profiles: Vec<(Profile, &'a Finding)>,
}

/// Prints everything by tool, and a summary.
pub(super) fn print(linted: &[Linted], profiles: &[Profile]) -> Result<(), CliError> {
    let mut text = String::new();
    for list in linted {
        let mut tools: Vec<Option<usize>> = list.findings.iter().map(|it| it.index).collect();
        tools.sort_unstable();
        tools.dedup();
        for index in tools {
            let of_tool = || list.findings.iter().filter(|it| it.index == index);
            text.push_str(&heading(list, index, of_tool().next()));
            for group in groups(of_tool()) {
                text.push_str(&group.text());
            }
            text.push('\n');
        }
    }
    text.push_str(&summary(linted, profiles));
    let mut out = io::stdout().lock();
    let text = render::printable(&text, out.is_terminal());
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

fn heading(list: &Linted, index: Option<usize>, first: Option<&Finding>) -> String {
    let name = first.map(|it| it.tool.as_str()).unwrap_or_default();
    let name = match (index, name) {
        (None, _) => "the list".to_owned(),
        (Some(index), "") => format!("entry {index}"),
        (Some(_), name) => name.escape_debug().to_string(),
    };
    format!("{name} ({})\n", list.listed.name)
}

fn groups<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for finding in findings {
        let same = |group: &&mut Group<'a>| {
            let first = group.first;
            first.rule.id == finding.rule.id
                && first.message == finding.message
                && first.fix == finding.fix
        };
        match groups.iter_mut().find(same) {
            Some(group) => {
                if !group.places.contains(&finding.pointer.as_str()) {
                    group.places.push(&finding.pointer);
                }
                if !group
                    .profiles
                    .iter()
                    .any(|(profile, _)| *profile == finding.profile)
                {
                    group.profiles.push((finding.profile, finding));
                }
            }
            None => groups.push(Group {
                first: finding,
                places: vec![&finding.pointer],
                profiles: vec![(finding.profile, finding)],
            }),
        }
    }
    groups.sort_by_key(|group| group.first.rule.level);
    groups
}

impl Group<'_> {
    fn text(&self) -> String {
        let first = self.first;
        let level = match first.rule.level {
            Level::Refused => "refused",
            Level::GivenUp => "given up",
            _ => "note",
        };
        let mut places: Vec<&str> = self.places.iter().take(MOST_PLACES).copied().collect();
        places.retain(|place| !place.is_empty());
        let more = self.places.len().saturating_sub(MOST_PLACES);
        let mut text = format!("  {level:8}  {}: {}\n", first.rule.id, first.message);
        if !places.is_empty() {
            text.push_str(&format!("            at {}", places.join(", ")));
            if more > 0 {
                text.push_str(&format!(" and {more} more"));
            }
            text.push('\n');
        }
        text.push_str(&format!("            for {}\n", self.handled()));
        text.push_str(&format!("            fix: {}\n", first.fix));
        text
    }

    /// The profiles, with what this program does about it where that is the same for all.
    fn handled(&self) -> String {
        let profiles: Vec<&str> = self.profiles.iter().map(|(it, _)| it.as_str()).collect();
        let profiles = match profiles.len() == Profile::ALL.len() {
            true => "every profile".to_owned(),
            false => profiles.join(", "),
        };
        let same = |(_, other): &(Profile, &Finding)| other.handled == self.first.handled;
        match self.profiles.iter().all(same) && self.first.rule.level != Level::Note {
            true => format!("{profiles}; here, {}", self.first.handled),
            false => profiles,
        }
    }
}

fn summary(linted: &[Linted], profiles: &[Profile]) -> String {
    let tools: usize = linted.iter().map(|it| it.tools).sum();
    let count = |level| linted.iter().map(|it| it.count(level)).sum::<usize>();
    let refused: Vec<String> = profiles
        .iter()
        .filter_map(|profile| {
            let of_list = |list: &Linted| {
                let refused = list
                    .findings
                    .iter()
                    .filter(|it| it.profile == *profile && it.rule.level == Level::Refused);
                let mut tools: Vec<_> = refused.map(|it| it.index).collect();
                tools.sort_unstable();
                tools.dedup();
                tools
                    .iter()
                    .flatten()
                    .count()
                    .max(usize::from(!tools.is_empty()))
            };
            let refused: usize = linted.iter().map(of_list).sum();
            (refused > 0).then(|| format!("{profile} refuses {refused}"))
        })
        .collect();
    let found = format!(
        "{}, {} given up, {}",
        counted(count(Level::Refused), "refusal"),
        counted(count(Level::GivenUp), "constraint"),
        counted(count(Level::Note), "note")
    );
    let tools = counted(tools, "tool");
    match refused.is_empty() {
        true => format!("{tools}, and none is refused ({found})\n"),
        false => format!("{tools}: {} ({found})\n", refused.join(", ")),
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
