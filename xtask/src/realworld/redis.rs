//! redis: an event loop with I/O threads that read and write, and spin for work.

use std::{fs::File, path::PathBuf, process::Stdio, thread, time::Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::{
    LIMIT, Launch, Outcome, Program, build_folder, is_fresh,
    server::{Connection, Server, at_once, free_port},
    step,
};
use crate::{
    debian,
    process::{End, measure},
    toolchain::{self, Toolchain},
};

const CONNECTIONS: u32 = 4;
const ROUNDS: u32 = 100;

pub(super) struct Redis;

impl Program for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    fn story(&self) -> &'static str {
        "`make MALLOC=libc CC=\"norn cc\"`, then `redis-server --io-threads 4 \
         --io-threads-do-reads yes` on a loopback port. Four connections set, get, count, push \
         and read lists, every answer checked; then `redis-benchmark -c 20 -t \
         set,get,incr,lpush,sadd,hset`, with `-n 20000` where each I/O thread has a processor \
         and `-n 200` elsewhere, because the threads spin and then mostly wait for each other. \
         At the end the digest of all data must be the same, and `SHUTDOWN NOSAVE` must end it."
    }

    fn build(&self, toolchain: &Toolchain) -> Result<PathBuf> {
        let tree = build_folder(toolchain, "redis");
        let program = tree.join("src/redis-server");
        if is_fresh(&program, toolchain) {
            return Ok(program);
        }
        debian::unpack("redis", &tree)?;
        let mut make = toolchain::command("make");
        make.args(["-j2", "-C", "src", "MALLOC=libc", "OPTIMIZATION=-O2", "DEBUG=-g"]);
        make.arg(format!("CC={}", toolchain.cc)).args(["redis-server", "redis-benchmark"]);
        step(&mut make, &tree)?;
        Ok(program)
    }

    fn run(&self, launch: &Launch<'_>) -> Result<Outcome> {
        let port = free_port()?;
        let number = port.to_string();
        let place = ["--bind", "127.0.0.1", "--port", &number, "--save", ""];
        let threads = ["--io-threads", "4", "--io-threads-do-reads", "yes"];
        let debug = ["--enable-debug-command", "local"];
        let words = place.into_iter().chain(threads).chain(debug);
        let server = Server::start(launch.command(words)?, port, launch)?;
        let begin = Instant::now();
        at_once(port, CONNECTIONS, client)?;
        benchmark(launch, &number)?;
        let wall = begin.elapsed();
        let mut connection = server.connect()?;
        let results = results(&mut connection)?;
        connection.send(&request(&["SHUTDOWN", "NOSAVE"]))?;
        Ok(Outcome { wall, end: server.wait()?.end, results })
    }
}

/// The load generator of the package, always the native build.
fn benchmark(launch: &Launch<'_>, port: &str) -> Result<()> {
    let program = build_folder(&Toolchain::native(), "redis").join("src/redis-benchmark");
    let mut command = std::process::Command::new(program);
    command.args(["-h", "127.0.0.1", "-p", port, "-n", requests(), "-c", "20", "-q"]);
    command.args(["-t", "set,get,incr,lpush,sadd,hset"]).stdin(Stdio::null());
    command.stdout(File::create(launch.folder.join("benchmark"))?).stderr(Stdio::null());
    let end = measure(&mut command, LIMIT)?.end;
    ensure!(end == End::Exited(0), "redis-benchmark: {end}");
    Ok(())
}

fn requests() -> &'static str {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    if processors > 4 { "20000" } else { "200" }
}

fn client(number: u32, server: &mut Connection) -> Result<()> {
    let (key, list) = (format!("key-{number}"), format!("list-{number}"));
    for round in 0..ROUNDS {
        let value = format!("value {round} of {number}");
        check(server, &["SET", &key, &value], "OK")?;
        check(server, &["GET", &key], &value)?;
        check(server, &["APPEND", &key, "!"], &(value.len() + 1).to_string())?;
        check(server, &["RPUSH", &list, &value], &(round + 1).to_string())?;
        check(server, &["LRANGE", &list, "-1", "-1"], &format!("[{value}]"))?;
        let counter: u32 = ask(server, &["INCR", "shared"])?.parse()?;
        ensure!((1..=CONNECTIONS * ROUNDS).contains(&counter), "the counter is {counter}");
    }
    Ok(())
}

fn results(server: &mut Connection) -> Result<String> {
    let total = (CONNECTIONS * ROUNDS).to_string();
    check(server, &["GET", "shared"], &total)?;
    let keys = ask(server, &["DBSIZE"])?;
    let digest = ask(server, &["DEBUG", "DIGEST"])?;
    Ok(format!("counter {total}, {keys} keys, digest {digest}"))
}

fn check(server: &mut Connection, words: &[&str], answer: &str) -> Result<()> {
    let got = ask(server, words)?;
    ensure!(got == answer, "{words:?} was answered `{got}`, not `{answer}`");
    Ok(())
}

fn ask(server: &mut Connection, words: &[&str]) -> Result<String> {
    server.send(&request(words))?;
    reply(server)
}

/// A request in the server's protocol: a list of words with lengths.
fn request(words: &[&str]) -> String {
    let word = |it: &&str| format!("${}\r\n{it}\r\n", it.len());
    format!("*{}\r\n{}", words.len(), words.iter().map(word).collect::<String>())
}

/// A reply as text; a list is in brackets.
fn reply(server: &mut Connection) -> Result<String> {
    let line = server.line()?;
    let (kind, rest) = line.split_at_checked(1).context("an empty reply")?;
    match kind {
        "+" | ":" => Ok(rest.to_owned()),
        "$" if rest == "-1" => Ok("nothing".to_owned()),
        "$" => server.block(rest.parse()?),
        "*" => {
            let count: usize = rest.parse()?;
            let items = (0..count).map(|_| reply(server)).collect::<Result<Vec<_>>>()?;
            Ok(format!("[{}]", items.join(", ")))
        }
        _ => bail!("the server says `{line}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted() {
        assert_eq!(request(&["GET", "a key"]), "*2\r\n$3\r\nGET\r\n$5\r\na key\r\n");
    }
}
