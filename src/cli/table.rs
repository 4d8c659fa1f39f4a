//! Columns with a header, each as wide as its widest cell.

use std::io::{self, Write};

pub(super) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(header: [&str; N]) -> Self {
        Self { rows: vec![header.map(String::from)] }
    }

    pub(super) fn row(&mut self, cells: [String; N]) {
        // A name that a stranger chose must not write to the terminal.
        self.rows.push(cells.map(|it| it.replace(char::is_control, "?")));
    }

    /// The lines, the header first, without their ends.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let widths: [usize; N] = std::array::from_fn(|at| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            cells.map(|it| it.chars().count()).max().unwrap_or(0)
        });
        self.rows.iter().map(move |row| {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.lines().try_for_each(|line| writeln!(out, "{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["NAME", "N"]);
        table.row(["a-long-name".into(), "1".into()]);
        table.row(["ü\n".into(), "22".into()]);
        let lines: Vec<String> = table.lines().collect();
        assert_eq!(lines, ["NAME         N", "a-long-name  1", "ü?           22"]);
    }
}
