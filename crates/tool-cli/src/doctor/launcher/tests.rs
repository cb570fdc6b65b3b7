use super::unpinned;

#[track_caller]
fn found(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    unpinned(&words).map(|unpinned| unpinned.package)
}

#[test]
fn s43_a_launcher_without_a_version_is_found_wherever_it_stands() {
    for (line, package) in [
        ("npx -y pkg", "pkg"),
        ("npx --yes @scope/pkg /srv", "@scope/pkg"),
        ("npx -y pkg@latest", "pkg@latest"),
        ("npx pkg@^1.2.3", "pkg@^1.2.3"),
        ("npx pkg@1", "pkg@1"),
        ("npx -y --package=pkg cmd", "pkg"),
        ("npx -p pkg cmd", "pkg"),
        ("cmd /c npx -y pkg", "pkg"),
        (r"C:\node\npx.cmd -y pkg", "pkg"),
        ("npm exec -- pkg", "pkg"),
        ("pnpm dlx pkg", "pkg"),
        ("uvx pkg", "pkg"),
        ("/usr/bin/uvx --python 3.12 pkg", "pkg"),
        ("uvx -p 3.12 pkg", "pkg"),
        ("uvx pkg@latest", "pkg@latest"),
        ("uvx --from pkg>=1.0 cmd", "pkg>=1.0"),
        ("uv tool run pkg", "pkg"),
        ("pipx run --spec pkg cmd", "pkg"),
        (
            "docker run --rm -i -e A=1 host:5000/team/image",
            "host:5000/team/image",
        ),
        ("docker run -i image:latest", "image:latest"),
    ] {
        assert_eq!(found(line).as_deref(), Some(package), "{line}");
    }
}

#[test]
fn a_launcher_with_a_version_and_what_is_none_are_left_alone() {
    for line in [
        "npx -y pkg@1.2.3",
        "npx -y @scope/pkg@1.2.3-beta.1",
        "npx ./local",
        "npx --package=pkg@1.0.0 cmd",
        "uvx pkg==2.0",
        "uvx pkg@2.0.1",
        "uvx --from pkg[extra]==1.0 cmd",
        "docker run --rm -i image:1.2",
        "docker run --rm -i image@sha256:abc",
        "node server.js",
        "uv run server.py",
        "npx",
    ] {
        assert_eq!(found(line), None, "{line}");
    }
}

#[test]
fn the_way_out_names_the_package_as_its_launcher_does() {
    for (line, fix) in [
        ("npx -y @scope/pkg@latest", "@scope/pkg@1.2.3"),
        ("uvx pkg>=1", "pkg==1.2.3"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let said = unpinned(&words).expect("it is unpinned").fix;
        assert!(said.ends_with(fix), "{said}");
    }
}
