//! What is known at once, as nearly every answer to a producer is, or has to be waited for.

use std::future::Future;

use futures_util::future::{BoxFuture, FutureExt as _, join_all};

/// A value, now or later. Only what comes later costs a future.
pub enum Soon<T> {
    Now(T),
    Later(BoxFuture<'static, T>),
}

impl<T: Send + 'static> Soon<T> {
    pub(crate) fn later(value: impl Future<Output = T> + Send + 'static) -> Self {
        Self::Later(value.boxed())
    }

    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U + Send + 'static) -> Soon<U> {
        match self {
            Self::Now(value) => Soon::Now(change(value)),
            Self::Later(value) => Soon::Later(value.map(change).boxed()),
        }
    }

    /// All of them in their order, waited for at the same time.
    pub(crate) fn all(values: Vec<Self>) -> Soon<Vec<T>> {
        if values.iter().any(|it| matches!(it, Self::Later(_))) {
            return Soon::Later(join_all(values.into_iter().map(Self::wait)).boxed());
        }
        let now = |it| match it {
            Self::Now(value) => Some(value),
            Self::Later(_) => None,
        };
        Soon::Now(values.into_iter().filter_map(now).collect())
    }

    pub async fn wait(self) -> T {
        match self {
            Self::Now(value) => value,
            Self::Later(value) => value.await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use super::*;

    #[tokio::test]
    async fn what_is_all_known_is_known_and_the_order_stays() {
        let known = Soon::all(vec![Soon::Now(1), Soon::Now(2)]).map(|it| it.len());
        assert!(matches!(known, Soon::Now(2)));
        let mixed = Soon::all(vec![Soon::Now(1), Soon::later(ready(2)), Soon::Now(3)]);
        assert!(matches!(mixed, Soon::Later(_)));
        assert_eq!(mixed.map(|it| it.len()).wait().await, 3);
        let mixed = Soon::all(vec![Soon::later(ready(1)), Soon::Now(2)]);
        assert_eq!(mixed.wait().await, [1, 2]);
    }
}
