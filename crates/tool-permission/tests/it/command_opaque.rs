//! Lines of which a part cannot be read: what makes them so, and what does not.

use tool_core::Decision::{Allow, Ask, Deny};
use tool_permission::CommandAnalysis;

use crate::command_rules::{EVERYTHING, check};

#[test]
fn an_option_that_is_not_known_hides_what_a_wrapper_runs() {
    for line in [
        "timeout --strange 5 ls",
        "env $X ls",
        "env --spl 'rm x'",
        "xargs $X ls",
        "nice \"$X\" ls",
        "sudo -i",
        "sudo $X ls",
        "find . -exec ls",
        "watch \"$X\"",
        "flock lock -c \"$X\"",
        "script out",
        "su",
        "parallel ::: ls",
        "parallel 'ls; rm {}' ::: a",
        "strace --strange ls",
        "ls | chroot /x",
        "unshare -r",
        "nsenter -t 1 -a",
        "doas -s",
        "bwrap --bind / / ls",
        "gdb --args ls",
        "valgrind $X ls",
        "perf script x",
        "perf stat --strange ls",
        "ssh host",
        "ssh -o ProxyCommand=x host ls",
        "ssh host -o \"$X\" ls",
        "ssh -F x host ls",
        "ssh host \"$X\"",
        "docker run --strange x ls",
        "docker run --entrypoint rm x y",
        "docker $X",
        "kubectl exec pod ls",
        "kubectl exec $X -- ls",
        "tmux send-keys -t a 'rm y' Enter",
        "tmux new -d ls \\; send-keys x",
        "tmux display -p '#(rm y)'",
        "tmux -f x new",
        "screen -S a -X stuff 'rm y'",
        "systemd-run ls",
        "firejail ls",
        "socat - EXEC:ls",
        "hyperfine -S x ls",
        "hyperfine -L a 1,2 ls",
        "crontab x",
        "echo ls | at now",
        "poetry run --strange ls",
        "uv --strange run ls",
        "git --strange status",
        "git -C $X status",
        "env -S 'ls \"$X\"'",
    ] {
        opaque(line);
    }
}

#[test]
fn what_a_program_reads_from_elsewhere_is_opaque() {
    for line in [
        "eval ls",
        "source x",
        ". ./x",
        "$X a",
        "\"$X\" a",
        "./run-* a",
        "`which ls` a",
        "ls | bash",
        "bash",
        "bash x.sh",
        "bash < x",
        "bash <(ls)",
        "bash -c \"$X\"",
        "bash -c \"ls $X\"",
        "bash <<E\nls $X\nE",
        "bash --rcfile x -c ls",
        "bash -O extglob -c ls",
        "ls | python3",
        "ls | python3 -",
        "python3 x.py",
        "python3 <<'E'\nprint(1)\nE",
        "python3 -c \"$X\"",
        "node -r ./x -e 1",
        "perl -e \"$X\"",
        "awk -f x",
        "awk \"{print \\$$N}\"",
        "fish -c ls",
        "trap \"$X\" EXIT",
        "trap $X EXIT",
        "alias x=$X",
        "hash -p /bin/rm ls",
        "enable -f x y",
        "mapfile -C rm x",
        "compgen -C rm",
        "xargs bash",
        "xargs -I{} sh -c 'rm {}'",
    ] {
        opaque(line);
    }
}

/// bash 5.2 reads a substitution, writes it down anew and reads that. It loses backslashes in
/// arrays, so that `rm y` would be a line of its own here, and a semicolon behind an escaped `&`.
#[test]
fn what_bash_writes_down_anew_and_misreads_is_opaque() {
    for line in [
        "x \"$( a=( x\\< \"$( ls \\\nrm y )\" ); )\"",
        "x $( a=( x\\; $( ls \\\nrm y ) ) )",
        "x $( declare -a a=( x\\& $( ls \\\nrm y ) ) )",
        "cat <( a=( \\' ) )",
        "x $( a=( b $( a=( \\\\ ) ) ) )",
        "x $( { ls \\&\n}; )",
        "x $( if ls a\\&; then ls; fi )",
        "x $( while ls > \\&; do ls; done )",
    ] {
        opaque(line);
    }
    for line in [
        "a=( x\\< \"$( ls \\\nrm y )\" )",
        "x $( a=( x '<' \"\\\\\" $( ls \\; ) ) )",
        "x $( a=( b \\\n c ) )",
        "{ ls \\&\n}",
        "x $( ls a\\&b; ls \\\\& )",
        "x `{ ls \\\\&; }`",
    ] {
        assert_eq!(
            CommandAnalysis::new("/repo", "/repo", line).opaque(),
            None,
            "{line:?}"
        );
    }
}

#[test]
fn a_program_that_is_written_out_is_not_opaque() {
    for line in [
        "python3 -m pytest -x",
        "python3 --version",
        "node -v",
        "awk -F: -v n=1 '{print $1}' x",
        "ls | bash -c 'cat'",
        "bash --version",
        "trap 'rm x' EXIT",
        "alias x='ls -l'",
        "cat <<E | grep \"$X\"\n$(ls)\nE",
    ] {
        check(EVERYTHING, line, Allow);
    }
}

