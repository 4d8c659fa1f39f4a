//! Puts a run's tables into `docs/performance.md`, between two marks; what stands around them is written by hand.

use anyhow::{Context as _, Result};
use std::{fs, path::Path};

const BEGIN: &str = "<!-- Written by `cargo xtask bench kafka --write-docs` -->\n";
const END: &str = "<!-- As far as it is written by `cargo xtask` -->";

pub(crate) fn write(root: &Path, page: &str) -> Result<()> {
    let path = root.join("docs/performance.md");
    let document = fs::read_to_string(&path)?;
    let written = replace(&document, page).context("docs/performance.md has lost its marks")?;
    Ok(fs::write(path, written)?)
}

fn replace(document: &str, page: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{page}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let document = format!("a\n{BEGIN}old{END}\nb");
        assert_eq!(replace(&document, "new"), Some(format!("a\n{BEGIN}\nnew\n{END}\nb")));
        assert_eq!(replace("no marks", "new"), None);
    }
}
