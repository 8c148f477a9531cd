//! Draws the causes in lanes, like a version control history: time runs downwards, from the changes to
//! the failure.
//!
//! ```text
//! ● f.c:5   if (x < y)         ◀ #1
//! │         x < y  good 1, bad 0
//! ● f.c:7   sum += y;
//! │ ● f.c:10  sum += (0 - z);  ◀ #2
//! ├─╯
//! ✗ f.c:13  assert(sum == 4);
//! ```
//!
//! A node with one cause continues that cause's lane, so a chain of three hundred steps stays in its
//! lane. A lane opens only where several causes meet.

use explain::answer::{Answer, Cause, Place};
use std::collections::BTreeMap;

use crate::forest::{self, Node, Selection};
use crate::paint::{Ink, Row, Style};
use crate::text::{cut_path, width};
use crate::words;

/// Maximum number of differing values shown per node.
const VALUES: usize = 4;

/// The causes as rows, shortened to about `style.causes` nodes. Causes that are part of a suspect are
/// marked as executed only by the failing test.
#[must_use]
pub fn draw(answer: &Answer, style: &Style) -> Vec<Row> {
    let nodes = forest::flatten(&answer.causes);
    let suspects = &words::only_failing(answer);
    let selection = forest::select(&nodes, style.causes.max(1));
    let mut drawing = Drawing {
        style,
        reference: answer.reference(),
        nodes: &nodes,
        suspects,
        selection: &selection,
        column: 0,
        rows: Vec::new(),
    };
    let trunks = drawing.trunks();
    drawing.column = drawing.text_column(&trunks);
    for (index, node) in nodes.iter().enumerate() {
        if node.parent.is_none() && selection.shown[index] {
            drawing.tree(index, &trunks);
        }
    }
    if selection.elsewhere > 0 {
        let text = format!("and {} of further failures", steps(selection.elsewhere));
        drawing.rows.push(Row::new().put(Ink::Faint, text));
    }
    if selection.shown.contains(&false) {
        let text = format!("with --steps all: all {}", steps(nodes.len()));
        drawing.rows.push(Row::new().put(Ink::Faint, text));
    }
    drawing.rows
}

/// `1 step`, `287 steps`.
#[must_use]
pub fn steps(number: usize) -> String {
    words::count(words::number(number), "step")
}

struct Drawing<'a> {
    style: &'a Style,
    /// The name of the version that bad is compared with.
    reference: &'static str,
    nodes: &'a [Node<'a>],
    suspects: &'a BTreeMap<u32, usize>,
    selection: &'a Selection,
    /// The column at which source text begins.
    column: usize,
    rows: Vec<Row>,
}

enum Task {
    /// Draw the causes of a node, then the node.
    Node(usize, usize),
    /// Hidden steps between a node and its effect.
    Gap(usize, usize),
    /// Draw the node itself; its causes are drawn.
    Itself(usize, usize),
    /// End a side lane in the lane to its left.
    Join(usize),
}

