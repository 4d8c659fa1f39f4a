//! The cluster as data: records in a log, folded into an immutable image that every room reads.

mod client_quota;
mod delta;
mod image;
mod record;

pub use client_quota::{ClientQuotasImage, QuotaEntity, QuotaEntityType, QuotaValue, Quotas};
pub use delta::TopicsDelta;
pub use image::{BrokerImage, MetadataImage, PartitionImage, TopicImage};
pub use record::{ConfigResource, MetadataRecord};
