//! Explanations as text, page, JSON and SARIF.