impl Drawing<'_> {
    /// For each shown node, the cause whose lane it continues: preferably one that leads to a change,
    /// and among those the one with the longest path.
    fn trunks(&self) -> Vec<Option<usize>> {
        let best = |children: &Vec<usize>| {
            children.iter().copied().max_by_key(|&child| {
                let node = &self.nodes[child];
                (node.leads_to_change, node.height, std::cmp::Reverse(child))
            })
        };
        self.selection.children.iter().map(best).collect()
    }

    /// The column at which source text begins, the same for all rows: after the longest location, but
    /// at most at two fifths of the width.
    fn text_column(&self, trunks: &[Option<usize>]) -> usize {
        let mut lanes = vec![0usize; self.nodes.len()];
        let mut column = 0;
        for (index, node) in self.nodes.iter().enumerate().filter(|&(index, _)| self.selection.shown[index]) {
            if let Some(parent) = self.selection.parent[index] {
                lanes[index] = lanes[parent] + usize::from(trunks[parent] != Some(index));
            }
            let place = width(&self.style.fit(&place_of(node.cause).map(words::place).unwrap_or_default()));
            column = column.max(2 * lanes[index] + 2 + place + 2);
        }
        column.min(self.style.width * 2 / 5)
    }

    fn tree(&mut self, root: usize, trunks: &[Option<usize>]) {
        let mut tasks = vec![Task::Node(root, 0)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Node(index, lane) => {
                    tasks.push(Task::Itself(index, lane));
                    // The stack pops in reverse order.
                    for &child in self.selection.children[index].iter().rev() {
                        if trunks[index] != Some(child) {
                            tasks.extend([
                                Task::Join(lane),
                                Task::Gap(child, lane + 1),
                                Task::Node(child, lane + 1),
                            ]);
                        }
                    }
                    if let Some(trunk) = trunks[index] {
                        tasks.extend([Task::Gap(trunk, lane), Task::Node(trunk, lane)]);
                    }
                }
                Task::Gap(index, lane) => {
                    let hidden = self.selection.above[index];
                    if hidden > 0 {
                        let row = self
                            .lanes(lane)
                            .put(Ink::Faint, self.style.signs().gap)
                            .put(Ink::Faint, format!(" {} not shown", steps(hidden)));
                        self.rows.push(row);
                    }
                }
                Task::Itself(index, lane) => self.node(index, lane),
                Task::Join(lane) => {
                    let signs = self.style.signs();
                    let row = self.lanes(lane).put(Ink::Faint, signs.join).put(Ink::Faint, signs.bend);
                    self.rows.push(row);
                }
            }
        }
    }

    /// A row that begins with the open lanes left of `lane`.
    fn lanes(&self, lane: usize) -> Row {
        Row::new().put(Ink::Faint, format!("{} ", self.style.signs().lane).repeat(lane))
    }

    fn node(&mut self, index: usize, lane: usize) {
        let (style, signs) = (self.style, self.style.signs());
        let reference = self.reference;
        let cause = self.nodes[index].cause;
        let is_failure = self.nodes[index].parent.is_none();
        if self.selection.beside[index] > 0 {
            let open = usize::from(!self.selection.children[index].is_empty());
            let text = format!("{} {} not shown", signs.gap, steps(self.selection.beside[index]));
            self.rows.push(self.lanes(lane + open).put(Ink::Faint, text));
        }

        let (sign, ink) = match () {
            () if is_failure => (signs.failure, Ink::BadMark),
            () if cause.change.is_some() => (signs.node, Ink::Link),
            () => (signs.node, Ink::Faint),
        };
        let mut head = self.lanes(lane).put(ink, sign).put(Ink::Plain, " ");
        let mut what = style.fit(cause.what.trim());
        if let Some(place) = place_of(cause) {
            let room = self.column.saturating_sub(head.width() + 2).max(8);
            let name = style.fit(&words::place(place));
            head = head
                .put(Ink::Strong, cut_path(&name, room, signs.more))
                .put(Ink::Plain, "  ")
                .pad(self.column);
            let text = style.fit(place.text.trim());
            let ink = if cause.kind == "missing" { Ink::Good } else { Ink::Plain };
            head = head.put(ink, text);
        } else {
            head = head.put(Ink::Plain, std::mem::take(&mut what));
        }
        if let Some(change) = cause.change {
            head = head.end(Ink::Link, format!("  {} #{change}", signs.change));
        }
        self.rows.push(head);

        if self.suspects.contains_key(&cause.id) {
            self.detail(lane, is_failure, |row| row.put(Ink::Link, "only with the failing test"));
        }
        if let (Some(bad), Some(good)) = (&cause.place, &cause.good_place)
            && bad.text.trim() != good.text.trim()
            && !good.text.trim().is_empty()
        {
            let text = style.fit(good.text.trim());
            self.detail(lane, is_failure, |row| {
                row.put(Ink::Faint, format!("in {reference}: ")).put(Ink::Good, text)
            });
        }
        if let Some(formula) = words::formula(cause) {
            let text = style.fit(formula);
            self.detail(lane, is_failure, |row| row.put(Ink::Faint, "that is: ").put(Ink::Plain, text));
        }
        let how = style.fit(cause.how.trim());
        if !what.is_empty() || !how.is_empty() {
            self.detail(lane, is_failure, |row| {
                let gap = if what.is_empty() || how.is_empty() { "" } else { "  " };
                let row = row.put(Ink::Plain, what).put(Ink::Plain, gap);
                if how.is_empty() { row } else { row.put(Ink::Faint, format!("{} {how}", signs.leads)) }
            });
        }
        self.values(lane, is_failure, cause);
        if let Some(text) = words::link(cause, reference) {
            self.detail(lane, is_failure, |row| row.put(Ink::Faint, text));
        }
    }

    fn values(&mut self, lane: usize, is_last: bool, cause: &Cause) {
        let (different, same): (Vec<_>, Vec<_>) =
            cause.values.iter().partition(|value| value.good != value.bad);
        let names = different.iter().take(VALUES).map(|value| width(&self.style.fit(&value.name))).max();
        for value in different.iter().take(VALUES) {
            let (style, reference) = (self.style, self.reference);
            let [good, bad] = words::sides(value, cause).map(|side| side.map(|text| style.fit(&text)));
            self.detail(lane, is_last, |row| {
                let column = row.width() + names.unwrap_or(0).min(24);
                let mut row = row.put(Ink::Strong, style.fit(&value.name)).pad(column);
                let sides = [(Ink::Good, reference, good), (Ink::Bad, "bad", bad)];
                let mut before = "  ";
                for (ink, side, text) in sides {
                    let Some(text) = text else { continue };
                    row = row.put(Ink::Faint, format!("{before}{side} ")).put(ink, text);
                    before = ", ";
                }
                row
            });
        }
        let mut rest = Vec::new();
        if different.len() > VALUES {
            rest.push(format!("{} more differ", different.len() - VALUES));
        }
        if !same.is_empty() {
            let all = same.iter().take(VALUES).map(|value| {
                format!(
                    "{} = {}",
                    self.style.fit(&value.name),
                    self.style.fit(value.bad.as_deref().unwrap_or("none"))
                )
            });
            let mut all = all.collect::<Vec<_>>().join(", ");
            if same.len() > VALUES {
                all.push_str(", ...");
            }
            rest.push(format!("same in both: {all}"));
        }
        if !rest.is_empty() {
            self.detail(lane, is_last, |row| row.put(Ink::Faint, rest.join("; ")));
        }
    }

    /// A detail line below a node, at the column of source text.
    fn detail(&mut self, lane: usize, is_last: bool, fill: impl FnOnce(Row) -> Row) {
        let lanes = if is_last { self.lanes(lane) } else { self.lanes(lane + 1) };
        let row = lanes.pad(self.column);
        self.rows.push(fill(row));
    }
}

