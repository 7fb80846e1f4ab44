//! The candidates that a trace allows, and schedules for them, without executing the program.

use std::{collections::BTreeSet, path::Path};

use norn_frontend::FrontEnd;
use norn_model::{Candidate, ThreadName, Trace};
use norn_predict::{Options, Prediction, Remark};
use norn_replay::ReplayError;
use norn_witness::{Engines, Failure, Witness, Witnesses};

use crate::{
    Description, Omissions, atomic_set,
    describe::describe_all,
    library_sync::predict_program,
    ranking::Ranking,
    source::{Loading, Source},
};

/// The candidates that a trace allows.
#[derive(Debug)]
pub struct Outlook {
    /// The candidates, the most likely ones first.
    pub prospects: Vec<Prospect>,
    /// Whether the search for a pattern or for deadlocks reached its limit before its end.
    pub incomplete: bool,
    /// What was not analysed.
    pub omitted: Omissions,
}

/// A candidate, and the schedule that would produce it.
#[derive(Debug)]
pub struct Prospect {
    /// The candidate.
    pub candidate: Candidate,
    /// How often the trace allows it, and why it may be intended, if that is known.
    pub remark: Option<Remark>,
    /// Which thread does what to which variable at which place.
    pub description: Description,
    /// Its schedule, or why there is none; `None` if no schedule was looked for, since there are too
    /// many candidates.
    pub witness: Option<Result<Witness, Failure>>,
    /// The schedule: threads by name, each with the index of the event before which its turn ends.
    pub turns: Vec<(ThreadName, u64)>,
}

/// Which schedules are made for the candidates of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Schedules {
    /// The engines that make them.
    pub engines: Engines,
    /// Maximum number of candidates for which one is made, in the order in which a hunt would try
    /// them. A long run of a real program has some ten thousand candidates, and a schedule takes longer
    /// than a prediction.
    pub most: usize,
}

/// Predicts what a trace allows. Atomic sets are given as lists of variable names.
pub fn outlook(
    front_end: &dyn FrontEnd,
    folder: &Path,
    process: u32,
    options: &Options,
    atomic_sets: &[Vec<String>],
    schedules: Schedules,
) -> Result<Outlook, ReplayError> {
    let source = Source::open(front_end, folder, process, Loading::Relevant)?;
    let (sets, unknown) = atomic_set::find(&source, atomic_sets);
    let prediction = predict_program(&source, &Options { sets, ..options.clone() });
    let omitted = Omissions::new(&source, &prediction, unknown);
    let incomplete = prediction.incomplete;
    let all = first_instances(prediction);
    let descriptions = describe_all(&source, &all.iter().map(|it| &it.0).collect::<Vec<_>>());
    let made = schedules.make(&source.trace, &all);
    let prospect = |(((candidate, remark), description), witness): (((Candidate, _), _), _)| {
        let found: Option<&Result<Witness, Failure>> = Option::as_ref(&witness);
        let turns = found.into_iter().flatten().flat_map(|it| source.turns(it));
        let turns = turns.map(|it| (source.symbolized.thread(it.0), it.1)).collect();
        Prospect { candidate, remark, description, witness, turns }
    };
    let prospects = all.into_iter().zip(descriptions).zip(made).map(prospect).collect();
    Ok(Outlook { prospects, incomplete, omitted })
}

/// The candidates of a prediction, each with its first instance only.
pub(crate) fn first_instances(prediction: Prediction) -> Vec<(Candidate, Option<Remark>)> {
    let violations = prediction.violations.into_iter().map(|(it, remark)| (it, Some(remark)));
    let all = prediction.candidates.into_iter().map(|it| (it, None)).chain(violations);
    all.filter(|it| it.0.instance == 0).collect()
}

impl Schedules {
    /// Makes the schedules of the candidates of a trace, in their order.
    pub(crate) fn make(
        self,
        trace: &Trace,
        candidates: &[(Candidate, Option<Remark>)],
    ) -> Vec<Option<Result<Witness, Failure>>> {
        let first = self.first(trace, candidates);
        let witnesses = Witnesses::with(trace, self.engines);
        witnesses.expect(first.iter().map(|it| [&candidates[*it].0]), 0);
        let examined: BTreeSet<_> = first.into_iter().collect();
        let make = |(at, (candidate, _)): (usize, &(Candidate, _))| {
            examined.contains(&at).then(|| witnesses.witness(candidate))
        };
        candidates.iter().enumerate().map(make).collect()
    }

    /// The indices of the candidates for which schedules are made, in the order in which a hunt would
    /// try them.
    fn first(self, trace: &Trace, candidates: &[(Candidate, Option<Remark>)]) -> Vec<usize> {
        let mut ranking = Ranking::default();
        let rank = |(at, (candidate, remark)): (usize, &(Candidate, Option<Remark>))| {
            let expected = remark.is_some_and(|it| it.expected.is_some());
            (ranking.rank(trace, candidate, expected), at)
        };
        let mut ranks: Vec<_> = candidates.iter().enumerate().map(rank).collect();
        ranks.sort_unstable();
        ranks.into_iter().take(self.most).map(|it| it.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use norn_model::{BugClass, text};
    use norn_predict::predict;

    use super::*;

    #[test]
    fn classes_take_turns_until_the_maximum() {
        let race = |it| format!("T1 w x{it} 1\nT2 w x{it} 2\n");
        let races = (0..9).map(race).collect::<Vec<_>>().concat();
        let sections = "T1 acq a\nT1 acq b\nT1 rel b\nT1 rel a\n\
                        T2 acq b\nT2 acq a\nT2 rel a\nT2 rel b\n";
        let trace = text::parse(&format!("{races}{sections}")).unwrap();
        let all = first_instances(predict(&trace, &Options::default()));
        let deadlocks = all.iter().filter(|it| it.0.class() == BugClass::Deadlock).count();
        assert!(deadlocks > 0 && all.len() > 9);
        let schedules = Schedules { engines: Engines::default(), most: 3 };
        let made = schedules.make(&trace, &all);
        assert_eq!(made.iter().flatten().count(), 3);
        let examined = all.iter().zip(&made).filter(|it| it.1.is_some());
        let classes: Vec<_> = examined.map(|it| it.0.0.class()).collect();
        assert!(classes.contains(&BugClass::Deadlock), "{classes:?}");
        assert!(classes.contains(&BugClass::Race), "{classes:?}");
        let all_examined = Schedules { most: all.len(), ..schedules };
        assert!(all_examined.make(&trace, &all).iter().all(Option::is_some));
    }
}
