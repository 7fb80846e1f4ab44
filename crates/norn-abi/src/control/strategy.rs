//! The strategies that choose the next thread: the number of each in [`super::Plan::strategy`], its
//! name and its description, in one table.
//!
//! A new strategy is one line here, a file in `norn-sched/src/strategy`, and its entry in the
//! registry there.

/// Calls the macro `$then` with the table of all strategies: variant, constant, number, name and
/// description of each. Everything that needs an entry per strategy is generated from it.
#[macro_export]
macro_rules! strategies {
    ($then:ident) => {
        $then! {
            None, NONE = 0, "none", "No control: the program is only recorded";
            Random, RANDOM = 2, "random", "Random thread, for a random number of events";
            Pct, PCT = 3, "pct",
                "Probabilistic concurrency testing: thread priorities that change at a few random events";
            Pos, POS = 4, "pos", "Partial order sampling: a random priority for each event";
            RoundRobin, ROUND_ROBIN = 1, "round-robin", "Each thread in turn";
            Follow, FOLLOW = 5, "follow", "As a schedule says";
        }
    };
}

macro_rules! strategy_kind {
    ($($variant:ident, $constant:ident = $code:literal, $name:literal, $about:literal;)*) => {
        /// A strategy that chooses the next thread.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum StrategyKind {
            $(#[doc = $about] $variant = $code,)*
        }

        $(#[doc = $about] pub const $constant: u32 = $code;)*

        impl StrategyKind {
            /// All strategies, in the order in which they are listed to a user.
            pub const ALL: &'static [StrategyKind] = &[$(StrategyKind::$variant),*];

            /// The strategy with this number in a plan.
            pub const fn from_code(code: u32) -> Option<StrategyKind> {
                match code {
                    $($code => Some(StrategyKind::$variant),)*
                    _ => None,
                }
            }

            /// Its name on the command line and in files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(StrategyKind::$variant => $name,)*
                }
            }

            /// One line that describes it.
            pub const fn about(self) -> &'static str {
                match self {
                    $(StrategyKind::$variant => $about,)*
                }
            }
        }
    };
}

strategies!(strategy_kind);

impl StrategyKind {
    /// Its number in a plan.
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// Whether a user can ask for it by name alone: it needs no schedule.
    pub const fn is_selectable(self) -> bool {
        !matches!(self, StrategyKind::Follow | StrategyKind::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique_and_lead_back() {
        for (i, kind) in StrategyKind::ALL.iter().enumerate() {
            assert_eq!(StrategyKind::from_code(kind.code()), Some(*kind));
            assert!(!kind.about().is_empty());
            for other in &StrategyKind::ALL[..i] {
                assert_ne!(kind.name(), other.name());
            }
        }
    }

    #[test]
    fn the_numbers_of_written_plans_keep_their_meaning() {
        let names =
            [0, 1, 2, 3, 4, 5].map(|code| StrategyKind::from_code(code).map(StrategyKind::name));
        let expected = ["none", "round-robin", "random", "pct", "pos", "follow"].map(Some);
        assert_eq!(names, expected);
        assert_eq!(StrategyKind::from_code(6), None);
    }
}
