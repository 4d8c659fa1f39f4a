//! What is measured: a cell is a task of a shape, and its name says both.

use std::fmt::{self, Display};

pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) task: Task,
}

pub(crate) enum Task {
    /// As fast as it goes.
    Produce(Shape),
    /// Produce and consume at 25, 50 and 75 % of the slower one's maximum.
    Latency(Shape),
    /// Consume a full topic from its beginning.
    CatchUp { shape: Shape, from_disk: bool },
    /// Kafka's `ProducerPerformance`.
    KafkasProducer(Shape),
    /// Kafka's `ConsumerPerformance`.
    KafkasConsumer(Shape),
}

#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) record_bytes: usize,
    pub(crate) partitions: usize,
    pub(crate) acks: &'static str,
    pub(crate) codec: &'static str,
    pub(crate) batches: Batches,
    pub(crate) connections: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Batches {
    /// Of one record, one a request: linger 0 while there is little to do.
    Small,
    /// Of 64 KiB, up to sixteen a request: a producer that is always late.
    Big,
}

/// The name under which stands what is measured once a run.
pub(crate) const ALL: &str = "all cells";
const SHARE: &str = ", at ";

const BIG_BATCH_BYTES: usize = 64 << 10;
const BIG_REQUEST_BATCHES: usize = 16;

impl Shape {
    pub(crate) fn batch_records(&self) -> usize {
        match self.batches {
            Batches::Small => 1,
            Batches::Big => BIG_BATCH_BYTES / self.record_bytes,
        }
    }

    pub(crate) fn request_batches(&self) -> usize {
        match self.batches {
            Batches::Small => 1,
            Batches::Big => BIG_REQUEST_BATCHES.min(self.partitions),
        }
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count| if count == 1 { "" } else { "s" };
        let size = if self.record_bytes == 1024 { "1 KiB" } else { "100 B" };
        write!(f, "{size}, {} partition{}", self.partitions, plural(self.partitions))?;
        write!(f, ", acks {}", self.acks)?;
        if self.codec != "none" {
            write!(f, ", {}", self.codec)?;
        }
        f.write_str(if self.batches == Batches::Big { ", big batches" } else { ", linger 0" })?;
        write!(f, ", {} producer{}", self.connections, plural(self.connections))
    }
}

impl Cell {
    fn new(task: Task) -> Self {
        let name = match &task {
            Task::Produce(shape) => format!("produce: {shape}"),
            Task::Latency(shape) => format!("latency: {shape}"),
            Task::CatchUp { shape, from_disk: false } => format!("catch up, cached: {shape}"),
            Task::CatchUp { shape, from_disk: true } => format!("catch up, from disk: {shape}"),
            Task::KafkasProducer(shape) => format!("Kafka's ProducerPerformance: {shape}"),
            Task::KafkasConsumer(shape) => format!("Kafka's ConsumerPerformance: {shape}"),
        };
        Self { name, task }
    }

    /// Its name at a share of the maximum, in percent.
    pub(crate) fn at(&self, share: u32) -> String {
        format!("{}{SHARE}{share} %", self.name)
    }
}

/// The share of the maximum that a cell's name tells.
pub(crate) fn share(name: &str) -> Option<&str> {
    name.split_once(SHARE).map(|(_, share)| share)
}

/// Whether a cell of that name is about fetching.
pub(crate) fn consumes(name: &str) -> bool {
    name.starts_with("catch up") || name.contains("Consumer")
}

/// The thirteen cells of the table, each dimension in several of them.
pub(crate) fn of_the_table() -> Vec<Cell> {
    let big = Shape {
        record_bytes: 1024,
        partitions: 16,
        acks: "1",
        codec: "none",
        batches: Batches::Big,
        connections: 1,
    };
    let small = Shape { record_bytes: 100, batches: Batches::Small, ..big };
    let tasks = [
        Task::Produce(big),
        Task::Produce(Shape { record_bytes: 100, acks: "all", ..big }),
        Task::Produce(Shape { partitions: 1, acks: "all", ..big }),
        Task::Produce(Shape { partitions: 200, codec: "lz4", connections: 50, ..big }),
        Task::Produce(Shape { acks: "all", codec: "zstd", ..big }),
        Task::Produce(Shape { partitions: 200, connections: 50, ..small }),
        Task::Produce(Shape { partitions: 1, acks: "all", ..small }),
        Task::Latency(Shape { acks: "all", connections: 16, ..small }),
        Task::Latency(Shape { acks: "all", ..big }),
        Task::CatchUp { shape: big, from_disk: false },
        Task::CatchUp { shape: Shape { partitions: 200, ..big }, from_disk: true },
        Task::KafkasProducer(Shape { acks: "all", ..big }),
        Task::KafkasConsumer(big),
    ];
    tasks.into_iter().map(Cell::new).collect()
}

/// Every combination.
pub(crate) fn full() -> Vec<Cell> {
    let mut tasks = Vec::new();
    for shape in shapes() {
        tasks.push(Task::Produce(shape));
        if shape.codec == "none" && shape.connections <= shape.partitions {
            tasks.push(Task::Latency(shape));
        }
        if shape.acks == "1" && shape.connections == 1 && shape.batches == Batches::Big {
            tasks.push(Task::CatchUp { shape, from_disk: false });
            tasks.push(Task::CatchUp { shape, from_disk: true });
            tasks.push(Task::KafkasConsumer(shape));
        }
        if shape.connections == 1 && shape.batches == Batches::Big {
            tasks.push(Task::KafkasProducer(shape));
        }
    }
    tasks.into_iter().map(Cell::new).collect()
}

fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for record_bytes in [100, 1024] {
        for partitions in [1, 16, 200] {
            for acks in ["1", "all"] {
                for codec in ["none", "lz4", "zstd"] {
                    for batches in [Batches::Small, Batches::Big] {
                        shapes.extend([1, 50].map(|connections| Shape {
                            record_bytes,
                            partitions,
                            acks,
                            codec,
                            batches,
                            connections,
                        }));
                    }
                }
            }
        }
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_cell_has_a_name_of_its_own() {
        for cells in [of_the_table(), full()] {
            let names: HashSet<_> = cells.iter().map(|it| &it.name).collect();
            assert_eq!(names.len(), cells.len());
        }
    }
}
