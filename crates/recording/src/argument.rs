//! One argument of a process: bytes, which are mostly text.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// An argument as the process got it, without the NUL byte at its end. In JSON it is a string if it is UTF-8,
/// as in recordings by earlier versions, else a list of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Argument(Vec<u8>);

impl Argument {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text to show: invalid UTF-8 is replaced, so different arguments may have the same.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl From<&[u8]> for Argument {
    fn from(bytes: &[u8]) -> Argument {
        Argument(bytes.to_vec())
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Argument {
        text.as_bytes().into()
    }
}

impl Serialize for Argument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => self.0.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Argument, D::Error> {
        deserializer.deserialize_any(ArgumentVisitor)
    }
}

struct ArgumentVisitor;

impl<'de> Visitor<'de> for ArgumentVisitor {
    type Value = Argument;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of bytes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Argument, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Argument, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(Argument(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_an_argument_that_is_no_text_is_a_list() {
        let all = ["-x".into(), Argument::from("é"), Argument::from(&[b'a', 0xff][..])];
        let json = serde_json::to_string(&all).unwrap();
        assert_eq!(json, r#"["-x","é",[97,255]]"#);
        for wrong in ["[256]", "[-1]", "{}", "1", "null", "[\"a\"]"] {
            assert!(serde_json::from_str::<Argument>(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn all_bytes_survive_json(bytes: Vec<u8>) {
            let argument = Argument::from(&bytes[..]);
            let json = serde_json::to_string(&argument).unwrap();
            prop_assert_eq!(serde_json::from_str::<Argument>(&json).unwrap(), argument);
        }
    }
}
