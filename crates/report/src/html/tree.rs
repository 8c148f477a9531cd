//! The causes as a list of rows in the order of the terminal output: from the changes down to the
//! failure. Each row is below everything that led to it. The markup is flat, because browsers limit the
//! nesting depth of elements and cause chains exceed it. Lanes show which rows belong together.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::Write as _;

use explain::answer::{Answer, Cause, ValuePair};

use crate::forest::{self, Counted, Node};
use crate::graph;
use crate::text::escape;
use crate::words;

/// Number of lanes drawn; deeper rows are in the last one.
const LANES: usize = 14;
/// Number of differing values shown in a row; the panel lists all of them.
const VALUES: usize = 6;

/// Writes the tree. A cause that only the failing test has is marked with the suspect that contains it.
pub fn render(answer: &Answer, page: &mut String) {
    let mut nodes = forest::flatten(&answer.causes);
    let order = display_order(&mut nodes);
    let (suspects, reference) = (words::only_failing(answer), answer.reference());
    let selection = forest::select(&nodes, forest::STEPS);
    let columns = columns(&nodes);
    page.push_str(
        "<div role=\"listbox\" id=\"tree\" aria-label=\"Causes, from the changes to the failure\">\n",
    );
    let mut announced = HashSet::new();
    for index in order {
        let node = &nodes[index];
        let counted = selection.counted[index];
        if counted != Counted::Shown && announced.insert(counted) {
            gap(&nodes, &columns, index, counted, &selection, page);
        }
        let suspect = suspects.get(&node.cause.id).copied();
        row(&nodes, &columns, index, counted, suspect, reference, page);
    }
    page.push_str("</div>\n");
}

