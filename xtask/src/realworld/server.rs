//! A server on the loopback interface, and a line-based client.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};

use super::{LIMIT, Launch};
use crate::process::{Measured, Running};

/// Timeout for the start of a server and for each request.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running server. It is killed when dropped.
pub(super) struct Server {
    running: Running,
    pub(super) port: u16,
}

impl Server {
    /// Starts it and waits until it accepts connections.
    pub(super) fn start(mut command: Command, port: u16, launch: &Launch<'_>) -> Result<Server> {
        command.stdin(Stdio::null()).stdout(File::create(launch.folder.join("output"))?);
        command.stderr(File::create(launch.folder.join("errors"))?);
        let server = Server { running: Running::start(&mut command)?, port };
        let begin = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            ensure!(begin.elapsed() < PATIENCE, "the server does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    pub(super) fn connect(&self) -> Result<Connection> {
        Connection::open(self.port)
    }

    /// Asks it to end with a signal.
    pub(super) fn terminate(&self) -> Result<()> {
        self.running.terminate()
    }

    /// Waits until it has ended.
    pub(super) fn wait(self) -> Result<Measured> {
        self.running.wait(LIMIT)
    }
}

/// A port on which nothing listens.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// A connection with lines that end in CR LF.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(super) fn open(port: u16) -> Result<Connection> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Connection { stream: BufReader::new(stream) })
    }

    pub(super) fn send(&mut self, text: &str) -> Result<()> {
        Ok(self.stream.get_mut().write_all(text.as_bytes())?)
    }

    /// The next line, without its end.
    pub(super) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let count = self.stream.read_line(&mut line).context("no answer")?;
        ensure!(count > 0, "the server has closed the connection");
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Reads this many bytes and the end of the line after them.
    pub(super) fn block(&mut self, size: usize) -> Result<String> {
        let mut bytes = vec![0; size + 2];
        self.stream.read_exact(&mut bytes).context("no answer")?;
        bytes.truncate(size);
        Ok(String::from_utf8(bytes)?)
    }

    /// Sends a line and expects one in return.
    pub(super) fn expect(&mut self, request: &str, answer: &str) -> Result<()> {
        self.send(&format!("{request}\r\n"))?;
        let line = self.line()?;
        ensure!(line == answer, "`{request}` was answered `{line}`, not `{answer}`");
        Ok(())
    }
}

/// Runs the same function on several connections at once, each in its own thread.
pub(super) fn at_once(
    port: u16,
    connections: u32,
    work: impl Fn(u32, &mut Connection) -> Result<()> + Sync,
) -> Result<()> {
    thread::scope(|scope| {
        let one = |number| {
            let work = &work;
            scope.spawn(move || work(number, &mut Connection::open(port)?))
        };
        let workers: Vec<_> = (0..connections).map(one).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a client panicked")))
        })
    })
}
