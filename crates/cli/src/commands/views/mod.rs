//! `relapse views`: the views of a run.

use super::diff::{HowArgs, failed};
use crate::Session;
use crate::failure::{Exit, Failure};
use crate::render::{Table, counted, grouped};
use crate::source;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use views::index::Index;
use views::kinds::{ALL, ViewType};
use views::told::{Entry, entry};
use views::trace::Trace;

/// List the views of a recorded run, or show one
///
/// A run is a list of events: calls, returns, fields and variables read and written,
/// allocations. A view is the part of it that belongs to one thread, one function
/// (`method`), one object that is accessed (`target`) or that a function works on
/// (`active`), or one source file. Each event is in several views; --event shows in which.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse views run                          all views, those with most events first
  relapse views run method:add               what happened in the function `add`
  relapse views run target:point#2           all that was done to the second `point`
  relapse views run --event 57               the event 57 and the views it is in")]
pub struct ViewsArgs {
    /// The recording
    dir: PathBuf,
    /// The view to show, as TYPE:NAME or, if that is enough, NAME
    name: Option<String>,
    /// Show an event, what is around it, and the views it is in
    #[arg(long, value_name = "N", conflicts_with = "name")]
    event: Option<usize>,
    /// Only views of this type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Number of lines to show
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
    /// Show everything
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    #[command(flatten)]
    how: HowArgs,
    /// Answer in JSON (schema relapse.views/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default, Serialize)]
struct Answer {
    schema: &'static str,
    recording: String,
    events: u64,
    instructions: u64,
    /// The time to extract the events, in seconds.
    seconds: f64,
    views: Vec<View>,
    entries: Vec<Entry>,
    /// The number of lines left out of the longer of the two lists.
    more: u64,
}

#[derive(Clone, Debug, Serialize)]
struct View {
    r#type: &'static str,
    name: String,
    events: u64,
    /// For the view of an event: the event's position in it, and its neighbours there.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<usize>,
}

pub fn run(args: &ViewsArgs, session: &mut Session) -> Result<Exit, Failure> {
    let types: Vec<&str> = ["thread"].into_iter().chain(ALL.iter().map(|k| k.name)).collect();
    if let Some(kind) = &args.kind
        && !types.contains(&kind.as_str())
    {
        return Err(Failure::new(Exit::Usage, format!("there are no views of type {kind:?}"))
            .hint(format!("Types are {}.", types.join(", "))));
    }
    let [trace] = args.how.traces([&args.dir], [args.how.process()], None)?;
    let limit = if args.all { usize::MAX } else { args.limit };
    let mut answer = Answer {
        schema: "relapse.views/1",
        recording: args.dir.display().to_string(),
        events: trace.len() as u64,
        instructions: trace.instructions,
        seconds: trace.seconds,
        ..Answer::default()
    };
    match (&args.name, args.event) {
        (None, None) => list(args, &trace, limit, &mut answer)?,
        (Some(name), _) => show(args, &trace, name, limit, &mut answer)?,
        (None, Some(event)) => around(&trace, event, &mut answer)?,
    }
    if args.json {
        return session.json(&answer);
    }
    write(session, args, &answer)?;
    Ok(Exit::Done)
}

fn index(trace: &Trace, kind: &ViewType) -> Result<Index, Failure> {
    Index::new(trace, kind).map_err(|e| failed(&e.into()))
}

fn threads(trace: &Trace) -> impl Iterator<Item = (View, std::ops::Range<usize>)> + '_ {
    trace.threads.iter().map(|t| {
        let kind = if t.signal { "signal " } else { "" };
        let name = format!("{kind}{}", t.stream);
        let view =
            View { r#type: "thread", name, events: (t.last - t.first) as u64, before: None, after: None };
        (view, t.first..t.last)
    })
}

fn list(args: &ViewsArgs, trace: &Trace, limit: usize, answer: &mut Answer) -> Result<(), Failure> {
    let wanted = |name: &str| args.kind.as_ref().is_none_or(|k| k == name);
    if wanted("thread") {
        answer.views.extend(threads(trace).map(|t| t.0));
    }
    for kind in ALL.iter().filter(|k| wanted(k.name)) {
        let index = index(trace, kind)?;
        let mut views: Vec<(u64, u32)> = index.views().iter().map(|v| (index.len_of(*v), *v)).collect();
        views.sort_by_key(|v| std::cmp::Reverse(v.0));
        answer.views.extend(views.into_iter().map(|(events, view)| View {
            r#type: kind.name,
            name: (kind.title)(trace, view),
            events,
            before: None,
            after: None,
        }));
    }
    answer.views.sort_by_key(|v| std::cmp::Reverse(v.events));
    answer.more = answer.views.len().saturating_sub(limit) as u64;
    answer.views.truncate(limit);
    Ok(())
}

fn show(
    args: &ViewsArgs,
    trace: &Trace,
    name: &str,
    limit: usize,
    answer: &mut Answer,
) -> Result<(), Failure> {
    let types = ALL.iter().map(|k| k.name).chain(["thread"]);
    let typed = types.clone().find_map(|t| Some((t, name.strip_prefix(t)?.strip_prefix(':')?)));
    let (kind, name) = match typed {
        Some((kind, name)) => (Some(kind), name),
        None => (args.kind.as_deref(), name),
    };
    let fits = |title: &str| {
        title == name || title.split('(').next() == Some(name) || std::path::Path::new(title).ends_with(name)
    };
    if kind.is_none_or(|k| k == "thread")
        && let Some((view, range)) = threads(trace).find(|t| t.0.name == name)
    {
        answer.views.push(view);
        answer.more = range.len().saturating_sub(limit) as u64;
        answer.entries = range.take(limit).map(|e| entry(trace, e)).collect();
        return Ok(());
    }
    for view_type in ALL.iter().filter(|k| kind.is_none_or(|kind| kind == k.name)) {
        let index = index(trace, view_type)?;
        let found = index.views().iter().find(|v| fits(&(view_type.title)(trace, **v)));
        if let Some(view) = found {
            answer.views.push(View {
                r#type: view_type.name,
                name: (view_type.title)(trace, *view),
                events: index.len_of(*view),
                before: None,
                after: None,
            });
            answer.more = index.len_of(*view).saturating_sub(limit as u64);
            answer.entries = index.events(*view).take(limit).map(|e| entry(trace, e as usize)).collect();
            return Ok(());
        }
    }
    Err(Failure::new(Exit::No, format!("{} has no view {name:?}", args.dir.display()))
        .hint("`relapse views DIR --all` lists all views."))
}

/// An event, its neighbours, and the views it belongs to.
fn around(trace: &Trace, event: usize, answer: &mut Answer) -> Result<(), Failure> {
    if event >= trace.len() {
        return Err(Failure::new(Exit::Usage, format!("there is no event {event}"))
            .hint(format!("There are {}, counted from 0.", grouped(trace.len() as u64))));
    }
    let last = (event + 6).min(trace.len());
    answer.entries = (event.saturating_sub(5)..last).map(|e| entry(trace, e)).collect();
    answer.views.extend(threads(trace).find(|t| t.1.contains(&event)).map(|t| t.0));
    for kind in &ALL {
        let Some(view) = (kind.naming)(trace, trace.row(event)) else { continue };
        let index = index(trace, kind)?;
        let mut near = Vec::new();
        index.around(view, event as u32, 2, &mut near);
        let at = near.iter().position(|e| *e as usize == event);
        let neighbour = |at: Option<usize>| at.and_then(|at| near.get(at)).map(|e| *e as usize);
        answer.views.push(View {
            r#type: kind.name,
            name: (kind.title)(trace, view),
            events: index.len_of(view),
            before: neighbour(at.and_then(|at| at.checked_sub(1))),
            after: neighbour(at.map(|at| at + 1)),
        });
    }
    Ok(())
}

fn write(session: &mut Session, args: &ViewsArgs, answer: &Answer) -> Result<(), Failure> {
    let paint = session.paint;
    if args.name.is_none() {
        if args.event.is_none() {
            writeln!(
                session.out,
                "{} of {}.\n",
                counted(answer.events, "event"),
                counted(answer.instructions, "instruction")
            )?;
        }
        let placed = args.event.is_some();
        let mut table = match placed {
            true => Table::new(&["type", ">events", ">before", ">after", "name"]),
            false => Table::new(&["type", ">events", "name"]),
        };
        for view in &answer.views {
            let mut row = vec![view.r#type.to_owned(), grouped(view.events)];
            if placed {
                let number = |n: Option<usize>| n.map_or_else(String::new, |n| n.to_string());
                row.extend([number(view.before), number(view.after)]);
            }
            row.push(view.name.clone());
            table.row(row);
        }
        table.write(&mut session.out, paint)?;
    } else if let Some(view) = answer.views.first() {
        writeln!(
            session.out,
            "{} {}: {}",
            view.r#type,
            paint.name(&view.name),
            counted(view.events, "event")
        )?;
    }
    if !answer.entries.is_empty() {
        writeln!(session.out)?;
        let mut table = Table::new(&[">event", "function", "place", "what"]);
        for e in &answer.entries {
            let place =
                if e.line == 0 { String::new() } else { format!("{}:{}", source::short(&e.file), e.line) };
            let mark = if Some(e.event) == args.event { "> " } else { "" };
            table.row([format!("{mark}{}", e.event), e.function.clone(), place, e.text.clone()]);
        }
        table.write(&mut session.out, paint)?;
    }
    if answer.more > 0 {
        writeln!(session.out, "... and {}; --all shows them.", grouped(answer.more))?;
    }
    Ok(())
}
