use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tool_core::{Action, Decision, Facts, Request, Resource, Ruling};
use tool_permission::{Effect, Rule, RulePolicy, Volume};

use crate::policy;

/// A base folder with the workspace `ws` and the home directory `home` in it.
struct Scene {
    _guard: TempDir,
    base: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let base = guard.path().canonicalize().unwrap();
        fs::create_dir(base.join("ws")).unwrap();
        Self {
            _guard: guard,
            base,
        }
    }

    fn root(&self) -> PathBuf {
        self.base.join("ws")
    }

    /// Writes an empty file, and the folders above it.
    fn file(&self, path: &str) {
        let path = self.base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    fn folder(&self, path: &str) {
        fs::create_dir_all(self.base.join(path)).unwrap();
    }

    fn link(&self, path: &str, to: impl AsRef<Path>) {
        #[cfg(unix)]
        std::os::unix::fs::symlink(to, self.base.join(path)).unwrap();
        #[cfg(windows)]
        std::os::windows::fs::symlink_dir(to, self.base.join(path)).unwrap();
    }

    fn with_base(&self, text: &str) -> String {
        text.replace("${BASE}", self.base.to_str().unwrap())
    }

    fn judge(&self, policy: &RulePolicy, action: &str, path: impl AsRef<Path>) -> Ruling {
        judge_below(policy, action, &self.root(), path.as_ref())
    }

    /// The decision by these rules, `${BASE}` resolved.
    fn decide<const N: usize>(&self, rules: [Rule; N], action: &str, path: &str) -> Decision {
        let policy = policy(rules).home(self.base.join("home"));
        self.judge(&policy, action, self.with_base(path)).decision
    }
}

fn judge_below(policy: &RulePolicy, action: &str, root: &Path, path: &Path) -> Ruling {
    let facts = Facts::new();
    let resources = [Resource::path(root, path)];
    policy.judge(&Request::new(Action::new(action), resources, &facts))
}

#[test]
fn outside_an_allow_of_external_is_needed_as_well() {
    let scene = Scene::new();
    scene.file("out/a");
    let out = format!("{}/out/**", scene.base.display());
    let read = || Rule::allow("read", &out);
    let external = || Rule::allow("external", &out);
    assert_eq!(scene.decide([read()], "read", "../out/a"), Decision::Ask);
    assert_eq!(
        scene.decide([external()], "read", "../out/a"),
        Decision::Ask
    );
    assert_eq!(
        scene.decide([read(), external()], "read", "../out/a"),
        Decision::Allow
    );
    assert_eq!(
        scene.decide([read(), external()], "read", "${BASE}/out/a"),
        Decision::Allow
    );
    assert_eq!(
        scene.decide([read(), external()], "read", "../out2"),
        Decision::Ask
    );
}

#[test]
fn a_pattern_with_leading_wildcards_sees_no_folder_above_the_root() {
    let scene = Scene::new();
    scene.file("ws/a");
    let rules = [Rule::allow("read", "**"), Rule::deny("read", "**/ws/**")];
    assert_eq!(scene.decide(rules, "read", "a"), Decision::Allow);
}

#[test]
fn a_link_to_the_workspace_is_inside() {
    let scene = Scene::new();
    scene.file("ws/src/a");
    scene.link("alias", scene.root());
    let policy = policy([Rule::allow("read", "src/**")]);
    let alias = scene.base.join("alias");
    // The root by its link and the path by its real name, and the other way round.
    let by_link = judge_below(&policy, "read", &alias, &scene.root().join("src/a"));
    assert_eq!(by_link.decision, Decision::Allow);
    let relative = judge_below(&policy, "read", &alias, Path::new("src/a"));
    assert_eq!(relative.decision, Decision::Allow);
    let outside = scene.judge(&policy, "read", alias.join("src/a"));
    assert_eq!(outside.decision, Decision::Ask);
}

