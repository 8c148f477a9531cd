//! The page, as text and in a browser.
//!
//! The browser is Chromium (Debian package `chromium`), found on `PATH`. With `RELAPSE_SKIP_BROWSER`
//! set, the tests that need it are skipped.

use crate::samples;
use std::path::Path;
use std::process::Command;

use explain::answer::Answer;
use proptest::prelude::*;
use report::Sources;
use report::html::render;

fn sum_sources() -> Sources {
    let file = |text: &str| [("sum.c".to_owned(), text.to_owned())].into_iter().collect();
    Sources { good: file(samples::SUM_GOOD), bad: file(samples::SUM_BAD) }
}

/// The content of the element `<script type="application/json">`.
fn embedded(page: &str) -> &str {
    let start = page.find("<script type=\"application/json\" id=\"data\">").unwrap();
    let inner = &page[start..][page[start..].find('>').unwrap() + 1..];
    &inner[..inner.find("</script>").unwrap()]
}

#[test]
fn the_page_asks_for_nothing_from_outside() {
    for (name, answer) in samples::all() {
        if name == "hostile" {
            continue;
        }
        let page = render(&answer, Some(&sum_sources()));
        assert!(page.contains("default-src 'none'"), "{name}");
        for word in ["http:", "https:", "src=", "url(", "@import", "<link", "<img", "<iframe"] {
            assert!(!page.contains(word), "{name} contains {word}");
        }
    }
}

#[test]
fn there_are_two_scripts_and_nothing_ends_them_early() {
    for (name, answer) in samples::all() {
        let page = render(&answer, None);
        assert_eq!(page.matches("<script").count(), 2, "{name}");
        assert_eq!(page.matches("</script").count(), 2, "{name}");
        assert_eq!(page.matches("<!--").count(), 0, "{name}");
        let data: serde_json::Value = serde_json::from_str(embedded(&page)).unwrap();
        assert!(data["nodes"].is_array(), "{name}");
    }
}

#[test]
fn without_scripts_both_values_are_there() {
    let page = render(&samples::running(), None);
    assert!(page.contains("<code>sum</code> good <b class=\"good\">4</b>, bad <b class=\"bad\">1</b>"));
    assert!(page.contains("in good: <code>sum += z;</code>"));
    assert!(page.contains("if (x &lt; y)"));
}

#[test]
fn a_huge_tree_stays_flat() {
    let page = render(&samples::chain(300), None);
    assert_eq!(page.matches("id=\"node-").count(), 300);
    assert!(page.find("id=\"node-299\"") < page.find("id=\"node-0\""), "the failure comes last");
    let bush = render(&samples::bush(5000), None);
    assert_eq!(bush.matches("id=\"node-").count(), 5000);
    assert!(bush.len() < 8 << 20, "{} bytes", bush.len());
}

proptest! {
    /// Outside of the two scripts and the style sheet, a hostile string adds no tag and no attribute:
    /// the page has the same tags as with a harmless one.
    #[test]
    fn strings_never_become_markup(text in "[<>\"'&/=a-z!\\-\\]\\[ \u{0}\u{2028}`]{0,40}") {
        let with = |text: &str| {
            let mut answer = samples::crash();
            answer.observation.summary = format!("s{text}");
            answer.test = format!("t{text}");
            answer.notes = vec![text.to_owned()];
            answer.method = format!("m{text}");
            let cause = &mut answer.causes[0];
            cause.what = format!("w{text}");
            cause.values[0].name = text.to_owned();
            cause.values[0].bad = Some(format!("v{text}"));
            if let Some(place) = &mut cause.place {
                place.file = format!("f{text}");
                place.text = format!("p{text}");
            }
            answer.root[0].heading = format!("h{text}");
            answer.root[0].new_text[1] = text.to_owned();
            render(&answer, None)
        };
        let tags = |page: &str| {
            let end = page.find("<script").unwrap();
            page[page.find("</style>").unwrap()..end].split('<').skip(1)
                .map(|tag| tag[..tag.find('>').unwrap()].to_owned())
                // Backticks in sentences become these tags.
                .filter(|tag| tag != "code" && tag != "/code").collect::<Vec<_>>()
        };
        let page = with(&text);
        prop_assert_eq!(tags(&page), tags(&with("harmless")));
        prop_assert_eq!(page.matches("<script").count(), 2);
        let data: serde_json::Value = serde_json::from_str(embedded(&page)).unwrap();
        prop_assert!(data["nodes"][0]["what"].as_str().unwrap().starts_with('w'));
    }
}