/// The order of the rows, as in the terminal: each row is below everything that led to it, and the path
/// from a change comes first. To that end, sorts the causes of each node so that the first one shown is
/// last.
fn display_order(nodes: &mut [Node<'_>]) -> Vec<usize> {
    for index in 0..nodes.len() {
        let mut children = std::mem::take(&mut nodes[index].children);
        children.sort_by_key(|&child| (nodes[child].leads_to_change, nodes[child].height, Reverse(child)));
        nodes[index].children = children;
    }
    let mut order = Vec::with_capacity(nodes.len());
    let mut open: Vec<usize> =
        (0..nodes.len()).rev().filter(|&index| nodes[index].parent.is_none()).collect();
    while let Some(index) = open.pop() {
        order.push(index);
        open.extend(nodes[index].children.iter().rev());
    }
    order.reverse();
    order
}

/// The group ID of hidden rows that are revealed together.
fn group(counted: Counted) -> String {
    match counted {
        Counted::Shown => String::new(),
        Counted::Above(index) => format!("a{index}"),
        Counted::Beside(index) => format!("b{index}"),
        Counted::Elsewhere => "e".to_owned(),
    }
}

/// The column of each node: a sole cause has the column of its effect, several causes have the next
/// column to the right.
fn columns(nodes: &[Node<'_>]) -> Vec<usize> {
    let mut columns: Vec<usize> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let column =
            node.parent.map_or(0, |parent| columns[parent] + usize::from(nodes[parent].children.len() > 1));
        columns.push(column);
    }
    columns
}

/// The lane lines to the left of a row.
fn gutter(nodes: &[Node<'_>], columns: &[usize], index: usize, page: &mut String) {
    let mut lower = index;
    let mut first = true;
    // Lanes of effects further down that also have causes above this row. Only drawn lanes matter: the
    // walk ends where the columns stop changing.
    let mut passed = [false; LANES];
    while let Some(parent) = nodes[lower].parent {
        if nodes[parent].children.len() > 1 {
            let column = columns[parent].min(LANES - 1);
            let is_last = nodes[parent].children.last() == Some(&lower);
            if first {
                let class = if is_last { "last elbow" } else { "elbow" };
                let _ = write!(page, "<i class=\"{class}\" style=\"--c:{column}\"></i>");
            } else if !is_last && !passed[column] {
                let _ = write!(page, "<i class=\"pass\" style=\"--c:{column}\"></i>");
            }
            passed[column] = true;
        } else if first {
            let _ = write!(page, "<i class=\"effect\" style=\"--c:{}\"></i>", columns[index].min(LANES - 1));
        }
        first = false;
        lower = parent;
        if columns[lower] == 0 && nodes[lower].parent.is_none_or(|parent| nodes[parent].children.len() == 1) {
            break;
        }
    }
}

fn gap(
    nodes: &[Node<'_>],
    columns: &[usize],
    index: usize,
    counted: Counted,
    selection: &forest::Selection,
    page: &mut String,
) {
    let (count, why) = match counted {
        Counted::Shown => return,
        Counted::Above(at) => (selection.above[at], "between"),
        Counted::Beside(at) => (selection.beside[at], "more"),
        Counted::Elsewhere => (selection.elsewhere, "of further failures"),
    };
    let _ = write!(
        page,
        "<div role=\"option\" class=\"row gap js-only\" tabindex=\"-1\" data-group=\"{}\" style=\"--c:{}\">",
        group(counted),
        columns[index].min(LANES - 1)
    );
    gutter(nodes, columns, index, page);
    let _ = writeln!(page, "<span class=\"body\">Show {} {why}</span></div>", graph::steps(count));
}

fn row(
    nodes: &[Node<'_>],
    columns: &[usize],
    index: usize,
    counted: Counted,
    suspect: Option<usize>,
    reference: &str,
    page: &mut String,
) {
    let node = &nodes[index];
    let cause = node.cause;
    let mut class = "row node".to_owned();
    for (add, name) in [
        (node.parent.is_none(), " failure"),
        (cause.change.is_some(), " changed"),
        (cause.kind == "missing", " missing"),
        (counted != Counted::Shown, " far"),
        (cause.values.iter().any(differs), " differs"),
    ] {
        if add {
            class.push_str(name);
        }
    }
    let _ = write!(
        page,
        "<div role=\"option\" class=\"{class}\" id=\"node-{index}\" tabindex=\"-1\" style=\"--c:{}\"",
        columns[index].min(LANES - 1),
    );
    if counted != Counted::Shown {
        let _ = write!(page, " data-in=\"{}\"", group(counted));
    }
    page.push('>');
    gutter(nodes, columns, index, page);
    if !node.children.is_empty() {
        let _ = write!(page, "<i class=\"causes\" style=\"--c:{}\"></i>", columns[index].min(LANES - 1));
    }
    page.push_str("<i class=\"dot\"></i><span class=\"body\"><span class=\"head\">");
    if let Some(place) = graph::place_of(cause) {
        let _ = write!(
            page,
            "<span class=\"where\">{}</span> <code>{}</code>",
            escape(&words::place(place)),
            escape(place.text.trim())
        );
    }
    if let Some(change) = cause.change {
        let _ = write!(page, " <a class=\"badge\" href=\"#change-{change}\" tabindex=\"-1\">#{change}</a>");
    }
    if let Some(suspect) = suspect {
        let _ = write!(
            page,
            " <a class=\"badge\" href=\"#suspect-{suspect}\" tabindex=\"-1\">only the failing test</a>"
        );
    }
    page.push_str("</span>");
    if let (Some(bad), Some(good)) = (&cause.place, &cause.good_place)
        && bad.text.trim() != good.text.trim()
    {
        let _ = write!(
            page,
            "<span class=\"was\">in {reference}: <code>{}</code></span>",
            escape(good.text.trim())
        );
    }
    if let Some(formula) = words::formula(cause) {
        let _ = write!(page, "<span class=\"was\">that is: <code>{}</code></span>", escape(formula));
    }
    if !cause.what.trim().is_empty() || !cause.how.trim().is_empty() {
        let _ = write!(page, "<span class=\"what\">{}", escape(cause.what.trim()));
        if !cause.how.trim().is_empty() {
            let _ = write!(
                page,
                " <span class=\"how\" title=\"What it is to the step below\">{}</span>",
                escape(cause.how.trim())
            );
        }
        page.push_str("</span>");
    }
    values(cause, reference, page);
    if let Some(text) = words::link(cause, reference) {
        let _ = write!(page, "<span class=\"was\">{}</span>", escape(&text));
    }
    page.push_str("</span></div>\n");
}

fn differs(value: &ValuePair) -> bool {
    value.good != value.bad
}

fn values(cause: &Cause, reference: &str, page: &mut String) {
    let different: Vec<&ValuePair> = cause.values.iter().filter(|value| differs(value)).collect();
    if different.is_empty() {
        return;
    }
    page.push_str("<span class=\"values\">");
    for value in different.iter().take(VALUES) {
        let sides = [("good", reference), ("bad", "bad")].into_iter().zip(words::sides(value, cause));
        let sides = sides.filter_map(|((class, side), text)| {
            Some(format!("{side} <b class=\"{class}\">{}</b>", escape(&text?)))
        });
        let sides = sides.collect::<Vec<_>>().join(", ");
        let _ = write!(page, "<span class=\"value\"><code>{}</code> {sides}</span> ", escape(&value.name));
    }
    if different.len() > VALUES {
        let _ = write!(page, "<span class=\"value\">and {} more</span>", different.len() - VALUES);
    }
    page.push_str("</span>");
}