#[test]
fn the_root_itself_is_a_dot() {
    let scene = Scene::new();
    for path in [".", "src/..", "${BASE}/ws", "${BASE}/ws/"] {
        assert_eq!(
            scene.decide([Rule::allow("read", ".")], "read", path),
            Decision::Allow
        );
        assert_eq!(
            scene.decide([Rule::deny("read", "**")], "read", path),
            Decision::Deny
        );
    }
}

#[test]
fn what_names_nothing_is_denied() {
    let scene = Scene::new();
    scene.link("ws/round", "about");
    scene.link("ws/about", "round");
    let all = || [Rule::allow("*", "*")];
    for path in ["", "a\0", "\0", "round", "round/a"] {
        assert_eq!(
            scene.decide(all(), "read", path),
            Decision::Deny,
            "{path:?}"
        );
    }
    let policy = policy(all());
    let relative = judge_below(&policy, "read", Path::new("ws"), Path::new("a"));
    assert_eq!(relative.decision, Decision::Deny);
}

#[test]
fn a_home_directory_that_is_not_known_allows_nothing() {
    let scene = Scene::new();
    let rules = [
        Rule::allow("*", "*"),
        Rule::allow("read", "~/notes/**"),
        Rule::deny("read", "~/.ssh/**"),
    ];
    let policy = policy(rules);
    assert_eq!(
        scene.judge(&policy, "read", "~/notes/a").decision,
        Decision::Ask
    );
    assert_eq!(
        scene.judge(&policy, "read", "~/.ssh/id").decision,
        Decision::Deny
    );
    assert_eq!(scene.judge(&policy, "read", "~").decision, Decision::Ask);
}

#[test]
fn a_tilde_is_the_home_directory_at_the_start_only() {
    let scene = Scene::new();
    scene.folder("home");
    let rules = || {
        [
            Rule::allow("read", "~/notes/**"),
            Rule::allow("external", "~/**"),
            Rule::allow("read", "a~/b"),
        ]
    };
    assert_eq!(scene.decide(rules(), "read", "~/notes/a"), Decision::Allow);
    assert_eq!(
        scene.decide(rules(), "read", "${BASE}/home/notes/a"),
        Decision::Allow
    );
    assert_eq!(scene.decide(rules(), "read", "~/other"), Decision::Ask);
    assert_eq!(scene.decide(rules(), "read", "~notes/a"), Decision::Ask);
    assert_eq!(scene.decide(rules(), "read", "a~/b"), Decision::Allow);
}

#[test]
fn case_that_is_not_known_is_ignored_to_deny_and_kept_to_allow() {
    let scene = Scene::new();
    let decide = |volume, path: &str| {
        let rules = [Rule::allow("read", "src/**"), Rule::deny("read", "src/key")];
        scene
            .judge(&policy(rules).volumes(volume), "read", path)
            .decision
    };
    assert_eq!(decide(Volume::KeepsCase, "src/KEY"), Decision::Allow);
    assert_eq!(decide(Volume::Unknown, "src/KEY"), Decision::Deny);
    assert_eq!(decide(Volume::IgnoresCase, "src/KEY"), Decision::Deny);
    assert_eq!(decide(Volume::KeepsCase, "SRC/a"), Decision::Ask);
    assert_eq!(decide(Volume::Unknown, "SRC/a"), Decision::Ask);
    assert_eq!(decide(Volume::IgnoresCase, "SRC/a"), Decision::Allow);
}

#[test]
fn a_root_in_another_case_hides_no_denied_file() {
    let scene = Scene::new();
    scene.file("ws/key");
    let path = scene.base.join("WS/key");
    for volume in [Volume::IgnoresCase, Volume::Unknown] {
        let rules = [
            Rule::allow("read", "**"),
            Rule::allow("external", "**"),
            Rule::deny("read", "key"),
        ];
        let ruling = scene.judge(&policy(rules).volumes(volume), "read", &path);
        assert_eq!(ruling.decision, Decision::Deny, "{volume:?}");
    }
    let inside = policy([Rule::allow("read", "other")]).volumes(Volume::IgnoresCase);
    let ruling = scene.judge(&inside, "read", scene.base.join("WS/other"));
    assert_eq!(ruling.decision, Decision::Allow);
}