// ---- in the browser

/// Opens a page in Chromium, presses keys and returns the elements; `None` if the browser tests are
/// skipped.
fn browse(answer: &Answer, hash: &str, keys: &[&str]) -> Option<String> {
    if std::env::var_os("RELAPSE_SKIP_BROWSER").is_some() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    // After each key the page records which row is selected.
    let press = format!(
        "<script>document.body.dataset.trail = {keys:?}.map((key) => {{ document.activeElement.dispatchEvent(\
         new KeyboardEvent('keydown', {{ key, bubbles: true, cancelable: true }})); \
         return document.querySelector('[aria-selected=true]')?.id.replace('node-', ''); }}).join(' ');</script></body>"
    );
    let page = render(answer, Some(&sum_sources())).replace("</body>", &press);
    std::fs::write(&file, page).unwrap();
    let address = format!("file://{}{hash}", file.display());
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .args(["--virtual-time-budget=2000", "--dump-dom"])
        .arg(&address)
        .output()
        .unwrap_or_else(|error| {
            panic!("chromium could not be started ({error}): install it (`cargo xtask setup`) or set RELAPSE_SKIP_BROWSER")
        });
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("</html>"), "chromium gave no page: {}", String::from_utf8_lossy(&output.stderr));
    Some(dom)
}

/// The markup of the panel.
fn panel(dom: &str) -> &str {
    let start = dom.find("<aside id=\"detail\"").expect("no panel");
    &dom[start..start + dom[start..].find("</aside>").unwrap()]
}

#[test]
fn an_address_with_a_node_opens_both_versions() {
    let Some(dom) = browse(&samples::running(), "#node=1", &[]) else { return };
    let panel = panel(&dom);
    // The line in both versions, from the sources, with its neighbours.
    assert!(panel.contains("sum += z;") && panel.contains("sum += 0 - z;"), "{panel}");
    assert!(panel.contains("printf("), "no lines around: {panel}");
    // The values in both versions.
    assert!(panel.contains("<tr class=\"differ\"><td>sum</td><td>4</td><td>1</td></tr>"), "{panel}");
    assert!(panel.contains("<tr class=\"same\"><td>z</td><td>1</td><td>1</td></tr>"), "{panel}");
    assert!(dom.contains("class=\"js\""), "the script did not run");
}

#[test]
fn without_an_address_the_first_step_is_open() {
    let Some(dom) = browse(&samples::running(), "", &[]) else { return };
    assert!(dom.contains("id=\"node-3\" tabindex=\"0\""), "{}", tree(&dom));
    assert_eq!(tree(&dom).matches("aria-selected=\"true\"").count(), 1);
}

#[test]
fn a_hidden_node_is_revealed_by_its_address() {
    let Some(dom) = browse(&samples::chain(300), "#node=150", &[]) else { return };
    assert!(panel(&dom).contains("v150 became 150"), "{}", panel(&dom));
    let row = &dom[dom.find("id=\"node-150\"").unwrap() - 80..];
    assert!(row[..200].contains(" open\""), "{}", &row[..200]);
}

#[test]
fn hostile_text_runs_nothing() {
    for hash in ["", "#node=3", "#node=7&theme=dark"] {
        let Some(dom) = browse(&samples::hostile(), hash, &[]) else { return };
        assert!(!dom.contains("<title>owned"), "a string of the answer was run");
        assert!(dom.contains("class=\"js\""), "the script did not run");
        assert!(!dom.contains("<svg") && !dom.contains("<img"), "a string became an element");
        assert!(panel(&dom).contains("both-values"));
    }
}

