//! The world `partitioner-plugin`, exported for a [`Partitioner`].

use super::bindings::partitioner::exports::klamm::plugin::{partitioner, plugin};
use super::{NOT_CONFIGURED, describe, report_panics};
use crate::Needs;
use crate::partitioner::{Batch, Columns, Partitioner};
use std::cell::RefCell;
use std::marker::PhantomData;

pub struct PartitionerGuest<T>(PhantomData<T>);

struct Instance {
    needs: Needs,
    partitioner: Box<dyn Partitioner>,
}

thread_local! {
    static INSTANCE: RefCell<Option<Instance>> = const { RefCell::new(None) };
}

impl<T: Partitioner + 'static> plugin::Guest for PartitionerGuest<T> {
    fn describe() -> plugin::Description {
        describe!(partitioner, T::describe())
    }

    fn configure(settings: String) -> Result<(), String> {
        report_panics();
        let partitioner = Box::new(T::configure(&settings)?);
        INSTANCE.set(Some(Instance { needs: T::describe().needs, partitioner }));
        Ok(())
    }
}

impl<T: Partitioner + 'static> partitioner::Guest for PartitionerGuest<T> {
    fn partition(batch: partitioner::Batch) -> Result<Vec<u32>, String> {
        INSTANCE.with_borrow_mut(|instance| {
            let instance = instance.as_mut().ok_or(NOT_CONFIGURED)?;
            instance.partitioner.partition(&Batch::new(columns(&batch), instance.needs)?)
        })
    }
}

fn columns(batch: &partitioner::Batch) -> Columns<'_> {
    Columns {
        topic: &batch.topic,
        partitions: batch.partitions,
        count: batch.count,
        keys: &batch.keys,
        key_lens: &batch.key_lens,
        values: &batch.values,
        value_lens: &batch.value_lens,
        headers: &batch.headers,
        header_lens: &batch.header_lens,
        sequence: batch.sequence,
        seed: batch.seed,
    }
}
