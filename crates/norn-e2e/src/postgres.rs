//! A PostgreSQL server for tests: on a Unix socket in a temporary folder, without network.
//!
//! PostgreSQL refuses to run as root. There it runs as `nobody`.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{process::kill, tool::untested};

/// The folder in which Debian has the programs, for each version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// How long a server may take to start or to end.
const LIMIT: Duration = Duration::from_mins(1);

/// A running server.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: TempDir,
    child: Option<Child>,
}

impl Server {
    /// Starts a server with an empty database. If PostgreSQL is not installed, that is reported as
    /// [`untested`].
    #[track_caller]
    pub fn start() -> Option<Server> {
        let Some(programs) = programs() else {
            untested("PostgreSQL is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        // Its user needs a way to the data.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let mut server = Server { programs, folder, child: None };
        let mut create = server.command("initdb");
        create.args(["--auth=trust", "--username=norn", "--encoding=UTF8", "--no-sync", "-D"]);
        let created = create.arg(server.data()).output().unwrap();
        assert!(created.status.success(), "{created:?}");
        server.run();
        Some(server)
    }

    /// Its address.
    pub fn url(&self) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://norn@{folder}/postgres")
    }

    /// Ends it, which closes all connections, and starts it again.
    pub fn restart(&mut self) {
        self.stop();
        self.run();
    }

    /// Executes SQL. Returns the output of `psql`: a line for each row, columns separated by `|`.
    #[track_caller]
    pub fn sql(&self, sql: &str) -> String {
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, &self.url()]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn run(&mut self) {
        let log = fs::File::create(self.folder.path().join("log")).unwrap();
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        command.args(["-c", "listen_addresses="]).stderr(log);
        self.child = Some(command.spawn().unwrap());
        let ready = || {
            let mut command = Command::new(self.programs.join("pg_isready"));
            command.arg("-q").arg("-h").arg(self.folder.path()).args(["-U", "norn"]);
            command.status().unwrap().success()
        };
        let deadline = Instant::now() + LIMIT;
        while !ready() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "the server does not start: {log}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // A fast shutdown: it waits for no client.
            kill("-INT", &child.id().to_string());
            child.wait().unwrap();
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of PostgreSQL that must not run as root.
    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = if rustix::process::getuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The folder with the programs of PostgreSQL, which Debian does not put on the `PATH`.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|it| it.path().join("bin")).collect();
    folders.sort();
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let complete = |it: &&PathBuf| has(it, "initdb") && has(it, "postgres");
    folders.iter().find(complete).cloned()
}

fn has(folder: &Path, program: &str) -> bool {
    folder.join(program).is_file()
}