#[test]
fn a_program_in_a_word_is_allowed_only_by_a_rule_that_spells_it_out() {
    for (program, line) in [
        ("python3", "python3 -c 'print(1)' a b"),
        ("python3.12", "ls | python3.12 -c 'import sys'"),
        ("node", "node -e 1"),
        ("node", "node --eval=1"),
        ("perl", "perl -pi -e 's/a/b/' x"),
        ("ruby", "ruby -e 'puts 1'"),
        ("php", "php -r 'echo 1;'"),
        ("lua", "lua -e 'x()'"),
        ("deno", "deno eval 1"),
        ("bun", "bun -e 1"),
        ("vim", "vim -es '+!rm y' x"),
        ("emacs", "emacs --batch --eval '(x)'"),
        ("python3", "env A=1 bash -c 'python3 -c \"x()\"'"),
    ] {
        check(EVERYTHING, line, Ask);
        check(
            &format!("allow shell ls, allow shell {program} *"),
            line,
            Ask,
        );
        check("deny shell *", line, Deny);
        check(&format!("{EVERYTHING}, deny shell {program} *"), line, Deny);
        assert_eq!(
            CommandAnalysis::new("/repo", "/repo", line).opaque(),
            None,
            "{line:?}"
        );
    }
    check(
        "allow shell python3 -c print(1)",
        "python3 -c 'print(1)'",
        Allow,
    );
    check(
        "allow shell python3 -c print(1)",
        "python3 -c 'print(2)'",
        Ask,
    );
    check(
        "allow shell python3 -c print(1)",
        "python3 -c 'print(1)' a",
        Ask,
    );
    // A blank of a rule is the border of words; one in a word is a `?`.
    check("allow shell perl -e print?1", "perl -e 'print 1'", Allow);
    check("allow shell perl -e print 1", "perl -e 'print 1'", Ask);
    check("allow shell perl -e *1", "perl -e 'print 1'", Ask);
    // What only looks at files or names no code needs no more than before.
    for line in [
        "vim x",
        "deno fmt --check",
        "bun test",
        "emacs x",
        "tsx --version",
    ] {
        check(EVERYTHING, line, Allow);
    }
}

#[test]
fn everyday_lines_are_not_opaque() {
    let lines = include_str!("data/command-everyday.txt").trim_end_matches('\n');
    for line in lines.split("\n%%\n") {
        let analysis = CommandAnalysis::new("/repo", "/repo", line);
        assert_eq!(analysis.opaque(), None, "{line:?}");
    }
}

#[test]
fn what_other_shells_read_differently_is_opaque_in_their_texts() {
    for line in [
        "sh -c '[[ a && rm ]]'",
        "sh -c '(( rm * x ))'",
        "dash -c \"echo \\$'\\\\'; rm x #'\"",
        "zsh -c 'repeat 3 ls'",
        "zsh -c '=ls'",
        "zsh -c 'noglob ls'",
        "zsh -c '[[ a ]]'",
        "bash -c 'bash -c \"sh -c \\\"[[ a ]]\\\"\"'",
    ] {
        opaque(line);
    }
}

#[test]
fn what_evaluation_could_run_is_opaque() {
    for line in [
        "x='a[$(rm y)]'; echo $((x))",
        "x='a[`rm y`]'; [[ x -eq 1 ]]",
        "echo $(( 'a' ))",
        "echo $(( a[\\$(rm y)] ))",
        "a['$(rm y)']=1",
        "unset 'a[$(rm y)]'",
        "test -v 'a[$(rm y)]'",
        "[[ -v 'a[$(rm y)]' ]]",
        "declare -i x='a[$(rm y)]'",
        "echo \"${x@P}\"",
        "echo ${x:'$(rm y)'}",
        "echo \"${x:1:'$(rm y)'}\"",
        "echo ${x:\\$(rm y)}",
        "x='a[$(rm y)]'; echo ${!x}",
        "declare -n x='a[$(rm y)]'; echo $x",
        "declare -a x='($(rm y))'",
        "declare -a 'x=([0]=$(rm y))'",
        "x='($(rm y))'; declare -a z=$x",
        "declare -a x; declare x='($(rm y))'",
        "x='a[$(rm y)]=1'; declare \"$x\"",
        "x='a[$(rm y)]'; read \"$x\" <<< 1",
        "declare -i x; x='a[$(rm y)]'",
        "PS4='$(rm y)'; set -x; ls",
        "BASH_ALIASES[ls]=rm",
        "set -k; ls PATH=.",
        "shopt -s extglob",
        "cd() { ls; }; cd x",
        "echo $[1+1]",
        "echo $((ls); ls)",
        "cat <<$X\nls\n$X",
        "f() { ls; } ; enable -n f",
        "ls >&'$(rm y)'",
        "ls >&$X",
        "IFS=x; ls${IFS}-l",
        "read IFS <<< x; ls $IFS",
    ] {
        opaque(line);
    }
}

