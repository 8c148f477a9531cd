//! The command line itself: help, version, completions, the manual page, mistakes.

use crate::sandbox::Sandbox;

#[test]
fn help_has_examples_and_exit_codes() {
    let help = Sandbox::new().quietly("relapse --help");
    for needed in ["record", "replay", "dump", "values", "relapse cc -g -o sum sum.c", "Exit codes:"] {
        assert!(help.contains(needed), "{needed} is missing in\n{help}");
    }
}

#[test]
fn version_is_the_packages() {
    assert_eq!(
        Sandbox::new().quietly("relapse --version"),
        format!("relapse {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = Sandbox::new().quietly(&format!("relapse completions {shell}"));
        assert!(script.contains("replay") && script.contains("quiet"), "{shell}");
    }
}

#[test]
fn the_manual_page_describes_every_command() {
    let page = Sandbox::new().quietly("relapse man");
    assert!(page.starts_with(".ie"), "{}", &page[..80]);
    for section in ["RELAPSE RECORD", "RELAPSE REPLAY", "RELAPSE DUMP STEPS", "RELAPSE VALUES"] {
        assert!(page.contains(section), "{section}");
    }
}

#[test]
fn mistakes_are_explained() {
    let mut sandbox = Sandbox::new();
    sandbox.run("relapse replay nowhere");
    sandbox.run("relapse replay .");
    sandbox.run("relapse values run main.c");
    sandbox.run("relapse record -o run");
    assert_session!(sandbox, @r#"
    $ relapse replay nowhere
    [stderr] relapse: failed to open nowhere: No such file or directory (os error 2)
    [stderr]  `relapse record -o DIR CMD` makes recordings.
    [exit 2]
    $ relapse replay .
    [stderr] relapse: failed to open .: not a recording (no manifest.json and no process directory)
    [stderr]  Name a directory that `relapse record` made.
    [exit 3]
    $ relapse values run main.c
    [stderr] error: invalid value 'main.c' for '<FILE:LINE>': "main.c" is not of the form FILE:LINE, such as main.c:12
    [stderr] 
    [stderr] For more information, try '--help'.
    [exit 2]
    $ relapse record -o run
    [stderr] error: the following required arguments were not provided:
    [stderr]  <CMD>...
    [stderr] 
    [stderr] Usage: relapse record --output <DIR> <CMD>...
    [stderr] 
    [stderr] For more information, try '--help'.
    [exit 2]
    "#);
}

#[test]
fn colours_only_when_asked_for() {
    let sandbox = Sandbox::new();
    let plain = sandbox.execute("relapse replay nowhere", "");
    assert!(!plain.stderr.contains(&0x1b));
    let coloured = sandbox.execute("relapse --color always replay nowhere", "");
    assert!(coloured.stderr.contains(&0x1b));
}