/// The location shown for a cause: that in bad, or that in good if bad did not execute it.
#[must_use]
pub fn place_of(cause: &Cause) -> Option<&Place> {
    cause.place.as_ref().or(cause.good_place.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drawn(causes: &[Cause], limit: usize) -> Vec<String> {
        let style = Style { causes: limit, ..Style::default() };
        let mut text = String::new();
        let answer = Answer { causes: causes.to_vec(), ..Answer::default() };
        for row in draw(&answer, &style) {
            row.write(&style, &mut text);
        }
        text.lines().map(str::to_owned).collect()
    }

    fn cause(id: usize) -> Cause {
        let place = Place { file: "f.c".into(), line: 1 + u32::try_from(id).unwrap(), ..Place::default() };
        Cause { id: u32::try_from(id).unwrap(), place: Some(place), ..Cause::default() }
    }

    #[test]
    fn lanes_open_only_where_causes_meet() {
        let two = Cause { children: vec![cause(2), cause(3)], ..cause(1) };
        let top = Cause { children: vec![two], ..cause(0) };
        assert_eq!(drawn(&[top], 9), ["● f.c:3", "│ ● f.c:4", "├─╯", "● f.c:2", "✗ f.c:1"]);
    }

    proptest! {
        /// Parsing the drawing gives the tree back: every node once, after all its causes, and every
        /// hidden node counted.
        #[test]
        fn the_drawing_is_the_tree(parents in proptest::collection::vec(any::<usize>(), 0..30), limit in 1usize..40) {
            let size = parents.len() + 1;
            let mut made: Vec<Cause> = (0..size).map(cause).collect();
            for index in (1..size).rev() {
                let child = made.pop().unwrap();
                made[parents[index - 1] % index].children.insert(0, child);
            }
            let rows = drawn(&made, limit);
            let mut hidden = 0;
            // Nodes whose effect has not been drawn, by lane.
            let mut waiting: Vec<Vec<usize>> = Vec::new();
            let mut shown = 0;
            for row in &rows {
                if let Some(at) = row.find('┊') {
                    hidden += row[at..].split(' ').nth(1).unwrap().parse::<usize>().unwrap();
                } else if let Some(at) = row.find(['●', '✗']) {
                    let lane = row[..at].chars().count() / 2;
                    let line: usize = row.rsplit(':').next().unwrap().parse().unwrap();
                    waiting.resize_with(waiting.len().max(lane + 2), Vec::new);
                    for below in std::mem::take(&mut waiting[lane]) {
                        // The nodes that wait in this lane lead here, possibly through hidden nodes.
                        let mut up = below;
                        while up != line - 1 {
                            prop_assert!(up > 0, "{} does not lead to {}", below, line - 1);
                            up = parents[up - 1] % up;
                        }
                    }
                    waiting[lane].push(line - 1);
                    shown += 1;
                } else if let Some(at) = row.find("├─╯") {
                    let lane = row[..at].chars().count() / 2;
                    let side = std::mem::take(&mut waiting[lane + 1]);
                    prop_assert_eq!(side.len(), 1);
                    waiting[lane].extend(side);
                }
            }
            prop_assert_eq!(shown + hidden, size);
            prop_assert_eq!(waiting.concat(), [0]);
        }
    }
}