#[test]
fn accents_are_compared_in_either_spelling_to_deny_and_as_written_to_allow() {
    let scene = Scene::new();
    let composed = "caf\u{e9}";
    let apart = "cafe\u{301}";
    for (rule, path) in [(composed, apart), (apart, composed)] {
        assert_eq!(
            scene.decide([Rule::deny("read", rule)], "read", path),
            Decision::Deny
        );
        assert_eq!(
            scene.decide([Rule::allow("read", rule)], "read", path),
            Decision::Ask
        );
        assert_eq!(
            scene.decide([Rule::allow("read", path)], "read", path),
            Decision::Allow
        );
    }
}

#[test]
fn a_rule_may_spell_a_path_with_dots_and_doubled_slashes() {
    let scene = Scene::new();
    scene.file("ws/src/a");
    for rule in [
        "./src/a",
        "src//a",
        "src/./a",
        "${BASE}/ws//src/a",
        "${BASE}/./ws/src/a",
    ] {
        let rule = Rule::deny("read", scene.with_base(rule));
        assert_eq!(scene.decide([rule], "read", "src/a"), Decision::Deny);
    }
}

#[test]
fn a_rule_that_names_a_folder_by_a_link_holds_for_the_folder() {
    let scene = Scene::new();
    scene.file("out/a");
    scene.link("alias", scene.base.join("out"));
    let rule = |effect, action: &str, path: &str| Rule::new(effect, action, scene.with_base(path));
    for path in ["${BASE}/alias/a", "${BASE}/out/a"] {
        for pattern in ["${BASE}/alias/**", "${BASE}/alias/a", "${BASE}/alias/?"] {
            let rules = [Rule::allow("*", "*"), rule(Effect::Deny, "read", pattern)];
            assert_eq!(scene.decide(rules, "read", path), Decision::Deny);
            let rules = [
                rule(Effect::Allow, "read", pattern),
                rule(Effect::Allow, "external", "${BASE}/alias/**"),
            ];
            assert_eq!(scene.decide(rules, "read", path), Decision::Allow);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_unicode_is_never_allowed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let scene = Scene::new();
    let path = Path::new(OsStr::from_bytes(b"a\xff"));
    let all = policy([Rule::allow("*", "*")]);
    assert_eq!(scene.judge(&all, "read", path).decision, Decision::Ask);
    let none = policy([Rule::deny("read", "a*")]);
    assert_eq!(scene.judge(&none, "read", path).decision, Decision::Deny);
}

#[test]
fn the_shorter_way_through_a_link_chain_is_found() {
    let scene = Scene::new();
    scene.file("out/deep/a");
    scene.link("ws/one", "two");
    scene.link("ws/two", scene.base.join("out/deep"));
    let rules = || {
        [
            Rule::allow("read", "**"),
            Rule::deny("external", "**/deep/**"),
        ]
    };
    assert_eq!(scene.decide(rules(), "read", "one/a"), Decision::Deny);
    assert_eq!(
        scene.decide(rules(), "read", "one/new/file"),
        Decision::Deny
    );
}

#[test]
fn a_relative_rule_that_denies_a_link_denies_what_it_leads_to() {
    let scene = Scene::new();
    scene.file("ws/settings/key");
    scene.file("out/key");
    scene.link("ws/config", "settings");
    scene.link("ws/away", "../out");
    let rules = || {
        [
            Rule::allow("read", "**"),
            Rule::allow("external", "**"),
            Rule::deny("read", "config/**"),
            Rule::deny("read", "away/key"),
        ]
    };
    let knowing = policy(rules()).workspace(scene.root());
    for path in [
        "config/key",
        "settings/key",
        "settings",
        "away/key",
        "../out/key",
    ] {
        let decision = scene.judge(&knowing, "read", path).decision;
        assert_eq!(decision, Decision::Deny, "{path}");
    }
    // An allow of a link says nothing of what it leads to.
    let allowing = policy([Rule::allow("read", "config/**")]).workspace(scene.root());
    let direct = scene.judge(&allowing, "read", "settings/key").decision;
    assert_eq!(direct, Decision::Ask);
}
