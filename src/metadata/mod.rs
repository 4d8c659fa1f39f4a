//! The cluster as data: records in a log, folded into an immutable image that every room reads.

mod client_quota;
mod delta;
mod features;
mod image;
mod record;

pub use client_quota::{ClientQuotasImage, QuotaEntity, QuotaEntityType, QuotaValue, Quotas};
pub use delta::TopicsDelta;
pub use features::{FEATURES, Feature, FeatureLevels, GROUP_VERSION, METADATA_VERSION};
pub use image::{BrokerImage, MetadataImage, PartitionImage, TopicImage};
pub use record::{ConfigResource, MetadataRecord};
