//! The world `transform-plugin`, exported for a [`Transform`].

use super::bindings::transform::exports::klamm::plugin::{plugin, transform};
use super::{NOT_CONFIGURED, describe, report_panics};
use crate::transform::{Alert, Batch, Columns, FlatOutput, Severity, Transform};
use std::cell::RefCell;
use std::marker::PhantomData;

pub struct TransformGuest<T>(PhantomData<T>);

thread_local! {
    static INSTANCE: RefCell<Option<Box<dyn Transform>>> = const { RefCell::new(None) };
}

impl<T: Transform + 'static> plugin::Guest for TransformGuest<T> {
    fn describe() -> plugin::Description {
        describe!(transform, T::describe())
    }

    fn configure(settings: String) -> Result<(), String> {
        report_panics();
        INSTANCE.set(Some(Box::new(T::configure(&settings)?)));
        Ok(())
    }
}

impl<T: Transform + 'static> transform::Guest for TransformGuest<T> {
    fn process(batch: transform::Batch) -> Result<transform::Output, String> {
        INSTANCE.with_borrow_mut(|instance| {
            let instance = instance.as_mut().ok_or(NOT_CONFIGURED)?;
            let output = instance.process(&Batch::new(columns(&batch))?)?;
            output.flatten(batch.count).map(flat)
        })
    }
}

fn columns(batch: &transform::Batch) -> Columns<'_> {
    Columns {
        topic: &batch.topic,
        partition: batch.partition,
        count: batch.count,
        data: &batch.data,
        index: &batch.index,
        headers: &batch.headers,
        header_counts: &batch.header_counts,
        base_timestamp: batch.base_timestamp,
        now_ms: batch.now_ms,
        state: &batch.state,
    }
}

fn flat(output: FlatOutput) -> transform::Output {
    let FlatOutput { actions, data, lens, header_lens, reasons, alerts, state } = output;
    let replaced = transform::Replacements { data, lens, header_lens };
    let alerts = alerts.into_iter().map(alert).collect();
    transform::Output { actions, replaced, reasons, alerts, state }
}

fn alert(alert: Alert) -> transform::Alert {
    let Alert { record, severity, title, fingerprint, labels } = alert;
    let severity = match severity {
        Severity::Info => transform::Severity::Info,
        Severity::Warning => transform::Severity::Warning,
        Severity::Error => transform::Severity::Error,
        Severity::Critical => transform::Severity::Critical,
    };
    transform::Alert { record, severity, title, fingerprint, labels }
}
