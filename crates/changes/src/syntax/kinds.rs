//! The node kinds and fields of the grammars that are used here, as small numbers.
//!
//! A grammar names its nodes by text and assigns its own numbers. The tables here translate a grammar's
//! number once, so that a walk over millions of nodes compares no text, and C and C++ share the same code.

use std::num::NonZeroU16;
use std::sync::LazyLock;
use tree_sitter::Language;

/// The kind of a node, as far as splitting and naming depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Other,
    Root,
    Comment,
    Comma,
    // Lists of independent members.
    Block,
    Declarations,
    Fields,
    Enumerators,
    Initialisers,
    Case,
    // Members that need special treatment.
    Function,
    Lambda,
    Loop,
    For,
    Switch,
    Catch,
    If,
    Break,
    Continue,
    Return,
    Access,
    Labelled,
    Goto,
    // Declarations and their components.
    Declaration,
    FieldDeclaration,
    Parameters,
    Parameter,
    Typedef,
    Enumerator,
    Aggregate,
    Alias,
    Define,
    DefineParameters,
    Directive,
    Init,
    Pointer,
    Array,
    Callable,
    Wrapped,
    Qualified,
    Linkage,
    Namespace,
    Template,
    StorageClass,
    Qualifier,
    SizedType,
    PrimitiveType,
    // Expressions.
    Assignment,
    Update,
    AddressOrDereference,
    Subscript,
    Member,
    Call,
    Arguments,
    Operation,
    Parenthesised,
    Cast,
    // Leaves.
    Identifier,
    TypeName,
    FieldName,
    LabelName,
    MacroText,
}

/// The field of its parent that a node is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    None,
    Other,
    Declarator,
    Left,
    Argument,
    Member,
    Name,
    Value,
    Label,
}

impl Kind {
    fn of(name: &str) -> Kind {
        match name {
            "translation_unit" => Kind::Root,
            "comment" => Kind::Comment,
            "," => Kind::Comma,
            "compound_statement" => Kind::Block,
            "declaration_list" => Kind::Declarations,
            "field_declaration_list" => Kind::Fields,
            "enumerator_list" => Kind::Enumerators,
            "initializer_list" => Kind::Initialisers,
            "case_statement" => Kind::Case,
            "function_definition" => Kind::Function,
            "lambda_expression" => Kind::Lambda,
            "while_statement" | "do_statement" => Kind::Loop,
            "for_statement" | "for_range_loop" => Kind::For,
            "switch_statement" => Kind::Switch,
            "catch_clause" => Kind::Catch,
            "if_statement" => Kind::If,
            "break_statement" => Kind::Break,
            "continue_statement" => Kind::Continue,
            "return_statement" | "throw_statement" | "co_return_statement" => Kind::Return,
            "access_specifier" => Kind::Access,
            "labeled_statement" => Kind::Labelled,
            "goto_statement" => Kind::Goto,
            "declaration" => Kind::Declaration,
            "field_declaration" => Kind::FieldDeclaration,
            "parameter_list" => Kind::Parameters,
            "parameter_declaration" | "optional_parameter_declaration" => Kind::Parameter,
            "type_definition" => Kind::Typedef,
            "enumerator" => Kind::Enumerator,
            "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier" => Kind::Aggregate,
            "alias_declaration" => Kind::Alias,
            "preproc_def" | "preproc_function_def" => Kind::Define,
            "preproc_params" => Kind::DefineParameters,
            "preproc_call" => Kind::Directive,
            "init_declarator" => Kind::Init,
            "pointer_declarator" | "pointer_type_declarator" => Kind::Pointer,
            "array_declarator" => Kind::Array,
            "function_declarator" => Kind::Callable,
            "parenthesized_declarator" | "attributed_declarator" | "reference_declarator" => Kind::Wrapped,
            "qualified_identifier" => Kind::Qualified,
            "linkage_specification" => Kind::Linkage,
            "namespace_definition" => Kind::Namespace,
            "template_declaration" => Kind::Template,
            "storage_class_specifier" => Kind::StorageClass,
            "type_qualifier" => Kind::Qualifier,
            "sized_type_specifier" => Kind::SizedType,
            "primitive_type" => Kind::PrimitiveType,
            "assignment_expression" => Kind::Assignment,
            "update_expression" => Kind::Update,
            "pointer_expression" => Kind::AddressOrDereference,
            "subscript_expression" => Kind::Subscript,
            "field_expression" => Kind::Member,
            "call_expression" => Kind::Call,
            "argument_list" => Kind::Arguments,
            "binary_expression" => Kind::Operation,
            "parenthesized_expression" => Kind::Parenthesised,
            "cast_expression" => Kind::Cast,
            "identifier" | "namespace_identifier" => Kind::Identifier,
            "type_identifier" => Kind::TypeName,
            "field_identifier" => Kind::FieldName,
            "statement_identifier" => Kind::LabelName,
            "preproc_arg" => Kind::MacroText,
            _ => Kind::Other,
        }
    }

    /// A list whose members can be separated.
    pub fn is_list(self) -> bool {
        matches!(
            self,
            Kind::Root
                | Kind::Block
                | Kind::Declarations
                | Kind::Fields
                | Kind::Enumerators
                | Kind::Initialisers
                | Kind::Case
        )
    }

    /// A list whose members are separated by commas.
    pub fn has_commas(self) -> bool {
        matches!(self, Kind::Enumerators | Kind::Initialisers)
    }

    /// A list without a closing token: it ends where the next member begins.
    pub fn is_open_ended(self) -> bool {
        self == Kind::Case
    }

    pub fn is_loop(self) -> bool {
        matches!(self, Kind::Loop | Kind::For)
    }

    pub fn is_jump(self) -> bool {
        matches!(self, Kind::Break | Kind::Continue | Kind::Return | Kind::Goto)
    }

    /// Part of the syntax between a declaration and the name it declares.
    pub fn is_declarator(self) -> bool {
        matches!(self, Kind::Init | Kind::Pointer | Kind::Array | Kind::Callable | Kind::Wrapped)
    }
}

impl Field {
    fn of(name: &str) -> Field {
        match name {
            "declarator" => Field::Declarator,
            "left" => Field::Left,
            "argument" => Field::Argument,
            "field" => Field::Member,
            "name" => Field::Name,
            "value" => Field::Value,
            "label" => Field::Label,
            _ => Field::Other,
        }
    }
}

/// A grammar with its numbers translated.
pub(super) struct Grammar {
    pub language: Language,
    kinds: Vec<Kind>,
    fields: Vec<Field>,
}

impl Grammar {
    fn new(language: Language) -> Grammar {
        let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let kinds =
            (0..count).map(|id| language.node_kind_for_id(id).map_or(Kind::Other, Kind::of)).collect();
        // Fields count from 1.
        let count = u16::try_from(language.field_count() + 1).unwrap_or(u16::MAX);
        let fields =
            (0..count).map(|id| language.field_name_for_id(id).map_or(Field::None, Field::of)).collect();
        Grammar { language, kinds, fields }
    }

    pub fn kind(&self, id: u16) -> Kind {
        self.kinds.get(usize::from(id)).copied().unwrap_or(Kind::Other)
    }

    pub fn field(&self, id: Option<NonZeroU16>) -> Field {
        id.and_then(|id| self.fields.get(usize::from(id.get())).copied()).unwrap_or(Field::None)
    }
}

pub(super) static C: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(tree_sitter_c::LANGUAGE.into()));
pub(super) static CPP: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(tree_sitter_cpp::LANGUAGE.into()));
