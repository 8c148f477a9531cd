//! Parses text to a syntax tree, with tree-sitter's grammar for C.
//!
//! The grammar has no rule for a single expression, so the text is parsed as the operand of a
//! `return` statement. The grammar does not know either which names are types; where that matters,
//! the tree keeps the information that the evaluation needs to decide
//! ([`crate::ast::Expr::parenthesised`]).

use crate::ast::{Binary, Expr, ExprKind, Expression, Span, TypeName, Unary};
use crate::error::{Error, Kind};
use crate::literals;
use tree_sitter::{Node, Parser};

const BEFORE: &str = "void f(void) { return (\n";
const AFTER: &str = "\n); }";

/// Maximum depth of a tree. Deeper trees are rejected.
const MAX_DEPTH: usize = 200;

/// Parses an expression.
///
/// # Errors
/// If the text is not an expression, or has parts that cannot be evaluated over a recording.
pub fn parse(text: &str) -> Result<Expression, Error> {
    let whole = 0..text.len();
    if text.trim().is_empty() {
        return Err(Error { kind: Kind::Empty, span: whole });
    }
    let source = format!("{BEFORE}{text}{AFTER}");
    let mut parser = Parser::new();
    let tree = parser
        .set_language(&tree_sitter_c::LANGUAGE.into())
        .ok()
        .and_then(|()| parser.parse(&source, None))
        .ok_or(Error { kind: Kind::Unsupported("the expression"), span: whole.clone() })?;
    let reader = Reader { text, source: &source };
    reader.check(tree.root_node())?;
    let inside = (BEFORE.len() - 1, BEFORE.len() + text.len() + 1);
    let outer = tree.root_node().descendant_for_byte_range(inside.0 - 1, inside.1 + 1);
    // The text `a) + (b` would close our parenthesis.
    let outer = outer.filter(|n| n.kind() == "parenthesized_expression" && n.start_byte() == inside.0 - 1);
    let Some(inner) = outer.and_then(|n| only_child(n)) else {
        let kind = Kind::Unexpected(")".to_owned());
        return Err(Error { kind, span: text.find(')').map_or(whole, |at| at..at + 1) });
    };
    Ok(Expression { text: text.to_owned(), root: reader.expr(inner, MAX_DEPTH)? })
}

/// The child that is not a comment.
fn only_child(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|n| n.kind() != "comment")
}

struct Reader<'t> {
    text: &'t str,
    source: &'t str,
}

