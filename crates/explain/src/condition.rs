//! Conditions as their source line has them.
//!
//! A branch tests what the compiler derived from its line: `x` where the line has `!x`, or one operand after
//! the other for `a && b`. A sentence about the branch must be true of the text of the line.

/// A condition as computed, and as the source line has it.
pub struct Condition<'f> {
    /// As computed: `x != 0`.
    pub computed: &'f str,
    /// As the source line has it: `!x`; the same as `computed` if the line has another form.
    pub written: String,
    /// Each condition holds exactly if the other does not.
    pub is_turned: bool,
}

impl<'f> Condition<'f> {
    /// Converts `x != 0` to `x`, or negated to `!x`, if the line has that form.
    #[must_use]
    pub fn of(computed: &'f str, line: &str) -> Condition<'f> {
        let as_computed = Condition { computed, written: computed.to_owned(), is_turned: false };
        let (operand, is_zero) = match (computed.strip_suffix(" != 0"), computed.strip_suffix(" == 0")) {
            (Some(operand), _) => (operand, false),
            (_, Some(operand)) => (operand, true),
            _ => return as_computed,
        };
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        let is_path = |c: char| is_of_name(c) || "->.".contains(c);
        if operand.is_empty() || !operand.chars().all(is_path) {
            return as_computed;
        }
        let mut signs = line.match_indices(operand).filter_map(|(at, _)| {
            let (before, after) = (&line[..at], line[at + operand.len()..].trim_start());
            let is_whole = !before.ends_with(is_path) && !line[at + operand.len()..].starts_with(is_path);
            // As an operand of a comparison, assignment or arithmetic it is another condition.
            let is_alone = after.is_empty()
                || after.starts_with([')', ';', '?'])
                || after.starts_with("&&")
                || after.starts_with("||");
            let before = before.trim_end();
            // Distinguishes the parenthesis of a condition from that of a call.
            let is_call = |before: &str| {
                let word = before.trim_end().rsplit(|c: char| !is_of_name(c)).next().unwrap_or_default();
                !matches!(word, "" | "if" | "while" | "for" | "return")
            };
            let opens = |before: &str| match before.strip_suffix('(') {
                Some(before) => !is_call(before),
                None => before.is_empty() || before.ends_with(['&', '|', '!', ';']),
            };
            (is_whole && is_alone && opens(before)).then(|| before.ends_with('!'))
        });
        match (signs.next(), signs.next()) {
            (Some(is_negated), None) => Condition {
                written: format!("{}{operand}", if is_negated { "!" } else { "" }),
                is_turned: is_negated != is_zero,
                computed,
            },
            _ => as_computed,
        }
    }
}

/// Whether the branches of a line test its whole condition as written in the source. Unknown for a macro.
#[must_use]
pub fn has_one_test(text: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let negated = text.match_indices('!').any(|(at, _)| text.as_bytes().get(at + 1) != Some(&b'='));
    let is_macro = |before: &str| {
        let word = before.rsplit(|c: char| !is_of_name(c)).next().unwrap_or_default();
        word.contains(|c: char| c.is_ascii_uppercase()) && !word.contains(|c: char| c.is_ascii_lowercase())
    };
    let has_macro = text.match_indices('(').any(|(at, _)| is_macro(&text[..at]));
    !negated && !has_macro && !["&&", "||", "?"].iter().any(|sign| text.contains(sign))
}

/// The operand that a line negates before it branches: `x` of `if (!x)`. Branches test it, not its negation.
#[must_use]
pub fn negated(text: &str) -> Option<&str> {
    let from = ["if (", "while ("].iter().find_map(|word| Some(text.find(word)? + word.len()))?;
    let operand = text[from..].strip_prefix('!')?;
    let (mut depth, mut last) = (0u32, ' ');
    for (at, sign) in operand.char_indices() {
        match sign {
            '(' | '[' => depth += 1,
            ')' if depth == 0 => return (at > 0).then(|| &operand[..at]),
            ')' | ']' => depth = depth.checked_sub(1)?,
            '>' if last == '-' => {}
            '=' | '<' | '>' | '?' | '&' | '|' | '+' | '*' | '/' | '%' | '^' | '!' if depth == 0 => {
                return None;
            }
            _ => {}
        }
        last = sign;
    }
    None
}

/// The operand of a `switch`, as written in its line.
#[must_use]
pub fn switched(text: &str) -> Option<&str> {
    let operand = text.trim_start().strip_prefix("switch")?.trim_start().strip_prefix('(')?;
    let mut depth = 1_u32;
    for (at, sign) in operand.char_indices() {
        depth = match sign {
            '(' => depth + 1,
            ')' => depth - 1,
            _ => depth,
        };
        if depth == 0 {
            return Some(operand[..at].trim()).filter(|operand| !operand.is_empty());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_told_as_their_line_has_them() {
        let of = |computed: &str, line: &str| {
            let Condition { written, is_turned, .. } = Condition::of(computed, line);
            (written, is_turned)
        };
        assert_eq!(of("t != 0", "if (!t) {"), ("!t".to_owned(), true));
        assert_eq!(of("t == 0", "if (!t)"), ("!t".to_owned(), false));
        assert_eq!(of("p->next != 0", "while (p->next && n)"), ("p->next".to_owned(), false));
        assert_eq!(of("p->next == 0", "while (p->next && n)"), ("p->next".to_owned(), true));
        for line in ["if (t != 0)", "if (t == NULL)", "if (!t || (n && t))", "if (!next(t))", "if (!t->n)"] {
            assert_eq!(of("t != 0", line), ("t != 0".to_owned(), false), "{line}");
        }
        assert_eq!(of("n > 4", "if (!(n <= 4))"), ("n > 4".to_owned(), false));
    }

    #[test]
    fn a_line_with_several_tests_has_not_one() {
        for line in ["if (x == 0)", "while (i < n) {", "for (i = 0; i < f(n); i++)", "if (a != b)"] {
            assert!(has_one_test(line), "{line}");
        }
        for line in ["if (!x)", "if (a && b)", "x = a ? b : c;", "if (IS_VALUE(t))", "CHECK_END();"] {
            assert!(!has_one_test(line), "{line}");
        }
    }

    #[test]
    fn what_a_switch_decides_by_is_in_its_brackets() {
        assert_eq!(switched("    switch (node->head.type) {"), Some("node->head.type"));
        assert_eq!(switched("switch (next(at))"), Some("next(at)"));
        for line in ["case 1:", "switch (a +", "switched(x);", "switch () {"] {
            assert_eq!(switched(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_negated_is_what_is_tested() {
        assert_eq!(negated("    if (!empty)"), Some("empty"));
        assert_eq!(negated("} else if (!list->next) {"), Some("list->next"));
        assert_eq!(negated("while (!is_end(at, 1 + n))"), Some("is_end(at, 1 + n)"));
        assert_eq!(negated("if (!a && b)"), None);
        assert_eq!(negated("if (!a == b)"), None);
        assert_eq!(negated("if (a != b)"), None);
        assert_eq!(negated("x = !y;"), None);
    }
}
