//! The tree of levels and its navigation: takes keys and returns commands. Independent of terminal and
//! replay; the caller computes a requested level and passes it to [`State::opened`].

use slice::phases::told::{LevelSummary, LineSummary};
use std::collections::BTreeMap;

/// A key that has a function here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Enter the phase that computed the value, or unfold.
    Right,
    /// Fold, or go back.
    Left,
    Help,
    Quit,
    /// Any other key.
    Other,
}

/// The command that a key triggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserAction {
    Nothing,
    Quit,
    /// Open the level below: for this flow of that level, or without a flow, if none of its flows is wrong.
    Open {
        level: usize,
        flow: Option<usize>,
    },
}

/// A row of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    Phase(usize),
    Flow(usize),
    /// A child of another row: a single statement, which cannot be divided further.
    End(usize),
}

/// A visible row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub level: usize,
    pub item: Item,
    pub indent: usize,
}

/// The child of a row.
#[derive(Clone, Debug)]
struct RowChild {
    what: What,
    folded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Level(usize),
    /// Index of an end.
    End(usize),
}

/// A level that was opened.
#[derive(Clone, Debug)]
struct Open {
    told: LevelSummary,
    /// Counted from 1, including skipped levels without a choice.
    depth: usize,
    below: BTreeMap<Item, RowChild>,
    /// The row it is a child of.
    parent: Option<(usize, Item)>,
}

/// The child of a row, as computed by the caller.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A level, and the number of skipped levels without a choice.
    Level {
        told: LevelSummary,
        passed: usize,
    },
    End {
        place: LineSummary,
        passed: usize,
    },
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct State {
    pub question: String,
    /// The number of executions in the whole slice.
    pub executions: usize,
    levels: Vec<Open>,
    ends: Vec<(LineSummary, usize, Item)>,
    selected: (usize, Item),
    /// The row whose child was requested and has not arrived.
    waiting: Option<(usize, Item)>,
    pub help: bool,
    pub message: Option<String>,
    /// The number of choices that the user made.
    pub choices: usize,
    /// The depth of the deepest level that was opened or skipped.
    pub deepest: usize,
}

/// The number of rows that a page key moves by.
const PAGE: usize = 10;

impl State {
    /// Starts with the first level.
    pub fn new(question: String, executions: usize, first: LevelSummary, passed: usize) -> State {
        let selected = (0, if first.phases.is_empty() { Item::Flow(0) } else { Item::Phase(0) });
        let depth = passed + 1;
        let open = Open { told: first, depth, below: BTreeMap::new(), parent: None };
        let mut state = State {
            question,
            executions,
            levels: vec![open],
            ends: Vec::new(),
            selected,
            waiting: None,
            help: false,
            message: None,
            choices: 0,
            deepest: depth,
        };
        state.select_first_flow(0);
        state
    }

    /// Selects the first flow of a level; its first row if it has none.
    fn select_first_flow(&mut self, level: usize) {
        let rows = self.rows();
        let here = || rows.iter().filter(|r| r.level == level);
        let flow = here().find(|r| matches!(r.item, Item::Flow(_)));
        if let Some(row) = flow.or_else(|| here().next()) {
            self.selected = (level, row.item);
        }
    }

    pub fn told(&self, level: usize) -> &LevelSummary {
        &self.levels[level].told
    }

    pub fn depth(&self, level: usize) -> usize {
        self.levels[level].depth
    }

    pub fn end(&self, end: usize) -> &LineSummary {
        &self.ends[end].0
    }

    pub fn selected(&self) -> (usize, Item) {
        self.selected
    }

    /// The number of flows shown, over all opened levels.
    pub fn shown(&self) -> usize {
        self.levels.iter().map(|l| l.told.flows.len()).sum()
    }

    /// The location of the fault, if the selected row is one.
    pub fn found(&self) -> Option<&LineSummary> {
        match self.selected.1 {
            Item::End(end) => Some(&self.ends[end].0),
            _ => None,
        }
    }

    /// Whether the child of a row is visible; `None` if it has no child.
    pub fn unfolded(&self, level: usize, item: Item) -> Option<bool> {
        self.levels[level].below.get(&item).map(|b| !b.folded)
    }

