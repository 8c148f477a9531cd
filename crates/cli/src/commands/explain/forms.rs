//! The output formats of an explanation.

use crate::Session;
use crate::document::write;
use crate::failure::Failure;
use crate::render::style;
use explain::answer::Answer;
use std::io::Write;
use std::path::PathBuf;

/// Options that `explain` and `show` share.
#[derive(Debug, clap::Args)]
pub struct OutputFormats {
    /// Write the explanation as a page for browsers
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write it as Markdown, for a comment on a pull request
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write it as SARIF, for code scanning services
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// About how many steps of the story to print: a number, or `all` [default: 10]
    #[arg(long, value_name = "N", value_parser = steps)]
    pub steps: Option<usize>,
}

impl OutputFormats {
    /// Writes the requested files. The caller makes the page.
    pub fn write(&self, answer: &Answer, page: impl FnOnce() -> String) -> Result<(), Failure> {
        if let Some(path) = &self.sarif {
            write(path, &report::sarif::to_sarif(answer))?;
        }
        if let Some(path) = &self.markdown {
            write(path, &report::markdown::render(answer))?;
        }
        if let Some(path) = &self.html {
            write(path, &page())?;
        }
        Ok(())
    }

    /// Prints the report.
    pub fn print(&self, answer: &Answer, session: &mut Session) -> Result<(), Failure> {
        let style = style();
        let causes = self.steps.unwrap_or(style.causes);
        let style = report::Style { colour: session.paint.enabled(), causes, ..style };
        write!(session.out, "{}", report::terminal::render(answer, &style))?;
        Ok(())
    }
}

fn steps(text: &str) -> Result<usize, String> {
    if text == "all" {
        return Ok(usize::MAX);
    }
    text.parse()
        .ok()
        .filter(|steps| *steps > 0)
        .ok_or_else(|| format!("`{text}` is neither a number above 0 nor `all`"))
}
