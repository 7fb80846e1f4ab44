//! Many runs of one program, to find out why some of them fail.
//!
//! A [`Localizer`] takes the runs one after another, from traces ([`RecordedRun`]) or from a
//! campaign that makes them under varied schedules, and ranks the interleaving patterns
//! that separate the failing runs from the passing ones. The analysis itself is `norn-localize`.

mod campaign;
mod clip;
mod code_site;
mod criteria;
mod example;
mod failure;
mod localizer;
mod recorded;
mod run_patterns;
mod title;
mod variation;

pub use campaign::{Campaign, CampaignProgress, Conducted};
pub use code_site::CodeSite;
pub use criteria::Criteria;
pub use failure::{Failure, RunOutcome};
pub use localizer::{Localizer, Origin, RunEvidence};
pub use recorded::RecordedRun;
pub use run_patterns::RunPatterns;
pub use variation::Variation;