impl Reader<'_> {
    /// The bytes of the expression's text that a node covers.
    fn span(&self, node: Node<'_>) -> Span {
        let at = |byte: usize| byte.saturating_sub(BEFORE.len()).min(self.text.len());
        at(node.start_byte())..at(node.end_byte())
    }

    fn text(&self, node: Node<'_>) -> &str {
        &self.source[node.byte_range()]
    }

    fn unsupported<T>(&self, node: Node<'_>, what: &'static str) -> Result<T, Error> {
        Err(Error { kind: Kind::Unsupported(what), span: self.span(node) })
    }

    /// Returns the first error of the grammar.
    fn check(&self, root: Node<'_>) -> Result<(), Error> {
        if !root.has_error() {
            return Ok(());
        }
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            if node.is_missing() {
                let what = match node.kind() {
                    "identifier" => "an operand".to_owned(),
                    "field_identifier" => "the name of a member".to_owned(),
                    token => format!("{token:?}"),
                };
                return Err(Error { kind: Kind::Missing(what), span: self.span(node) });
            }
            if node.is_error() {
                let span = self.span(node);
                let part = self.text.get(span.clone()).unwrap_or_default().trim().to_owned();
                let part = if part.is_empty() { "the end".to_owned() } else { part };
                return Err(Error { kind: Kind::Unexpected(part), span });
            }
            if node.has_error() && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    let span = 0..self.text.len();
                    return Err(Error { kind: Kind::Unexpected(self.text.to_owned()), span });
                }
            }
        }
    }

    fn child(&self, node: Node<'_>, field: &str, depth: usize) -> Result<Box<Expr>, Error> {
        match node.child_by_field_name(field) {
            Some(child) => Ok(Box::new(self.expr(child, depth)?)),
            None => self.unsupported(node, "this"),
        }
    }

    fn expr(&self, node: Node<'_>, depth: usize) -> Result<Expr, Error> {
        let span = self.span(node);
        let Some(depth) = depth.checked_sub(1) else { return Err(Error { kind: Kind::TooDeep, span }) };
        if node.kind() == "parenthesized_expression" {
            let Some(inner) = only_child(node) else { return self.unsupported(node, "this") };
            let inner = self.expr(inner, depth)?;
            return Ok(Expr { span, parenthesised: true, ..inner });
        }
        let kind = self.kind(node, depth)?;
        Ok(Expr { kind, span, parenthesised: false })
    }

    fn kind(&self, node: Node<'_>, depth: usize) -> Result<ExprKind, Error> {
        let text = self.text(node);
        let bad_literal = || Error { kind: Kind::Unexpected(text.to_owned()), span: self.span(node) };
        Ok(match node.kind() {
            "identifier" => ExprKind::Name(text.to_owned()),
            "number_literal" => {
                let (sign, digits) = match text.as_bytes().first() {
                    Some(b'-') => (Some(Unary::Minus), &text[1..]),
                    Some(b'+') => (Some(Unary::Plus), &text[1..]),
                    _ => (None, text),
                };
                let number = literals::number(digits).ok_or_else(bad_literal)?;
                match sign {
                    None => number,
                    Some(sign) => {
                        let of = Expr { kind: number, span: self.span(node), parenthesised: false };
                        ExprKind::Unary(sign, Box::new(of))
                    }
                }
            }
            "char_literal" => literals::character(text).ok_or_else(bad_literal)?,
            "string_literal" => ExprKind::Text(self.string(node).ok_or_else(bad_literal)?),
            "concatenated_string" => {
                let mut cursor = node.walk();
                let parts = node.named_children(&mut cursor).filter(|n| n.kind() != "comment");
                let parts: Option<Vec<Vec<u8>>> = parts.map(|n| self.string(n)).collect();
                ExprKind::Text(parts.ok_or_else(bad_literal)?.concat())
            }
            "null" => ExprKind::Null,
            "true" | "false" => ExprKind::Integer { value: (text == "true").into(), bytes: 4, signed: true },
            "unary_expression" | "pointer_expression" => {
                let operator = match self.operator(node) {
                    "+" => Unary::Plus,
                    "-" => Unary::Minus,
                    "~" => Unary::Complement,
                    "!" => Unary::Not,
                    "*" => Unary::Dereference,
                    "&" => Unary::AddressOf,
                    _ => return self.unsupported(node, "this operator"),
                };
                ExprKind::Unary(operator, self.child(node, "argument", depth)?)
            }
            "binary_expression" => {
                let Some(operator) = binary(self.operator(node)) else {
                    return self.unsupported(node, "this operator");
                };
                ExprKind::Binary(
                    operator,
                    self.child(node, "left", depth)?,
                    self.child(node, "right", depth)?,
                )
            }
            "conditional_expression" => ExprKind::Conditional(Box::new([
                *self.child(node, "condition", depth)?,
                *self.child(node, "consequence", depth)?,
                *self.child(node, "alternative", depth)?,
            ])),
            "field_expression" => {
                let Some(field) = node.child_by_field_name("field") else {
                    return self.unsupported(node, "this");
                };
                ExprKind::Member {
                    of: self.child(node, "argument", depth)?,
                    name: self.text(field).to_owned(),
                    name_span: self.span(field),
                    arrow: self.operator(node) == "->",
                }
            }
            "subscript_expression" => {
                ExprKind::Index(self.child(node, "argument", depth)?, self.child(node, "index", depth)?)
            }
            "cast_expression" => {
                let Some(ty) = node.child_by_field_name("type") else {
                    return self.unsupported(node, "this");
                };
                ExprKind::Cast(self.type_name(ty)?, self.child(node, "value", depth)?)
            }
            "sizeof_expression" => match node.child_by_field_name("type") {
                Some(ty) => ExprKind::SizeOfType(self.type_name(ty)?),
                None => ExprKind::SizeOf(self.child(node, "value", depth)?),
            },
            "call_expression" => {
                let mut arguments = Vec::new();
                if let Some(list) = node.child_by_field_name("arguments") {
                    let mut cursor = list.walk();
                    for argument in list.named_children(&mut cursor).filter(|n| n.kind() != "comment") {
                        arguments.push(self.expr(argument, depth)?);
                    }
                }
                ExprKind::Call(self.child(node, "function", depth)?, arguments)
            }
            "assignment_expression" => return self.unsupported(node, "an assignment (is == meant?)"),
            "update_expression" => return self.unsupported(node, "++ or --"),
            "comma_expression" => return self.unsupported(node, "a comma"),
            _ => return self.unsupported(node, "this"),
        })
    }

    fn operator(&self, node: Node<'_>) -> &str {
        node.child_by_field_name("operator").map_or("", |n| self.text(n))
    }

    fn string(&self, node: Node<'_>) -> Option<Vec<u8>> {
        literals::unescaped(self.text(node).strip_prefix('"')?.strip_suffix('"')?)
    }

    fn type_name(&self, node: Node<'_>) -> Result<TypeName, Error> {
        let Some(base) = node.child_by_field_name("type") else {
            return self.unsupported(node, "this type");
        };
        if base.child_by_field_name("body").is_some() {
            return self.unsupported(node, "the definition of a type");
        }
        let mut pointers = 0;
        let mut declarator = node.child_by_field_name("declarator");
        while let Some(d) = declarator {
            if d.kind() != "abstract_pointer_declarator" {
                return self.unsupported(node, "this type");
            }
            pointers += 1;
            declarator = d.child_by_field_name("declarator");
        }
        let words: Vec<&str> = self.text(base).split_whitespace().collect();
        Ok(TypeName { base: words.join(" "), pointers, span: self.span(node) })
    }
}

fn binary(operator: &str) -> Option<Binary> {
    Some(match operator {
        "+" => Binary::Add,
        "-" => Binary::Subtract,
        "*" => Binary::Multiply,
        "/" => Binary::Divide,
        "%" => Binary::Remainder,
        "<<" => Binary::ShiftLeft,
        ">>" => Binary::ShiftRight,
        "&" => Binary::BitAnd,
        "|" => Binary::BitOr,
        "^" => Binary::BitXor,
        "<" => Binary::Less,
        "<=" => Binary::LessOrEqual,
        ">" => Binary::Greater,
        ">=" => Binary::GreaterOrEqual,
        "==" => Binary::Equal,
        "!=" => Binary::NotEqual,
        "&&" => Binary::And,
        "||" => Binary::Or,
        _ => return None,
    })
}
