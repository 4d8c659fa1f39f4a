//! Standard output and standard error, where an end of who reads them is no failure of ours.

use std::{
    fmt,
    io::{self, BufWriter, Stdout, Write, stderr, stdout},
};

/// Standard output, written through at the latest when [`Write::flush`] is called or it is dropped.
pub(super) struct Output(BufWriter<Stdout>);

/// Tells a failed write to standard output from one to a broker.
#[derive(Debug)]
struct OutputFailed(io::Error);

pub(super) fn output() -> Output {
    Output(BufWriter::new(stdout()))
}

/// One line of standard output.
pub(super) fn print(line: impl fmt::Display) -> io::Result<()> {
    let mut out = output();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Whether somebody stopped to read standard output, as `head` does.
pub(super) fn is_output_closed(error: &anyhow::Error) -> bool {
    let failed = error.chain().find_map(|it| {
        let io = it.downcast_ref::<io::Error>()?;
        io.get_ref()?.downcast_ref::<OutputFailed>()
    });
    failed.is_some_and(|it| it.0.kind() == io::ErrorKind::BrokenPipe)
}

/// A line for the person who typed the command. If nobody can read it there is nobody to tell.
pub(super) fn tell(line: impl fmt::Display) {
    let _ = writeln!(stderr(), "{line}");
}

/// A number of things, as people write it.
pub(super) fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(failed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(failed)
    }
}

fn failed(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), OutputFailed(error))
}

impl fmt::Display for OutputFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write to standard output: {}", self.0)
    }
}

impl std::error::Error for OutputFailed {}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        let told = [0, 1, 2].map(|it| counted(it, "record"));
        assert_eq!(told, ["0 records", "1 record", "2 records"]);
    }

    #[test]
    fn only_a_reader_of_ours_that_went_away_is_no_failure() {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let context = |error| Err::<(), io::Error>(error).context("print").unwrap_err();
        assert!(is_output_closed(&context(failed(gone()))));
        assert!(!is_output_closed(&context(gone())), "a broker that went away");
        assert!(!is_output_closed(&context(failed(io::ErrorKind::StorageFull.into()))));
    }
}
