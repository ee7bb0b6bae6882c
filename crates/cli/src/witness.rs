//! Writes the witness of a verdict.

use crate::finding::Finding;
use palisade_cfa::Assumption;
use palisade_portfolio::Verdict;
use palisade_property::Property;
use palisade_witness::correctness::invariants;
use palisade_witness::model::*;
use palisade_witness::violation::segments;
use palisade_witness::{sha256, yaml};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The witness file of a verdict; `None` if there is nothing to witness.
pub fn file(finding: &Finding<'_>) -> Option<String> {
    if matches!(finding.settled.verdict, Verdict::Unknown(_)) {
        return None;
    }
    let places = finding.places.as_ref()?;
    let content = match &finding.story {
        Some(story) => Content::Violation(segments(finding.program, places, &story.run, &story.steps)?),
        None => Content::Invariants(invariants(&finding.facts, places)),
    };
    let files = &finding.input.files;
    let task = TaskInfo {
        input_files: files.iter().map(|f| f.name.clone()).collect(),
        input_file_hashes: files
            .iter()
            .zip(&finding.input.hashes)
            .map(|(f, h)| (f.name.clone(), h.clone()))
            .collect(),
        specification: specification(finding.property),
        data_model: finding.input.data_model.name().into(),
        language: "C".into(),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut entry = Entry {
        metadata: Metadata {
            format_version: "2.0".into(),
            uuid: String::new(),
            creation_time: iso_8601(now),
            producer: Producer { name: "Palisade".into(), version: env!("CARGO_PKG_VERSION").into() },
            task,
        },
        content,
    };
    // Two witnesses that differ in content or time have different names.
    let seed = format!("{}{}", now.as_nanos(), yaml::write(std::slice::from_ref(&entry)));
    entry.metadata.uuid = uuid(sha256::digest(seed.as_bytes()));
    Some(comments(finding) + &yaml::write(&[entry]))
}

/// What the verdict rests on and what goes wrong, as comments: the format has no other room for it.
fn comments(finding: &Finding<'_>) -> String {
    let line = |a: &Assumption| format!("# assuming: {}\n", a.text(finding.program));
    let violation =
        finding.story.iter().map(|s| format!("# violation: {}\n", s.described.text.replace('\n', " ")));
    finding.settled.assumptions.iter().map(line).chain(violation).collect()
}

/// The property as lines of a property file.
fn specification(property: &Property) -> String {
    let line = |goal| format!("CHECK( init({}()), LTL({goal}) )", property.entry);
    property.goals.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A UUID (RFC 4122, version 4) from bytes that nobody could foresee.
fn uuid(digest: [u8; 32]) -> String {
    let mut b = [0u8; 16];
    b.copy_from_slice(&digest[..16]);
    b[6] = b[6] & 0x0f | 0x40;
    b[8] = b[8] & 0x3f | 0x80;
    let hex: String = b.iter().map(|x| format!("{x:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// A time since 1970 as in `2026-11-15T09:30:00Z`.
fn iso_8601(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs();
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (h, m, s) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{:02}T{h:02}:{m:02}:{s:02}Z", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_civil() {
        let at = |s| iso_8601(Duration::from_secs(s));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(at(1_794_821_400), "2026-11-16T09:30:00Z");
        assert_eq!(at(4_102_444_799), "2099-12-31T23:59:59Z");
    }

    #[test]
    fn uuids_say_their_version() {
        let text = uuid(sha256::digest(b"x"));
        assert_eq!(text.len(), 36);
        assert_eq!(&text[14..15], "4");
        assert!("89ab".contains(&text[19..20]));
    }
}
