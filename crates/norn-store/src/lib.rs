//! Campaigns in a database: one row for each run, so that a campaign can be interrupted, resumed,
//! merged, shared among machines and queried with SQL.
//!
//! A [`Store`] holds one campaign. Workers lease seeds from it and put results in; a seed has one
//! result, whoever delivers it first. What a result contains is text to this crate: the campaign
//! gives it a meaning. The executions of a hunt are shared in the same way, but follow from plans instead of
//! seeds, and their traces are kept. All statements are written once; [`Database`] is what SQLite and PostgreSQL
//! have to provide. `schema.sql` and `hunt.sql` are the schema, and `docs/campaigns.md` explains it.

mod batch;
mod database;
mod error;
mod execution;
mod hunt;
mod lease;
mod location;
mod merge;
mod postgres;
mod read;
mod row;
mod schema;
mod sqlite;
mod store;
mod value;
mod write;

pub use database::{Database, Dialect, Mode, Transaction};
pub use error::StoreError;
pub use execution::{Execution, ExecutionFile, ExecutionLease, Requested};
pub use lease::Lease;
pub use location::Location;
pub use row::{CampaignRow, FailureRow, Outcome, PatternRow, Progress, RunResult, StoredRun};
pub use schema::VERSION;
pub use store::{PREDICTED, Store};
pub use value::Value;
