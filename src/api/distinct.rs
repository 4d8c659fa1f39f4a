//! What a request names twice is answered once.
//!
//! Rule: no request of a few bytes an item may make an answer of many: naming one large group again and again would.

use std::collections::BTreeSet;

/// The first item of each key, in their order.
pub(super) fn distinct<T, K: Ord>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.into_iter().filter(|it| seen.insert(key(it))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_key_stays() {
        let items = vec![("b", 1), ("a", 2), ("b", 3), ("a", 4)];
        assert_eq!(distinct(items, |it| it.0), [("b", 1), ("a", 2)]);
    }
}
