//! The tables of Markdown: medians side by side, and each measurement.

use super::{
    bare,
    broker::Side,
    cell,
    figure::{Figure, Figures},
    footprint,
    results::Results,
};

const NONE: &str = "–";

/// All that a run found.
pub(crate) fn page(results: &Results, machine: &str, command: &str) -> String {
    let raw = raw(results);
    let sections = [
        format!("Measured {machine}; by `{command}`. Medians.\n"),
        titled("Throughput, and the broker's CPU time", &throughput(results)),
        titled("Latency at shares of the slower one's maximum, in milliseconds", &latency(results)),
        titled("Start and memory", &start(results)),
        titled("The bare loop", &ceiling(results)),
        format!("<details><summary>Each measurement</summary>\n\n{raw}\n</details>\n"),
    ];
    sections.join("\n")
}

fn titled(title: &str, table: &str) -> String {
    format!("### {title}\n\n{table}")
}

fn throughput(results: &Results) -> String {
    let mut table = header(&[
        "cell",
        "MB/s, Klamm",
        "Kafka",
        "ratio",
        "of the bare loop",
        "CPU s/GB, Klamm",
        "Kafka",
        "ratio",
        "p99 ms, Klamm",
        "Kafka",
        "ratio",
    ]);
    for cell in results.cells().into_iter().filter(|it| cell::share(it).is_none()) {
        let speed = |side| results.median(cell, side, Figure::MegabytesPerSecond);
        if speed(Side::Klamm).or(speed(Side::Kafka)).is_none() {
            continue;
        }
        let bare = if cell::consumes(cell) { bare::FROM_FILE } else { bare::INTO_FILE };
        let bare = results.median(bare, Side::Bare, Figure::MegabytesPerSecond);
        let share = speed(Side::Klamm).zip(bare).map(|(own, bare)| own / bare * 100.0);
        let mut fields = vec![cell.to_owned()];
        fields.extend(pair(results, cell, Figure::MegabytesPerSecond));
        fields.push(share.map_or(NONE.to_owned(), |it| format!("{it:.0} %")));
        fields.extend(pair(results, cell, Figure::CpuSecondsPerGigabyte));
        fields.extend(pair(results, cell, Figure::P99));
        table += &line(&fields);
    }
    table
}

fn latency(results: &Results) -> String {
    const COLUMNS: [(&str, Figure); 6] = [
        ("p50", Figure::P50),
        ("p99", Figure::P99),
        ("p99.9", Figure::P999),
        ("end to end p50", Figure::EndToEndP50),
        ("p99", Figure::EndToEndP99),
        ("p99.9", Figure::EndToEndP999),
    ];
    let mut titles = vec!["cell", "broker"];
    titles.extend(COLUMNS.map(|(title, _)| title));
    let mut table = header(&titles);
    for cell in results.cells().into_iter().filter(|it| cell::share(it).is_some()) {
        for side in [Side::Klamm, Side::Kafka] {
            let mut fields = vec![cell.to_owned(), format!("{side:?}")];
            let values = COLUMNS.map(|(_, figure)| results.median(cell, side, figure));
            fields.extend(values.map(number));
            table += &line(&fields);
        }
    }
    table
}

fn start(results: &Results) -> String {
    let rows = [
        ("first start until it answers, ms", footprint::CELL, Figure::Start),
        ("restart until each of 1,000 partitions answers, ms", footprint::CELL, Figure::Restart),
        ("peak memory after that restart, MiB", footprint::CELL, Figure::PeakMemory),
        ("peak memory after all cells, MiB", cell::ALL, Figure::PeakMemory),
    ];
    let mut table = header(&["", "Klamm", "Kafka", "ratio"]);
    for (title, cell, figure) in rows {
        let mut fields = vec![title.to_owned()];
        fields.extend(pair(results, cell, figure));
        table += &line(&fields);
    }
    table
}

fn ceiling(results: &Results) -> String {
    let mut table = header(&["direction", "MB/s", "CPU s/GB"]);
    for cell in [bare::INTO_FILE, bare::FROM_FILE] {
        let figures = [Figure::MegabytesPerSecond, Figure::CpuSecondsPerGigabyte];
        let values = figures.map(|it| number(results.median(cell, Side::Bare, it)));
        table += &line(&[vec![cell.to_owned()], values.to_vec()].concat());
    }
    table
}

fn raw(results: &Results) -> String {
    let mut table = header(&["cell", "broker", "round", "figures"]);
    for row in &results.rows {
        let (side, round) = (format!("{:?}", row.side), row.round.to_string());
        table += &line(&[row.cell.clone(), side, round, listed(&row.figures)]);
    }
    table
}

fn listed(figures: &Figures) -> String {
    let each: Vec<_> = figures
        .iter()
        .map(|(figure, value)| format!("{figure:?} {}", number(Some(value))))
        .collect();
    each.join(", ")
}

/// Klamm's, Kafka's, and Klamm's as a part of Kafka's.
fn pair(results: &Results, cell: &str, figure: Figure) -> [String; 3] {
    let [klamm, kafka] = [Side::Klamm, Side::Kafka].map(|it| results.median(cell, it, figure));
    let ratio = klamm.zip(kafka).map(|(klamm, kafka)| klamm / kafka);
    let ratio = ratio.map_or(NONE.to_owned(), |it| format!("**{it:.2}**"));
    [number(klamm), number(kafka), ratio]
}

/// Three digits that matter.
fn number(value: Option<f64>) -> String {
    match value {
        None => NONE.to_owned(),
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

fn header(titles: &[&str]) -> String {
    let rule = std::iter::once("---").chain(titles.iter().skip(1).map(|_| "--:"));
    line(titles) + &line(&rule.collect::<Vec<_>>())
}

fn line(fields: &[impl AsRef<str>]) -> String {
    let fields: Vec<_> = fields.iter().map(AsRef::as_ref).collect();
    format!("| {} |\n", fields.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let written = [0.1234, 1.234, 12.34, 123.4].map(|it| number(Some(it)));
        assert_eq!(written, ["0.12", "1.23", "12.3", "123"]);
        assert_eq!(number(None), NONE);
    }

    #[test]
    fn a_header_is_ruled_off() {
        assert_eq!(header(&["cell", "MB/s"]), "| cell | MB/s |\n| --- | --: |\n");
    }
}