#[test]
fn the_theme_can_be_asked_for() {
    let Some(dom) = browse(&samples::running(), "#theme=dark", &[]) else { return };
    assert!(dom.contains("data-theme=\"dark\""));
}

#[test]
fn five_thousand_nodes_open() {
    let Some(dom) = browse(&samples::bush(5000), "#node=4321", &[]) else { return };
    assert!(panel(&dom).contains("cell[4321] became"));
}

#[test]
fn nothing_to_say_is_a_page_too() {
    let Some(dom) = browse(&samples::blank(), "", &[]) else { return };
    assert!(dom.contains("None was found"));
    assert!(dom.contains("class=\"js\""));
}

/// The markup of the tree.
fn tree(dom: &str) -> &str {
    &dom[dom.find("<div role=\"listbox\"").unwrap()..dom.find("<aside").unwrap()]
}

#[test]
fn keys_move_through_the_tree() {
    // 0 is the failure, 1 its cause; 1 has the causes 2 (then 3) and 4. What leads to a row is above
    // it, and the path from a change comes first.
    let (keys, expected): (Vec<&str>, Vec<&str>) = [
        ("j", "2"),
        ("j", "4"),
        // A leaf cannot be folded: the selection moves to its effect.
        ("h", "1"),
        ("l", "4"),
        ("k", "2"),
        ("l", "3"),
        ("End", "0"),
        ("j", "0"),
        ("ArrowUp", "1"),
        ("Home", "3"),
        ("k", "3"),
        ("c", "1"),
        ("c", "3"),
        ("c", "1"),
        ("ArrowDown", "0"),
    ]
    .into_iter()
    .unzip();
    let Some(dom) = browse(&samples::running(), "", &keys) else { return };
    assert!(
        dom.contains(&format!("data-trail=\"{}\"", expected.join(" "))),
        "{}",
        &dom[dom.find("data-trail").unwrap()..][..80]
    );
}

#[test]
fn keys_fold_and_unfold() {
    let Some(dom) = browse(&samples::running(), "#node=1", &["h"]) else { return };
    assert_eq!(tree(&dom).matches("data-expanded=\"false\"").count(), 1);
    assert_eq!(tree(&dom).matches("hidden=\"\"").count(), 3);
    let Some(dom) = browse(&samples::running(), "#node=1", &["h", "l"]) else { return };
    assert_eq!(tree(&dom).matches("data-expanded=\"false\"").count(), 0);
    assert_eq!(tree(&dom).matches("hidden=\"\"").count(), 0);
}

#[test]
fn enter_shows_what_was_left_out() {
    let Some(dom) = browse(&samples::chain(300), "", &["j"; 5]) else { return };
    assert!(!tree(&dom).contains(" open\""));
    let mut keys = vec!["j"; 5];
    keys.push("Enter");
    let Some(dom) = browse(&samples::chain(300), "", &keys) else { return };
    assert_eq!(
        tree(&dom).matches(" far open\"").count() + tree(&dom).matches(" far differs open\"").count(),
        290
    );
}

#[test]
fn a_question_mark_shows_the_keys() {
    let Some(dom) = browse(&samples::running(), "", &["?"]) else { return };
    let help = &dom[dom.find("<dialog id=\"help\"").unwrap()..];
    assert!(help[..help.find('>').unwrap()].contains(" open"));
}

#[test]
fn pages_for_looking_at() {
    // Written to where a person can open them.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, answer) in samples::all() {
        let file = folder.join(format!("{name}.html"));
        std::fs::write(&file, render(&answer, Some(&sum_sources()))).unwrap();
        assert!(std::fs::read_to_string(&file).unwrap().ends_with("</html>\n"), "{name}");
    }
}
