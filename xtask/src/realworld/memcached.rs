//! memcached: worker threads, maintenance threads, libevent (which is not instrumented).

use std::{fmt::Write as _, path::PathBuf, time::Instant};

use anyhow::{Context as _, Result, ensure};

use super::{
    Launch, Outcome, Program, build_folder, is_fresh,
    server::{Connection, Server, at_once, free_port},
    step,
};
use crate::{
    debian,
    toolchain::{self, FLAGS, Toolchain},
};

const CONNECTIONS: u32 = 8;
const ROUNDS: u32 = 1000;

pub(super) struct Memcached;

impl Program for Memcached {
    fn name(&self) -> &'static str {
        "memcached"
    }

    fn story(&self) -> &'static str {
        "`./configure CC=\"norn cc\" && make`, then `memcached -t 4` on a loopback port. Eight \
         connections do 1000 rounds each: set, get, append, incr of a shared counter, delete and \
         get again, every answer checked. At the end the counter and the server's own counts of \
         commands must be right, and SIGTERM must end it."
    }

    fn build(&self, toolchain: &Toolchain) -> Result<PathBuf> {
        let tree = build_folder(toolchain, "memcached");
        let program = tree.join("memcached");
        if is_fresh(&program, toolchain) {
            return Ok(program);
        }
        debian::unpack("memcached", &tree)?;
        let mut configure = toolchain::command("./configure");
        configure.arg(format!("CC={}", toolchain.cc)).arg(format!("CFLAGS={FLAGS}"));
        step(&mut configure, &tree).context("hint: it needs the package libevent-dev")?;
        // Patched files look newer than the files generated from them, which need not be
        // regenerated.
        let generators = ["ACLOCAL=:", "AUTOCONF=:", "AUTOMAKE=:", "AUTOHEADER=:"];
        step(toolchain::command("make").args(["-j2", "memcached"]).args(generators), &tree)?;
        Ok(program)
    }

    fn run(&self, launch: &Launch<'_>) -> Result<Outcome> {
        let port = free_port()?;
        let number = port.to_string();
        let words = ["-l", "127.0.0.1", "-p", &number, "-U", "0", "-t", "4", "-u", "root"];
        // As root it requires a user name, and ignores it otherwise.
        let server = Server::start(launch.command(words)?, port, launch)?;
        server.connect()?.expect("set shared 0 0 1\r\n0", "STORED")?;
        let begin = Instant::now();
        at_once(port, CONNECTIONS, client)?;
        let wall = begin.elapsed();
        let results = results(&mut server.connect()?)?;
        server.terminate()?;
        Ok(Outcome { wall, end: server.wait()?.end, results })
    }
}

fn client(number: u32, server: &mut Connection) -> Result<()> {
    for round in 0..ROUNDS {
        let key = format!("key-{number}-{}", round % 100);
        let value = format!("value {round} of {number}");
        store(server, "set", &key, &value)?;
        ensure!(get(server, &key)?.as_ref() == Some(&value), "{key} is not what was set");
        store(server, "append", &key, "!")?;
        ensure!(get(server, &key)? == Some(value + "!"), "{key} was not appended to");
        let counter = ask_number(server, "incr shared 1")?;
        ensure!((1..=CONNECTIONS * ROUNDS).contains(&counter), "the counter is {counter}");
        if round % 2 == 1 {
            server.expect(&format!("delete {key}"), "DELETED")?;
            ensure!(get(server, &key)?.is_none(), "{key} is there after its deletion");
        }
    }
    Ok(())
}

fn store(server: &mut Connection, how: &str, key: &str, value: &str) -> Result<()> {
    server.expect(&format!("{how} {key} 0 0 {}\r\n{value}", value.len()), "STORED")
}

fn get(server: &mut Connection, key: &str) -> Result<Option<String>> {
    server.send(&format!("get {key}\r\n"))?;
    let head = server.line()?;
    if head == "END" {
        return Ok(None);
    }
    let size = head.strip_prefix(&format!("VALUE {key} 0 ")).context("an unexpected answer")?;
    let value = server.block(size.parse()?)?;
    ensure!(server.line()? == "END", "an answer without end");
    Ok(Some(value))
}

fn ask_number(server: &mut Connection, request: &str) -> Result<u32> {
    server.send(&format!("{request}\r\n"))?;
    Ok(server.line()?.parse()?)
}

/// The shared counter and the server's own statistics.
fn results(server: &mut Connection) -> Result<String> {
    let counter = get(server, "shared")?.context("the counter is gone")?;
    let total = (CONNECTIONS * ROUNDS).to_string();
    ensure!(counter == total, "the counter is {counter}, not {total}");
    let mut results = format!("counter {counter}");
    server.send("stats\r\n")?;
    loop {
        let line = server.line()?;
        match line.strip_prefix("STAT ").and_then(|it| it.split_once(' ')) {
            None => return Ok(results),
            Some((name, value)) if COUNTED.contains(&name) => {
                let _ = write!(results, ", {name} {value}");
            }
            Some(_) => {}
        }
    }
}

const COUNTED: [&str; 7] =
    ["threads", "cmd_get", "cmd_set", "get_hits", "get_misses", "delete_hits", "curr_items"];
