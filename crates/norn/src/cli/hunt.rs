//! `norn hunt`.

use clap::Args;

use super::{Counting, Forcing, Search};

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0 nothing harmful, 1 something harmful was confirmed or observed.\n\n\
                        Examples:\n  norn hunt -- ./prog args\n  norn hunt prog.c\n  \
                        norn hunt --budget 500 -j 8 --format json -- ./prog\n  \
                        norn hunt --atomic-set queue.first,queue.count -- ./prog\n  \
                        norn hunt --suppressions tsan.supp -- ./prog\n  \
                        norn hunt --write-baseline known.json -- ./prog\n  \
                        norn hunt --baseline known.json -- ./prog"
)]
pub(crate) struct Hunt {
    /// Now and then, and when nothing is left to try: run so often in all under random schedules, to see
    /// what happens
    #[arg(long, default_value_t = 60, value_name = "NUMBER")]
    pub(crate) explore: usize,
    #[command(flatten)]
    pub(crate) search: Search,
    #[command(flatten)]
    pub(crate) counting: Counting,
    #[command(flatten)]
    pub(crate) forcing: Forcing,
}
