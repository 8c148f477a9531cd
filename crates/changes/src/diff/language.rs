//! The minimum knowledge of a language that separates code from comments and spaces.

/// Families of languages with the same comment syntax and the same meaning of white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Language {
    pub comments: Comments,
    /// White space within a line only separates tokens.
    pub free_space: bool,
    /// A line end is equivalent to white space.
    pub free_lines: bool,
    /// `'` opens a character literal only if another one closes it soon (Rust).
    pub lifetimes: bool,
    /// A backtick opens a string that may span lines.
    pub backticks: bool,
    /// `"""` and `'''` open strings that may span lines.
    pub triple_quotes: bool,
    /// `#` at the beginning of a line starts a preprocessor directive.
    pub directives: bool,
}

/// Syntax of comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comments {
    /// `//` and `/* */`
    Slashes,
    /// `#` at the beginning or after a space
    Hash,
    /// No known comment syntax.
    Nothing,
}

const PLAIN: Language = Language {
    comments: Comments::Nothing,
    free_space: false,
    free_lines: false,
    lifetimes: false,
    backticks: false,
    triple_quotes: false,
    directives: false,
};
const C: Language =
    Language { comments: Comments::Slashes, free_space: true, free_lines: true, directives: true, ..PLAIN };
const HASH: Language = Language { comments: Comments::Hash, ..PLAIN };

impl Language {
    /// The language by file name. A file of unknown type is plain text, in which every byte is significant.
    pub fn of(path: &str) -> Language {
        let name = path.rsplit('/').next().unwrap_or(path);
        let lower = name.to_ascii_lowercase();
        if matches!(lower.as_str(), "makefile" | "gnumakefile" | "dockerfile" | "meson.build") {
            return HASH;
        }
        if lower == "cmakelists.txt" {
            return Language { free_space: true, free_lines: true, ..HASH };
        }
        let Some((_, extension)) = lower.rsplit_once('.') else { return PLAIN };
        match extension {
            "c" | "h" | "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "inc" | "inl"
            | "ipp" | "def" | "y" | "l" | "m" | "mm" | "cu" | "cl" | "glsl" => C,
            "java" | "cs" | "proto" => Language { directives: false, ..C },
            "rs" => Language { lifetimes: true, directives: false, ..C },
            "js" | "ts" | "mjs" | "go" | "kt" | "swift" | "scala" => {
                Language { free_lines: false, backticks: true, directives: false, ..C }
            }
            "py" => Language { triple_quotes: true, ..HASH },
            "cmake" => Language { free_space: true, free_lines: true, ..HASH },
            "toml" => Language { free_space: true, triple_quotes: true, ..HASH },
            "mk" | "mak" | "am" | "ac" | "sh" | "bash" | "zsh" | "pl" | "pm" | "rb" | "tcl" | "awk"
            | "yml" | "yaml" => HASH,
            _ => PLAIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_language() {
        assert_eq!(Language::of("src/main.c"), C);
        assert_eq!(Language::of("a/Makefile"), HASH);
        assert_eq!(Language::of("CMakeLists.txt").comments, Comments::Hash);
        assert!(Language::of("a.py").triple_quotes);
        assert_eq!(Language::of("data"), PLAIN);
        assert_eq!(Language::of("data.txt"), PLAIN);
        assert!(!Language::of("build.mk").free_space);
    }
}
