-- The schema of a campaign, for SQLite and for PostgreSQL. `hunt.sql` has the rest.
-- Times are milliseconds since 1970 by the clock of the database; 0 and 1 are false and true.

CREATE TABLE norn_schema (
    version BIGINT NOT NULL
);

-- The only row: what all runs have in common.
CREATE TABLE campaign (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    settings TEXT NOT NULL,            -- JSON: the command, what counts as a failure, limits
    stop_early BIGINT NOT NULL,        -- whether it ends when the ranking has settled
    settled BIGINT                     -- the seed of the last run that counts, if it has settled
);

-- Each failure once.
CREATE TABLE failure (
    id BIGINT PRIMARY KEY,             -- a hash of its site
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    site TEXT NOT NULL,                -- JSON: what identifies it
    seed BIGINT NOT NULL,              -- the first run with it
    clip TEXT                          -- JSON: the clip of that run, for `norn replay`
);

-- Each interleaving pattern once.
CREATE TABLE pattern (
    id BIGINT PRIMARY KEY,             -- a hash of its shape and sites
    shape TEXT NOT NULL,               -- such as R1-W2-W1
    title TEXT NOT NULL,
    sites TEXT NOT NULL,               -- JSON: the place in the source of each access
    accesses TEXT NOT NULL,            -- JSON: its accesses in the run `seed`
    seed BIGINT NOT NULL,              -- the first failing run with it, or else the first run
    failing BIGINT NOT NULL            -- whether that run failed
);

-- Each planned run, made or not. A run follows from its seed and the settings.
CREATE TABLE run (
    seed BIGINT PRIMARY KEY,
    worker TEXT,                       -- the process that makes or made it
    leased_until BIGINT,               -- when another worker may make it
    outcome TEXT CHECK (outcome IN ('passed', 'failed', 'unfinished', 'lost')),
    strategy TEXT,                     -- the scheduling strategy, such as pct
    expected BIGINT,                   -- for PCT: the approximate number of events
    failure BIGINT REFERENCES failure (id),
    ordered BIGINT,                    -- whether the order of all accesses is known
    sampled BIGINT,                    -- whether only some bytes of long accesses were looked at
    error TEXT                         -- why a lost run could not be made
);

CREATE INDEX run_open ON run (seed) WHERE outcome IS NULL;

-- Which patterns occurred in which runs.
CREATE TABLE run_pattern (
    seed BIGINT NOT NULL REFERENCES run (seed),
    pattern BIGINT NOT NULL REFERENCES pattern (id),
    position BIGINT NOT NULL,          -- the order in which they occurred first, from 0
    PRIMARY KEY (seed, pattern)
);

CREATE INDEX run_pattern_pattern ON run_pattern (pattern);
