//! Producer ids, in blocks: a broker asks the controller once in a thousand producers (KIP-730).

use std::ops::Range;

use super::ControllerError;
use crate::{
    machine::Decision,
    metadata::{MetadataImage, MetadataRecord},
};

const BLOCK: i64 = 1_000;

/// Ids with bit 62 set are those that route records derive for the parts of a batch (design, part 4); they are never allocated.
const LIMIT: i64 = 1 << 62;

/// Allocates the next block.
///
/// # Errors
///
/// [`ControllerError::ProducerIdsExhausted`] below 2^62, after four quintillion producers.
pub fn allocate_producer_ids(
    image: &MetadataImage,
) -> Result<Decision<MetadataRecord, Range<i64>>, ControllerError> {
    let start = image.next_producer_id;
    if start > LIMIT - BLOCK {
        return Err(ControllerError::ProducerIdsExhausted);
    }
    let next_producer_id = start + BLOCK;
    let record = MetadataRecord::ProducerIds { next_producer_id };
    Ok(Decision::new(vec![record], start..next_producer_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(next_producer_id: i64) -> Result<Range<i64>, ControllerError> {
        let image = MetadataImage { next_producer_id, ..MetadataImage::default() };
        allocate_producer_ids(&image).map(|it| it.response)
    }

    #[test]
    fn blocks_follow_each_other_and_never_reach_bit_62() {
        assert_eq!(allocate(0), Ok(0..1_000));
        assert_eq!(allocate(LIMIT - BLOCK), Ok(LIMIT - BLOCK..LIMIT));
        assert_eq!(allocate(LIMIT - BLOCK + 1), Err(ControllerError::ProducerIdsExhausted));
        assert_eq!(allocate(i64::MAX), Err(ControllerError::ProducerIdsExhausted));
    }
}