    /// All rows that are not hidden by folding.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        // The open levels, each with the iterator over its remaining rows.
        let mut stack = vec![(0, 0, self.items(0).into_iter())];
        while let Some((level, indent, items)) = stack.last_mut() {
            let (level, indent) = (*level, *indent);
            let Some(item) = items.next() else {
                stack.pop();
                continue;
            };
            rows.push(Row { level, item, indent });
            match self.levels[level].below.get(&item) {
                Some(RowChild { what: What::Level(below), folded: false }) => {
                    stack.push((*below, indent + 1, self.items(*below).into_iter()));
                }
                Some(RowChild { what: What::End(end), folded: false }) => {
                    rows.push(Row { level, item: Item::End(*end), indent: indent + 1 });
                }
                _ => {}
            }
        }
        rows
    }

    /// The rows of a level: phases, each followed by its flows.
    fn items(&self, level: usize) -> Vec<Item> {
        let told = &self.levels[level].told;
        let mut items = Vec::new();
        for phase in 0..told.phases.len() {
            items.push(Item::Phase(phase));
            let made = told.flows.iter().enumerate().filter(|(_, f)| f.made_in == phase);
            items.extend(made.map(|(i, _)| Item::Flow(i)));
        }
        items
    }

    pub fn press(&mut self, key: Key) -> BrowserAction {
        self.message = None;
        if self.help {
            self.help = false;
            return BrowserAction::Nothing;
        }
        let rows = self.rows();
        let at = rows.iter().position(|r| (r.level, r.item) == self.selected).unwrap_or(0);
        let last = rows.len().saturating_sub(1);
        let to = match key {
            Key::Quit => return BrowserAction::Quit,
            Key::Help => {
                self.help = true;
                return BrowserAction::Nothing;
            }
            Key::Other => return BrowserAction::Nothing,
            Key::Right => return self.right(),
            Key::Left => return self.left(),
            Key::Up => at.saturating_sub(1),
            Key::Down => at + 1,
            Key::PageUp => at.saturating_sub(PAGE),
            Key::PageDown => at + PAGE,
            Key::Home => 0,
            Key::End => last,
        };
        if let Some(row) = rows.get(to.min(last)) {
            self.selected = (row.level, row.item);
        }
        BrowserAction::Nothing
    }

    fn right(&mut self) -> BrowserAction {
        let (level, item) = self.selected;
        if let Some(below) = self.levels[level].below.get_mut(&item) {
            let folded = std::mem::replace(&mut below.folded, false);
            let what = below.what;
            if !folded {
                self.enter(what, level);
            }
            return BrowserAction::Nothing;
        }
        let told = &self.levels[level].told;
        let flow = match item {
            Item::Flow(flow) => Some(flow),
            Item::Phase(phase) if told.phases[phase].asked => None,
            Item::Phase(phase) => match told.flows.iter().rposition(|f| f.made_in == phase) {
                Some(last) => Some(last),
                None => {
                    self.message = Some("nothing that is asked about came from this phase".to_owned());
                    return BrowserAction::Nothing;
                }
            },
            Item::End(_) => {
                self.message = Some("this is one statement: it cannot be cut any further".to_owned());
                return BrowserAction::Nothing;
            }
        };
        self.waiting = Some((level, item));
        BrowserAction::Open { level, flow }
    }

    fn enter(&mut self, what: What, level: usize) {
        match what {
            What::Level(below) => self.select_first_flow(below),
            What::End(end) => self.selected = (level, Item::End(end)),
        }
    }

    fn left(&mut self) -> BrowserAction {
        let (level, item) = self.selected;
        if let Item::End(end) = item {
            self.selected = (level, self.ends[end].2);
        } else if let Some(below) = self.levels[level].below.get_mut(&item).filter(|b| !b.folded) {
            below.folded = true;
        } else if let Some(parent) = self.levels[level].parent {
            self.selected = parent;
        }
        BrowserAction::Nothing
    }

    /// Adds the requested child and selects it.
    pub fn opened(&mut self, answer: Answer) {
        let Some((level, item)) = self.waiting.take() else { return };
        self.choices += 1;
        let depth = self.levels[level].depth;
        let what = match answer {
            Answer::Level { told, passed } => {
                let depth = depth + passed + 1;
                self.deepest = self.deepest.max(depth);
                self.levels.push(Open { told, depth, below: BTreeMap::new(), parent: Some((level, item)) });
                What::Level(self.levels.len() - 1)
            }
            Answer::End { place, passed } => {
                self.deepest = self.deepest.max(depth + passed);
                self.ends.push((place, level, item));
                What::End(self.ends.len() - 1)
            }
        };
        self.levels[level].below.insert(item, RowChild { what, folded: false });
        self.enter(what, level);
    }

    /// Reports that the requested child is not available.
    pub fn refused(&mut self, why: String) {
        self.waiting = None;
        self.message = Some(why);
    }
}
