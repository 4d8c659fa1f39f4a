//! An alert about a record, bounded: titles, labels and fingerprints are stored and sent about by the broker.

use crate::fingerprint;
use crate::layout::Message;
use crate::level::Level;
use crate::settings::Part;
use klamm_plugin::transform::Severity;

const TITLE_CHARS_MAX: usize = 200;
const LABEL_CHARS_MAX: usize = 120;
const LABELS_MAX: usize = 48;

/// What is known of a record that raises an alert.
#[derive(Debug)]
pub(crate) struct Finding {
    pub level: Option<Level>,
    pub severity: Severity,
    pub message: Message,
    /// The class of the exception that the record itself shows.
    pub exception: Option<String>,
    pub pattern: Option<String>,
    /// The pattern's own and its named groups.
    pub labels: Vec<(String, String)>,
}

/// One line and short enough to read; what it leaves out, it says by an ellipsis.
pub(crate) fn title(text: &str) -> String {
    cut(text, TITLE_CHARS_MAX)
}

impl Finding {
    pub(crate) fn title(&self) -> String {
        title(&self.message.text)
    }

    pub(crate) fn fingerprint(&self, parts: &[Part]) -> String {
        let parts: Vec<String> = parts
            .iter()
            .flat_map(|part| self.parts(*part))
            .filter(|part| !part.is_empty())
            .collect();
        fingerprint::of(&parts)
    }

    fn parts(&self, part: Part) -> Vec<String> {
        let text = |text: &Option<String>| text.clone().into_iter().collect();
        match part {
            Part::Message => self.masked_message(),
            Part::Title => vec![self.title()],
            Part::Level => self.level.map(|level| level.name().to_owned()).into_iter().collect(),
            Part::Logger => text(&self.message.logger),
            Part::Pattern => text(&self.pattern),
            Part::Exception => text(&self.exception),
        }
    }

    /// One message with two causes is two alerts, when the record tells the cause.
    fn masked_message(&self) -> Vec<String> {
        let cause =
            self.exception.clone().filter(|class| !self.message.text.contains(class.as_str()));
        let masked = fingerprint::mask(&self.message.text);
        [Some(masked), cause].into_iter().flatten().collect()
    }

    /// Later labels replace earlier ones of the same name; `fixed` are the operator's and come last.
    pub(crate) fn labels(&self, fixed: &[(String, String)]) -> Vec<(String, String)> {
        let level = self.level.map(|level| level.name().to_owned());
        let found = [
            ("level", level),
            ("logger", self.message.logger.clone()),
            ("exception", self.exception.clone()),
            ("pattern", self.pattern.clone()),
        ];
        let found = found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let mut labels: Vec<(String, String)> = Vec::new();
        for (name, value) in found.chain(self.labels.iter().cloned()).chain(fixed.iter().cloned()) {
            labels.retain(|(known, _)| *known != name);
            labels.push((name, cut(&value, LABEL_CHARS_MAX)));
        }
        labels.truncate(LABELS_MAX);
        labels
    }
}

/// The text in one line, without control characters and colour codes, of at most `chars` characters.
fn cut(text: &str, chars: usize) -> String {
    let mut line = String::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        if next == '\u{1b}' {
            while rest.next_if(|code| !code.is_ascii_alphabetic()).is_some() {}
            rest.next();
        } else if !next.is_whitespace() && !next.is_control() {
            line.push(next);
        } else if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
    }
    let line = line.trim_end();
    if line.chars().count() <= chars {
        return line.to_owned();
    }
    line.chars().take(chars - 1).chain(['\u{2026}']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(text: &str) -> Finding {
        Finding {
            level: Some(Level::Error),
            severity: Severity::Error,
            message: Message { text: text.to_owned(), logger: Some("a.B".to_owned()) },
            exception: Some("x.Failure".to_owned()),
            pattern: None,
            labels: vec![("logger".to_owned(), "mine".to_owned())],
        }
    }

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(title("\x1b[31mit\x1b[0m  broke\n\tagain"), "it broke again");
        let long = title(&"\u{e9}".repeat(500));
        assert_eq!(long.chars().count(), TITLE_CHARS_MAX);
        assert!(long.ends_with('\u{2026}'));
    }

    #[test]
    fn fingerprints_are_made_of_the_parts_asked_for() {
        let finding = finding("job 7 broke");
        assert_eq!(finding.fingerprint(&[Part::Message]), "job # broke | x.Failure");
        assert_eq!(finding.fingerprint(&[Part::Title]), "job 7 broke");
        assert_eq!(finding.fingerprint(&[Part::Level, Part::Logger, Part::Pattern]), "ERROR | a.B");
    }

    #[test]
    fn the_operators_labels_win() {
        let labels = finding("x").labels(&[("level".to_owned(), "loud".to_owned())]);
        let value = |name: &str| {
            labels.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        assert_eq!(value("logger"), Some("mine"));
        assert_eq!(value("level"), Some("loud"));
        assert_eq!(value("exception"), Some("x.Failure"));
        assert_eq!(labels.len(), 3);
    }
}
