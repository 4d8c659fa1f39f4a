//! Lines of standard input, taken together while more of them are there: what is typed or trickles in does not wait.

use std::io::{BufRead as _, BufReader, Read};

use anyhow::{Context as _, ensure};

/// Lines and bytes that go out together; one longer line goes alone.
const BATCH_LINES_MAX: usize = 1_000;
const BATCH_BYTES_MAX: usize = 512 * 1024;
/// Larger than any record that a broker takes.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// Read already, and too long for the batch before.
    kept: Option<Vec<u8>>,
    /// Lines that were handed out.
    pub(super) count: usize,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(BATCH_BYTES_MAX, input), kept: None, count: 0 }
    }

    /// The next lines without their ends; none at the end of the input.
    pub(super) fn batch(&mut self) -> anyhow::Result<Vec<Vec<u8>>> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < BATCH_LINES_MAX {
            let Some(line) = self.line(lines.len())? else { break };
            if !lines.is_empty() && bytes + line.len() > BATCH_BYTES_MAX {
                self.kept = Some(line);
                break;
            }
            bytes += line.len();
            lines.push(line);
            if !self.input.buffer().contains(&b'\n') {
                break;
            }
        }
        self.count += lines.len();
        Ok(lines)
    }

    fn line(&mut self, before: usize) -> anyhow::Result<Option<Vec<u8>>> {
        if let Some(line) = self.kept.take() {
            return Ok(Some(line));
        }
        let mut line = Vec::new();
        let mut input = (&mut self.input).take(LINE_BYTES_MAX as u64 + 1);
        if input.read_until(b'\n', &mut line).context("read standard input")? == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        let number = self.count + before + 1;
        ensure!(line.len() <= LINE_BYTES_MAX, "line {number} has more than {LINE_BYTES_MAX} bytes");
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(input: impl Read) -> Vec<Vec<Vec<u8>>> {
        let mut lines = Lines::new(input);
        std::iter::from_fn(|| Some(lines.batch().unwrap()).filter(|it| !it.is_empty())).collect()
    }

    #[test]
    fn bytes_are_kept_whatever_they_are_and_a_last_line_needs_no_end() {
        assert_eq!(batches(&b""[..]), Vec::<Vec<Vec<u8>>>::new());
        let lines = batches(&b"a\xff\r\n\nb"[..]).concat();
        assert_eq!(lines, [b"a\xff\r".to_vec(), b"".to_vec(), b"b".to_vec()]);
    }

    #[test]
    fn a_long_line_goes_alone_and_takes_no_other_with_it() {
        let long = [vec![b'x'; BATCH_BYTES_MAX], b"\n".to_vec()].concat();
        let input = [b"a\nb\n".to_vec(), long.clone(), long, b"c\n".to_vec()].concat();
        let batches = batches(&input[..]);
        let sizes: Vec<Vec<usize>> =
            batches.iter().map(|it| it.iter().map(Vec::len).collect()).collect();
        assert_eq!(sizes.concat(), [1, 1, BATCH_BYTES_MAX, BATCH_BYTES_MAX, 1]);
        assert!(sizes.iter().all(|it| it.iter().sum::<usize>() <= BATCH_BYTES_MAX), "{sizes:?}");
    }

    #[test]
    fn a_batch_has_a_thousand_lines_at_most_and_does_not_wait_for_more() {
        let sizes = |input: &[u8]| batches(input).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(&b"x\n".repeat(2_500)), [1_000, 1_000, 500]);
        let trickle = b"a\nb\n".chain(&b"c\nd"[..]);
        let of_trickle: Vec<usize> = batches(trickle).iter().map(Vec::len).collect();
        assert_eq!(of_trickle, [2, 1, 1]);
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let mut lines = Lines::new(std::io::repeat(b'x'));
        let error = lines.batch().unwrap_err().to_string();
        assert_eq!(error, "line 1 has more than 67108864 bytes");
    }
}