#[test]
fn lines_before_one_that_cannot_be_read_are_judged_too() {
    check("allow shell *, deny shell rm *", "rm x\nls \"a", Deny);
    check("allow shell *, deny shell rm *", "ls \"a\nrm x", Ask);
}

#[test]
fn code_that_comes_together_before_it_is_evaluated_is_opaque() {
    for line in [
        "x='$(rm y)'; echo $((a[$x]))",
        "x='$(rm y)'; test -v \"a[$x]\"",
        "x='a['; y='$(rm y)]'; z=$x$y; let z",
        "printf -v z '%s%s' 'a[' '$(rm y)]'; ((z)); ls",
        "z=$(printf '%s%s' 'a[' '`rm y`]'); ((z))",
    ] {
        opaque(line);
    }
}

#[test]
fn a_prompt_that_may_run_something_is_opaque_however_it_is_set() {
    for line in [
        "printf -v PS4 '$(rm y)'; set -x; ls",
        "read -r PS4 <<< '$(rm y)'; set -x; ls",
        "for PS4 in '$(rm y)'; do set -x; ls; done",
        "unset PS4; : \"${PS4:=x}\"; set -x; ls",
        "declare 'PS4[0]=$(rm y)'; set -x; ls",
        "declare PS4+='$(rm y)'; set -x; ls",
        "declare -n p=PS4; p='$(rm y)'; set -x; ls",
        "env 'PS4=$(rm y)' bash -xc ls",
        "PS4='$'; PS4+='(rm y)'; set -x; ls",
        "PS4='\\'; PS4+='044(rm y)'; set -x; ls",
        "PS4='\\044(rm y)'; set -x; ls",
        "PS4='${x@P}'; set -x; ls",
        "PS4='${a[x]}'; set -x; ls",
        "PS4='${y:x}'; set -x; ls",
        "PS4='${y:(x)}'; set -x; ls",
        "PS4='${!x}'; set -x; ls",
    ] {
        opaque(line);
    }
    let trace = "PS4='+${BASH_SOURCE}:${LINENO}: ${FUNCNAME[0]:+${FUNCNAME[0]}(): }'; set -x; ls";
    check(EVERYTHING, trace, Allow);
    check(EVERYTHING, "PS1='[\\u@\\h \\w]\\$ '; ls", Allow);
}

#[test]
fn another_name_for_a_variable_is_opaque_unless_the_variable_is_written() {
    for line in [
        "declare -n r; r=PATH; r=/evil; ls",
        "f() { local -n r=$1; r=x; }; f PATH",
        "typeset -gn r; r=BASH_CMDS; r[ls]=/bin/rm; ls",
    ] {
        opaque(line);
    }
    check(EVERYTHING, "declare -n list=files; echo \"$list\"", Allow);
}

#[test]
fn letters_that_matter_are_seen_among_others() {
    for line in ["hash -rp /bin/rm ls; ls x", "jobs -rx rm x"] {
        opaque(line);
    }
}

#[test]
fn words_that_may_be_an_action_of_find_are_opaque() {
    for line in [
        "x=-exec; find . $x rm y ';'",
        "x='-exec rm y ;'; find . $x",
        "find . ${x:--exec} rm y \\;",
        "find . \"$(echo -exec)\" rm {} +",
        "find . -ex\"$x\" rm {} +",
        "ls | xargs find .",
    ] {
        opaque(line);
    }
    for line in [
        "find \"$dir\" -name '*.rs'",
        "find \"$dir\" -name \"$x\" -type f",
        "find \"$dir\" -type f -exec ls {} +",
        "find src/* -name a",
        "find . -newer \"$x\"",
    ] {
        check(EVERYTHING, line, Allow);
    }
}

#[test]
fn a_wrapper_that_is_not_read_is_opaque() {
    for line in [
        "setarch -R rm y",
        "linux64 rm y",
        "chrt -o 0 rm y",
        "setpriv --no-new-privs rm y",
        "prlimit --nofile=9 rm y",
        "runuser -u a rm y",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm y",
        "ld.so /bin/rm y",
        "echo rm y | batch",
    ] {
        opaque(line);
    }
    for wrapper in [
        "abduco",
        "capsh",
        "cpulimit",
        "dtach",
        "faketime",
        "firejail",
        "i386",
        "linux32",
        "numactl",
        "nsjail",
        "proot",
        "rlwrap",
        "rr",
        "socat",
        "systemd-run",
        "x86_64",
    ] {
        opaque(&format!("{wrapper} rm y"));
    }
    check(EVERYTHING, "setarch --help", Allow);
}

/// Even an allow of everything asks, and a deny of everything denies.
#[track_caller]
fn opaque(line: &str) {
    let analysis = CommandAnalysis::new("/repo", "/repo", line);
    assert!(analysis.opaque().is_some(), "{line:?} is not opaque");
    check(EVERYTHING, line, Ask);
    check("deny shell *", line, Deny);
}
