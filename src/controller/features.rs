//! Changes of finalized features: checked as Kafka's `FeatureControlManager` does, in its order and words.

use super::ControllerError;
use crate::{
    base::BrokerId,
    machine::Decision,
    metadata::{FEATURES, Feature, MetadataImage, MetadataRecord},
};

/// What a request wants of one feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureUpdate {
    pub feature: String,
    pub level: i16,
    /// `None` for one that nobody knows.
    pub kind: Option<UpdateKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    Upgrade,
    /// Safe or not: no downgrade here loses anything.
    Downgrade,
}

/// Changes all of `updates`, or none; the one result is for all.
pub fn update_features(
    image: &MetadataImage,
    controller: BrokerId,
    updates: &[FeatureUpdate],
) -> Decision<MetadataRecord, Vec<Result<(), ControllerError>>> {
    let refusal = updates.iter().find_map(|it| check(image, controller, it).err());
    if let Some(reason) = refusal {
        return Decision::new(Vec::new(), vec![Err(ControllerError::InvalidUpdateVersion(reason))]);
    }
    let is_change = |it: &&FeatureUpdate| {
        known(&it.feature).is_some_and(|feature| image.features.of(feature) != it.level)
    };
    let record = |it: &FeatureUpdate| MetadataRecord::FeatureLevel {
        name: it.feature.clone(),
        level: it.level,
    };
    Decision::new(updates.iter().filter(is_change).map(record).collect(), vec![Ok(())])
}

fn check(
    image: &MetadataImage,
    controller: BrokerId,
    update: &FeatureUpdate,
) -> Result<(), String> {
    let reason = match (update.kind, known(&update.feature)) {
        (None, _) => "The controller does not support the given upgrade type.".into(),
        _ if update.level < 0 => "A feature version cannot be less than 0.".into(),
        (_, None) => format!("Local controller {} does not support this feature.", controller.0),
        (_, Some(it)) if !(it.min..=it.max).contains(&update.level) => {
            format!(
                "Local controller {} only supports versions {}-{}",
                controller.0, it.min, it.max
            )
        }
        (Some(kind), Some(it)) => match direction(image.features.of(it), update.level, kind) {
            Some(reason) => reason.into(),
            None => return Ok(()),
        },
    };
    Err(format!("Invalid update version {} for feature {}. {reason}", update.level, update.feature))
}

fn direction(now: i16, then: i16, kind: UpdateKind) -> Option<&'static str> {
    match kind {
        UpdateKind::Upgrade if then < now => Some(
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade.",
        ),
        UpdateKind::Downgrade if then > now => Some("Can't downgrade to a newer version."),
        UpdateKind::Upgrade | UpdateKind::Downgrade => None,
    }
}

fn known(name: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(feature: &str, level: i16, kind: UpdateKind) -> FeatureUpdate {
        FeatureUpdate { feature: feature.into(), level, kind: Some(kind) }
    }

    fn decide(image: &MetadataImage, updates: &[FeatureUpdate]) -> (usize, Option<String>) {
        let decision = update_features(image, BrokerId(1), updates);
        let refusal = decision.response[0].as_ref().err().map(ToString::to_string);
        (decision.records.len(), refusal)
    }

    #[test]
    fn what_cannot_be_is_refused_in_kafkas_words() {
        use UpdateKind::{Downgrade, Upgrade};
        let image = MetadataImage::default();
        let unknown = FeatureUpdate { kind: None, ..update("group.version", 1, Upgrade) };
        let cases = [
            (
                unknown,
                "1 for feature group.version. The controller does not support the given upgrade type.",
            ),
            (
                update("group.version", -1, Upgrade),
                "-1 for feature group.version. A feature version cannot be less than 0.",
            ),
            (
                update("group.version", 5, Upgrade),
                "5 for feature group.version. Local controller 1 only supports versions 0-1",
            ),
            (
                update("share.version", 1, Upgrade),
                "1 for feature share.version. Local controller 1 does not support this feature.",
            ),
            (
                update("group.version", 0, Upgrade),
                "0 for feature group.version. Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade.",
            ),
            (
                update("metadata.version", 26, Downgrade),
                "26 for feature metadata.version. Local controller 1 only supports versions 27-27",
            ),
        ];
        for (update, refusal) in cases {
            let told = decide(&image, &[self::update("group.version", 0, Downgrade), update]);
            assert_eq!(told, (0, Some(format!("Invalid update version {refusal}"))), "all or none");
        }
    }

    #[test]
    fn a_feature_goes_down_and_up_again() {
        let mut image = MetadataImage::default();
        let down = update("group.version", 0, UpdateKind::Downgrade);
        assert_eq!(decide(&image, std::slice::from_ref(&down)), (1, None));
        image
            .replay_all(&update_features(&image, BrokerId(1), std::slice::from_ref(&down)).records);
        assert!(!image.features.serves_consumer_groups());
        assert_eq!(decide(&image, &[down]), (0, None), "it is so already");
        let up = update("group.version", 1, UpdateKind::Upgrade);
        let newer = FeatureUpdate { kind: Some(UpdateKind::Downgrade), ..up.clone() };
        assert!(
            decide(&image, &[newer]).1.unwrap().ends_with("Can't downgrade to a newer version.")
        );
        image.replay_all(&update_features(&image, BrokerId(1), &[up]).records);
        assert!(image.features.serves_consumer_groups());
    }
}
