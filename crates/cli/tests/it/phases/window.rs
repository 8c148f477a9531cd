//! A command in a real pseudo-terminal, and what is on its screen.

use crate::sandbox::Sandbox;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// More than any of this takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command in a window of its own.
pub struct Window {
    pub keyboard: File,
    bytes: Receiver<Vec<u8>>,
    pub screen: vt100::Parser,
    /// All that came.
    seen: Vec<u8>,
    pub child: Child,
    /// The other end, so that it can be asked how it is set.
    line: File,
    before: Termios,
}

impl Window {
    /// With a size in rows and columns.
    pub fn open(sandbox: &Sandbox, size: (u16, u16), words: &str, variables: &[(&str, &str)]) -> Window {
        Window::open_into(sandbox, size, words, variables, None)
    }

    /// The same, with standard output going to a file.
    pub fn open_into(
        sandbox: &Sandbox,
        size: (u16, u16),
        words: &str,
        variables: &[(&str, &str)],
        output: Option<File>,
    ) -> Window {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("text");
        let end = || File::options().read(true).write(true).open(&name).expect("the other end");
        let line = end();
        tcsetwinsize(&master, winsize(size)).expect("a size");
        let before = tcgetattr(&line).expect("settings");
        // `setsid --ctty` makes it the controlling terminal, so that signals come from it.
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_relapse")]).args(words.split_whitespace());
        command.current_dir(sandbox.path()).env("TERM", "xterm").env_remove("NO_COLOR");
        command.envs(variables.iter().copied());
        let child =
            command.stdin(end()).stdout(output.unwrap_or_else(end)).stderr(end()).spawn().expect("setsid");
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().expect("a reader");
        let (sender, bytes) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // It ends with an error once the other end is closed.
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let screen = vt100::Parser::new(size.0, size.1, 0);
        Window { keyboard, bytes, screen, seen: Vec::new(), child, line, before }
    }

    pub fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Waits until the screen is as it should be.
    pub fn until(&mut self, what: &str, mut is: impl FnMut(&str) -> bool) {
        let start = Instant::now();
        while self.drawing() || !is(&self.text()) {
            if let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(50)) {
                self.screen.process(&bytes);
                self.seen.extend(bytes);
            }
            assert!(start.elapsed() < PATIENCE, "{what} did not come:\n{}", self.text());
        }
    }

    /// Whether a frame has begun that is not at its end.
    fn drawing(&self) -> bool {
        let last = |mark: &[u8]| self.seen.windows(mark.len()).rposition(|w| w == mark);
        last(b"\x1b[?2026h") > last(b"\x1b[?2026l")
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("a key");
    }

    /// The end, and that the terminal is as it was.
    pub fn ended(mut self) -> (ExitStatus, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(start.elapsed() < PATIENCE, "it goes on:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        };
        while let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(200)) {
            self.screen.process(&bytes);
        }
        let screen = self.screen.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{}", self.text());
        let after = tcgetattr(&self.line).expect("settings");
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        (status, self.text())
    }
}

pub fn winsize((rows, columns): (u16, u16)) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
