//! Starts a program without a copy of this process.
//!
//! A fork copies the page tables of the recorder, and afterwards each page that the recorder writes to. A hunt keeps
//! traces in memory and starts a process for each execution, so that took more than a third of its processor time. Here the child shares the memory
//! of the recorder until it executes its program, as with `posix_spawn`, which can neither set limits nor a signal for the
//! death of the parent. Until then, the calling thread waits, and the child only makes system calls, on data that was
//! prepared before.
#![expect(unsafe_code, reason = "creates a process by calls that Rust cannot check")]

use std::{
    collections::BTreeMap,
    env,
    ffi::{CString, OsStr, OsString, c_void},
    io,
    mem::zeroed,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, process::ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    process::ExitStatus,
    ptr,
    sync::atomic::{AtomicI32, Ordering},
};

use libc::{c_char, c_int, sighandler_t, sigset_t};
use memmap2::MmapMut;
use rustix::{
    fs::{Access, access},
    io::{Errno, retry_on_intr},
    process::{Pid, Resource, Rlimit, WaitOptions, setrlimit, waitpid},
};

/// The stack of the child until it executes its program, in bytes.
const STACK: usize = 64 << 10;
/// Where programs are looked for without `PATH`, as in libc.
const USUAL_PATH: &str = "/bin:/usr/bin";
const SHELL: &str = "/bin/sh";

/// What a program starts with that the recorder has changed for itself.
pub(crate) struct Inherited {
    pub(crate) mask: sigset_t,
    pub(crate) dispositions: [(c_int, sighandler_t); 2],
    pub(crate) limits: [(Resource, Rlimit); 2],
}

/// A program to start.
pub(crate) struct Program<'a> {
    /// Its path, or its name in one of the folders of `PATH`.
    pub(crate) name: &'a OsStr,
    pub(crate) arguments: Vec<&'a OsStr>,
    /// Variables in addition to those of the recorder.
    pub(crate) environment: Vec<(&'a OsStr, &'a OsStr)>,
    pub(crate) directory: Option<&'a Path>,
    /// Standard input, output and error, unless they are those of the recorder.
    pub(crate) streams: [Option<OwnedFd>; 3],
    pub(crate) inherited: Inherited,
    /// Whether it leads a process group of its own.
    pub(crate) own_group: bool,
    /// Whether it is killed when the thread that started it ends.
    pub(crate) ends_with_parent: bool,
}

/// A process that was started here.
pub(crate) struct Child(Pid);

impl Child {
    pub(crate) fn pid(&self) -> Pid {
        self.0
    }

    pub(crate) fn wait(self) -> io::Result<ExitStatus> {
        let ended = retry_on_intr(|| waitpid(Some(self.0), WaitOptions::empty()))?;
        let (_, status) = ended.ok_or(io::ErrorKind::Other)?;
        Ok(ExitStatus::from_raw(status.as_raw()))
    }
}

impl Program<'_> {
    pub(crate) fn start(&self) -> io::Result<Child> {
        let image = Image::new(self)?;
        let mut stack = MmapMut::map_anon(STACK)?;
        let _blocked = Blocked::all();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the child runs on a stack of its own, and this thread waits until the child has executed a program or
        // ended, so everything that the child reads is alive. The end of a mapping is aligned as a stack has to be.
        let pid = unsafe {
            let top = stack.as_mut_ptr().add(STACK).cast();
            libc::clone(execute, top, flags, (&raw const image).cast_mut().cast())
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        let child = Child(Pid::from_raw(pid).ok_or(io::ErrorKind::Other)?);
        match image.error.load(Ordering::Relaxed) {
            0 => Ok(child),
            error => {
                child.wait()?;
                Err(io::Error::from_raw_os_error(error))
            }
        }
    }
}

/// All that the child needs, in the form in which the kernel takes it.
struct Image<'a> {
    program: &'a Program<'a>,
    path: CString,
    words: Strings,
    environment: Strings,
    directory: Option<CString>,
    /// The command line for a script that does not name its interpreter.
    script: Strings,
    /// Why the program could not be executed.
    error: AtomicI32,
}

