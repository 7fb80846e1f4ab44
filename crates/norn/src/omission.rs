//! What a search did not look at, for people and for programs.

use std::io::{self, Write};

use norn_hunt::Omissions;
use serde_json::{Value, json};

/// Threads that are named.
const NAMED: usize = 5;

/// For people.
pub(crate) fn text(out: &mut impl Write, omitted: &Omissions) -> io::Result<()> {
    if omitted.is_empty() {
        return Ok(());
    }
    writeln!(out, "not looked at:")?;
    if omitted.events > 0 {
        writeln!(out, "  {} events at the end of the run: there are too many", omitted.events)?;
    }
    let limits = &omitted.limits;
    if limits.sampled > 0 {
        let count = limits.sampled;
        writeln!(out, "  some bytes of memory that is accessed as a whole, in {count} accesses")?;
    }
    if limits.couples > 0 {
        let count = limits.couples;
        writeln!(out, "  {count} pairs of variables at places that meet too many")?;
    }
    for name in &limits.patterns {
        writeln!(out, "  all ways to meet the pattern {name}: there are too many")?;
    }
    if limits.requests > 0 {
        let count = limits.requests;
        writeln!(
            out,
            "  ways to get stuck, from {count} places that ask for locks: there are too many"
        )?;
    }
    if !omitted.threads.is_empty() {
        let names: Vec<_> = omitted.threads.iter().take(NAMED).map(ToString::to_string).collect();
        let more = omitted.threads.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(out, "  accesses of {}{more}: there are too many threads", names.join(", "))?;
    }
    for name in &omitted.names {
        writeln!(out, "  {name}, since nobody accesses a variable of that name")?;
    }
    Ok(())
}

/// For programs.
pub(crate) fn json(omitted: &Omissions) -> Value {
    json!({
        "events": omitted.events,
        "sampled": omitted.limits.sampled,
        "couples": omitted.limits.couples,
        "requests": omitted.limits.requests,
        "patterns": omitted.limits.patterns,
        "threads": omitted.threads,
        "names": omitted.names,
    })
}

#[cfg(test)]
mod tests {
    use norn_model::ThreadName;
    use norn_predict::Limits;

    use super::*;

    fn said(omitted: &Omissions) -> String {
        let mut out = Vec::new();
        text(&mut out, omitted).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn all_is_said() {
        assert_eq!(said(&Omissions::default()), "");
        let omitted = Omissions {
            events: 9,
            limits: Limits {
                sampled: 2,
                couples: 40,
                patterns: vec!["torn".to_owned()],
                requests: 3,
            },
            threads: (1..=7).map(|it| ThreadName(format!("T0.{it}"))).collect(),
            names: vec!["till.sum".to_owned()],
        };
        insta::assert_snapshot!(said(&omitted), @r"
        not looked at:
          9 events at the end of the run: there are too many
          some bytes of memory that is accessed as a whole, in 2 accesses
          40 pairs of variables at places that meet too many
          all ways to meet the pattern torn: there are too many
          ways to get stuck, from 3 places that ask for locks: there are too many
          accesses of T0.1, T0.2, T0.3, T0.4, T0.5 and 2 more: there are too many threads
          till.sum, since nobody accesses a variable of that name
        ");
        assert_eq!(json(&omitted)["couples"], 40);
        assert_eq!(json(&omitted)["threads"][6], "T0.7");
    }
}
