//! Example traces from papers.

/// Figure 3 of Chang et al., with their numbers; t1 to t3 are T0, T0.1 and T0.2. Their notify and
/// wait are modelled by a semaphore.
pub const FIGURE_3: &str = "
    order global
    T0 begin @ 1
    T0 fork T0.1 @ 2
    T0 fork T0.2 @ 3
    T0.1 begin @ 4
    T0.2 begin @ 5
    T0.1 acq l @ 6
    T0.1 w x 1 @ 7
    T0.1 rel l @ 8
    T0.1 post a @ 9
    T0 down a @ 10
    T0 post b @ 11
    T0.2 down b @ 12
    T0.2 acq l @ 13
    T0.2 r x 1 @ 14
    T0.2 rel l @ 15
    T0.1 acq l @ 16
    T0.1 post c @ 17
    T0.1 w y 1 @ 18
    T0.1 rel l @ 19
    T0.1 w z 1 @ 20
    T0.1 end @ 21
    T0.2 down c @ 22
    T0.2 acq l @ 23
    T0.2 r y 1 @ 24
    T0.2 rel l @ 25
    T0.2 r z 1 @ 26
    T0.2 end @ 27
    T0 acq l @ 28
    T0 w x 2 @ 29
    T0 rel l @ 30
    T0 join T0.1 @ 31
    T0 join T0.2 @ 32
    T0 w y 2 @ 33
";
