//! What was measured, a line of JSON each, written as soon as it is known: a run may be stopped anywhere and go on.

use super::{
    broker::Side,
    cell::{Cell, Task},
    figure::{Figure, Figures, median},
    measure::SHARES,
};
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::PathBuf,
};

pub(crate) struct Results {
    path: PathBuf,
    pub(crate) rows: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) cell: String,
    pub(crate) side: Side,
    pub(crate) round: u32,
    pub(crate) figures: Figures,
}

impl Results {
    pub(crate) fn open(path: PathBuf) -> Result<Self> {
        let text = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
        // A line that a kill cut short is measured again.
        let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Self { path, rows })
    }

    pub(crate) fn add(
        &mut self,
        cell: &str,
        side: Side,
        round: u32,
        figures: Figures,
    ) -> Result<()> {
        let row = Row { cell: cell.to_owned(), side, round, figures };
        let line = serde_json::to_string(&row)?;
        let file = OpenOptions::new().create(true).append(true).open(&self.path);
        writeln!(file.context("open the results")?, "{line}")?;
        eprintln!("{line}");
        self.rows.push(row);
        Ok(())
    }

    pub(crate) fn has(&self, cell: &str, side: Side, round: u32) -> bool {
        self.rows.iter().any(|it| it.cell == cell && it.side == side && it.round == round)
    }

    /// Whether some turn of a cell is missing.
    pub(crate) fn lacks(&self, cell: &Cell, rounds: u32) -> bool {
        let mut names = vec![cell.name.clone()];
        if let Task::Latency(_) = cell.task {
            names = SHARES.iter().map(|share| cell.at(*share)).collect();
        }
        let sides = [Side::Klamm, Side::Kafka];
        names.iter().any(|name| {
            sides.iter().any(|side| (0..rounds).any(|round| !self.has(name, *side, round)))
        })
    }

    pub(crate) fn median(&self, cell: &str, side: Side, figure: Figure) -> Option<f64> {
        let rows = self.rows.iter().filter(|it| it.cell == cell && it.side == side);
        median(rows.filter_map(|it| it.figures.get(figure)).collect())
    }

    /// In the order in which they were measured first.
    pub(crate) fn cells(&self) -> Vec<&str> {
        let mut cells = Vec::new();
        for row in &self.rows {
            if !cells.contains(&row.cell.as_str()) {
                cells.push(row.cell.as_str());
            }
        }
        cells
    }
}
