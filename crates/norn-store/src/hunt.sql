-- What version 2 added: executions of one program that several processes share.

-- The only row: the program that is executed.
CREATE TABLE hunt (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    settings TEXT NOT NULL,            -- JSON: the command, the folder, the build
    ended BIGINT NOT NULL              -- whether no more executions are wanted
);

-- Each execution that is wanted, made or not. It follows from its plan.
CREATE TABLE execution (
    id TEXT PRIMARY KEY,               -- a hash of the plan
    position BIGINT NOT NULL,          -- the lowest one is made first
    plan TEXT NOT NULL,                -- JSON: the schedule, and all else that decides what happens
    worker TEXT,                       -- the process that makes or made it
    leased_until BIGINT,               -- when another worker may make it
    result TEXT                        -- JSON: how it ended; null until it has been made
);

CREATE INDEX execution_open ON execution (position) WHERE result IS NULL;

-- The trace and the output of an execution, in parts.
CREATE TABLE execution_file (
    execution TEXT NOT NULL REFERENCES execution (id),
    name TEXT NOT NULL,
    part BIGINT NOT NULL,              -- from 0
    bytes BYTEA NOT NULL,
    PRIMARY KEY (execution, name, part)
);

-- The workers of a hunt.
CREATE TABLE hunt_worker (
    name TEXT PRIMARY KEY,
    jobs BIGINT NOT NULL,              -- how many executions it makes at a time
    alive_until BIGINT NOT NULL        -- when it is taken for dead, unless it is heard of
);
