//! Reads keys from the terminal, one at a time.

use std::io::{self, IsTerminal as _, Read as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use terminal_size::{Height, Width, terminal_size};

use super::walk::{Key, Steps};

/// A screen whose size is not known.
const USUAL: (usize, usize) = (80, 24);
/// Clears the screen and goes to its first line.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Whether there is a terminal to read keys from and to draw on.
pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Shows one step after another, as the user's keys say.
pub(super) fn walk(steps: &Steps) -> io::Result<()> {
    let _mode = KeyMode::begin()?;
    let mut at = 0;
    loop {
        let size = terminal_size()
            .map_or(USUAL, |(Width(width), Height(height))| (width.into(), height.into()));
        // Names were made printable: the only control characters are these.
        let screen = steps.screen(at, size).join("\n");
        let mut out = io::stdout().lock();
        write!(out, "{CLEAR}{screen}")?;
        out.flush()?;
        // A key sends all of its bytes at once.
        let mut bytes = [0; 8];
        let length = io::stdin().lock().read(&mut bytes)?;
        match steps.after(at, Key::of(&bytes[..length])) {
            Some(next) => at = next,
            None => return writeln!(out),
        }
    }
}

/// The terminal gives keys to norn as they are pressed, and does not show them. The mode before is restored
/// at the end.
struct KeyMode {
    before: Termios,
}

impl KeyMode {
    fn begin() -> io::Result<KeyMode> {
        let before = tcgetattr(io::stdin())?;
        let mut mode = before.clone();
        mode.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        tcsetattr(io::stdin(), OptionalActions::Flush, &mode)?;
        Ok(KeyMode { before })
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        // If that fails, there is nothing left to do.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
