//! The text output of `relapse explore`.

use crate::render::{Paint, counted};
use explore::explored::{Example, Explored};
use std::fmt::Write;
use std::path::PathBuf;

/// The number of conditions shown per group.
const MOST_CONDITIONS: usize = 12;

pub fn text(answer: &Explored, written: &[PathBuf], paint: Paint) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", report::explored::headline(answer));
    for group in &answer.groups {
        let _ = writeln!(text, "\n{} {}", paint.name(format!("{}.", group.number)), group.output);
        let shown = group.condition.len().min(MOST_CONDITIONS);
        for (n, condition) in group.condition.iter().take(shown).enumerate() {
            let _ = writeln!(text, "   {} {condition}", if n == 0 { "if " } else { "and" });
        }
        if group.condition.len() > shown {
            let _ = writeln!(
                text,
                "   and {} more",
                counted((group.condition.len() - shown) as u64, "condition")
            );
        }
        if group.condition.is_empty() {
            let _ = writeln!(text, "   for every input");
        }
        example(&mut text, &group.example);
        for fixed in &group.fixed {
            let _ = writeln!(text, "   taken as fixed: {fixed}");
        }
    }
    for fault in &answer.faults {
        let _ = writeln!(text, "\n{}", paint.bad(report::explored::fault(fault)));
        example(&mut text, &fault.example);
    }
    if let (Some(first), Some(last)) = (written.first(), written.last()) {
        let _ = writeln!(text, "\nTests are in {} to {}.", first.display(), last.display());
    }
    effort(&mut text, answer);
    text
}

fn example(text: &mut String, example: &Example) {
    let _ = write!(text, "   for example {}", example.command);
    for part in &example.parts {
        let _ = write!(text, ", {} \"{}\"", part.name, part.text);
    }
    let _ = writeln!(text);
}

fn effort(text: &mut String, answer: &Explored) {
    text.push('\n');
    for line in report::explored::effort(answer) {
        let _ = writeln!(text, "{line}");
    }
}