impl Image<'_> {
    fn new<'a>(program: &'a Program<'a>) -> io::Result<Image<'a>> {
        let mut environment: BTreeMap<OsString, OsString> = env::vars_os().collect();
        let added = program.environment.iter().map(|it| (it.0.to_owned(), it.1.to_owned()));
        environment.extend(added);
        let path = find(program, environment.get(OsStr::new("PATH")))?;
        let words = [program.name].into_iter().chain(program.arguments.iter().copied());
        let interpreter = [OsStr::new(SHELL), path.as_os_str()].into_iter();
        let script = interpreter.chain(program.arguments.iter().copied());
        let lines = environment.into_iter().map(|(mut line, value)| {
            line.push("=");
            line.push(value);
            line
        });
        Ok(Image {
            program,
            path: c_string(path.as_os_str())?,
            words: Strings::new(words)?,
            environment: Strings::new(lines)?,
            directory: program.directory.map(|it| c_string(it.as_os_str())).transpose()?,
            script: Strings::new(script)?,
            error: AtomicI32::new(0),
        })
    }
}

/// Strings and the list of pointers to them that ends with none.
struct Strings {
    pointers: Vec<*const c_char>,
    _owned: Vec<CString>,
}

impl Strings {
    fn new(texts: impl Iterator<Item = impl AsRef<OsStr>>) -> io::Result<Strings> {
        let owned = texts.map(|it| c_string(it.as_ref())).collect::<io::Result<Vec<_>>>()?;
        let pointers = owned.iter().map(|it| it.as_ptr()).chain([ptr::null()]);
        Ok(Strings { pointers: pointers.collect(), _owned: owned })
    }
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

/// The path of a program: a name without a slash is looked for in the folders of `PATH`, as `execvp` does.
fn find(program: &Program<'_>, path: Option<&OsString>) -> io::Result<PathBuf> {
    let name = program.name;
    if name.is_empty() || name.as_bytes().contains(&b'/') {
        return Ok(name.into());
    }
    let mut error = io::ErrorKind::NotFound;
    for folder in env::split_paths(path.map_or(OsStr::new(USUAL_PATH), OsString::as_os_str)) {
        let path = folder.join(name);
        let from_here = program.directory.map(|it| it.join(&path));
        let place = from_here.as_ref().unwrap_or(&path);
        match access(place, Access::EXEC_OK) {
            Ok(()) if place.is_file() => return Ok(path),
            Ok(()) | Err(Errno::ACCESS) => error = io::ErrorKind::PermissionDenied,
            Err(_) => {}
        }
    }
    Err(error.into())
}

/// While this exists, the calling thread and the processes that it starts receive no signals.
struct Blocked(sigset_t);

impl Blocked {
    fn all() -> Blocked {
        // SAFETY: only fills in sets of signals, and blocks them.
        unsafe {
            let (mut all, mut before) = (zeroed(), zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
            Blocked(before)
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: restores the previous mask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// What the child does. Returns only if it fails, and the child ends then.
extern "C" fn execute(image: *mut c_void) -> c_int {
    // SAFETY: the parent waits, so the image is alive and nobody else uses it.
    let image = unsafe { &*image.cast::<Image<'_>>() };
    let error = prepare(image).err().unwrap_or_else(|| replace(image));
    image.error.store(error.raw_os_error().unwrap_or(libc::EINVAL), Ordering::Relaxed);
    127
}

/// Makes everything as the program expects it. The mask of signals comes last: no handler of the recorder may run in the
/// child, since it would work on the recorder's memory.
fn prepare(image: &Image<'_>) -> io::Result<()> {
    let check = |result: c_int| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    let Program { streams, inherited, own_group, ends_with_parent, .. } = image.program;
    // SAFETY: only system calls that affect the child alone; paths end with a zero byte.
    unsafe {
        for (target, stream) in (0..).zip(streams) {
            if let Some(stream) = stream {
                check(libc::dup2(stream.as_raw_fd(), target))?;
            }
        }
        if let Some(directory) = &image.directory {
            check(libc::chdir(directory.as_ptr()))?;
        }
        if *own_group {
            check(libc::setpgid(0, 0))?;
        }
        for (resource, limit) in inherited.limits {
            setrlimit(resource, limit)?;
        }
        if *ends_with_parent {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
        forget_handlers();
        for (signal, disposition) in inherited.dispositions {
            libc::signal(signal, disposition);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const inherited.mask, ptr::null_mut());
    }
    Ok(())
}

fn forget_handlers() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: the dispositions of the child are its own.
        unsafe {
            let mut action: libc::sigaction = zeroed();
            let known = libc::sigaction(signal, ptr::null(), &raw mut action) == 0;
            if known && ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
}

/// Executes the program; returns why that is not possible.
fn replace(Image { path, words, script, environment, .. }: &Image<'_>) -> io::Error {
    let environment = environment.pointers.as_ptr();
    // SAFETY: the lists end with no pointer, and all strings with a zero byte.
    unsafe {
        libc::execve(path.as_ptr(), words.pointers.as_ptr(), environment);
        let error = io::Error::last_os_error();
        if error.raw_os_error() == Some(libc::ENOEXEC) {
            libc::execve(script.pointers[0], script.pointers.as_ptr(), environment);
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Read as _, os::unix::fs::PermissionsExt as _};

    use rustix::process::getrlimit;

    use super::*;

    const DEFAULT: sighandler_t = libc::SIG_DFL;

    fn program<'a>(name: &'a str, arguments: &[&'a str]) -> Program<'a> {
        // SAFETY: an empty set.
        let mask = unsafe { zeroed() };
        let limits = [Resource::Nofile, Resource::Fsize].map(|it| (it, getrlimit(it)));
        Program {
            name: OsStr::new(name),
            arguments: arguments.iter().map(|it| OsStr::new(*it)).collect(),
            environment: Vec::new(),
            directory: None,
            streams: [None, None, None],
            inherited: Inherited {
                mask,
                dispositions: [(libc::SIGPIPE, DEFAULT), (libc::SIGXFSZ, DEFAULT)],
                limits,
            },
            own_group: false,
            ends_with_parent: true,
        }
    }

    /// What a program prints.
    fn output(mut program: Program<'_>) -> String {
        let (mut reader, writer) = io::pipe().unwrap();
        program.streams[1] = Some(writer.into());
        let child = program.start().unwrap();
        drop(program);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success());
        text
    }

    #[test]
    fn programs_start_as_described() {
        let folder = tempfile::tempdir().unwrap();
        let mut limited = program("sh", &["-c", "echo $LETTER; pwd; ulimit -n"]);
        limited.environment = vec![(OsStr::new("LETTER"), OsStr::new("a=b"))];
        limited.directory = Some(folder.path());
        limited.inherited.limits[0].1.current = Some(17);
        let lines = output(limited);
        let here = fs::canonicalize(folder.path()).unwrap();
        assert_eq!(lines, format!("a=b\n{}\n17\n", here.display()));
    }

    #[test]
    fn signals_are_those_of_the_description() {
        let mut ignoring = program("cat", &["/proc/self/status"]);
        ignoring.inherited.dispositions[0].1 = libc::SIG_IGN;
        // SAFETY: only changes the set.
        unsafe { libc::sigaddset(&raw mut ignoring.inherited.mask, libc::SIGUSR2) };
        let status = output(ignoring);
        let field = |name: &str| {
            let line = status.lines().find_map(|it| it.strip_prefix(name)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        let bit = |signal: c_int| 1 << (signal - 1);
        assert_eq!(field("SigBlk:"), bit(libc::SIGUSR2));
        assert_eq!(field("SigCgt:"), 0);
        assert_eq!(field("SigIgn:") & bit(libc::SIGPIPE), bit(libc::SIGPIPE));
    }

    #[test]
    fn what_cannot_be_executed_is_an_error_of_the_parent() {
        let folder = tempfile::tempdir().unwrap();
        let error = |program: Program<'_>| program.start().err().unwrap().kind();
        assert_eq!(error(program("/nowhere/at/all", &[])), io::ErrorKind::NotFound);
        assert_eq!(error(program("no such program", &[])), io::ErrorKind::NotFound);
        assert_eq!(error(program("", &[])), io::ErrorKind::NotFound);
        assert_eq!(error(program("true", &["a\0b"])), io::ErrorKind::InvalidInput);
        let path = folder.path().to_str().unwrap();
        assert_eq!(error(program(path, &[])), io::ErrorKind::PermissionDenied);
        let mut lost = program("true", &[]);
        lost.directory = Some(Path::new("/nowhere"));
        assert_eq!(error(lost), io::ErrorKind::NotFound);
    }

    #[test]
    fn scripts_need_not_name_their_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        fs::write(&script, "echo $1").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(output(program(script.to_str().unwrap(), &["word"])), "word\n");
        let mut named = program("script", &["word"]);
        let path = env::join_paths([Path::new("relative"), Path::new("")]).unwrap();
        named.environment = vec![(OsStr::new("PATH"), &path)];
        named.directory = Some(folder.path());
        assert_eq!(output(named), "word\n");
    }
}
