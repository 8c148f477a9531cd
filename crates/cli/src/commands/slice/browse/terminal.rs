//! The real terminal: acquired, drawn on, and restored on every exit path.

use super::frame::{Line, TextStyle};
use super::state::Key;
use crate::render::Paint;
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::{Attribute, Color, Print, ResetColor, SetAttribute, SetForegroundColor};
use crossterm::terminal::{
    self, BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen,
};
use crossterm::{cursor, execute, queue};
use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The interval at which the interrupt flag is polled.
const TICK: Duration = Duration::from_millis(100);

/// An input event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    Key(Key),
    /// The window was resized.
    Resized,
    /// Ctrl-C, or the terminal was closed; with the exit code for it.
    Ended(u8),
}

/// Owns the terminal until it is dropped.
pub struct Screen {
    paint: Paint,
}

impl Screen {
    /// Acquires the terminal.
    pub fn take(paint: Paint) -> io::Result<Screen> {
        // A panic's message must appear on the main screen, not on the alternate one.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore_terminal();
            hook(info);
        }));
        terminal::enable_raw_mode()?;
        let screen = Screen { paint };
        execute!(io::stdout(), EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }

    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        let (columns, rows) = terminal::size().unwrap_or((80, 24));
        // Some pseudo-terminals report no size.
        if columns == 0 || rows == 0 { (80, 24) } else { (usize::from(columns), usize::from(rows)) }
    }

    pub fn show(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        // Terminals that support this show the frame atomically, not line by line.
        queue!(out, BeginSynchronizedUpdate)?;
        for (row, line) in (0u16..).zip(lines) {
            queue!(out, cursor::MoveTo(0, row))?;
            for span in line {
                match self.paint.enabled().then_some(span.look) {
                    None | Some(TextStyle::Plain) => queue!(out, Print(&span.text))?,
                    Some(look) => {
                        match look {
                            TextStyle::Good => {
                                queue!(out, SetForegroundColor(Color::Green), SetAttribute(Attribute::Bold))?
                            }
                            TextStyle::Bold => queue!(out, SetAttribute(Attribute::Bold))?,
                            TextStyle::Faint => queue!(out, SetAttribute(Attribute::Dim))?,
                            TextStyle::Marked => queue!(out, SetAttribute(Attribute::Reverse))?,
                            TextStyle::Plain => {}
                        }
                        queue!(out, Print(&span.text), SetAttribute(Attribute::Reset), ResetColor)?;
                    }
                }
            }
            queue!(out, Clear(ClearType::UntilNewLine))?;
        }
        queue!(out, EndSynchronizedUpdate)?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Restores the terminal. Errors are ignored: there is no recovery.
fn restore_terminal() {
    let _ = execute!(io::stdout(), SetAttribute(Attribute::Reset), cursor::Show, LeaveAlternateScreen);
    let _ = terminal::disable_raw_mode();
}

/// Ends the command immediately on a signal, after restoring the terminal. It uses a separate thread, since
/// reading keys from a closed terminal may block forever.
fn end_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            restore_terminal();
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// Reads keys on a separate thread, so that Ctrl-C works while a level is computed: then it stops that
/// computation, otherwise it ends the browser.
pub fn listen(busy: Arc<AtomicBool>, interrupted: Arc<AtomicBool>) -> io::Result<Receiver<Input>> {
    end_on_signals()?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        loop {
            let input = match event::poll(TICK) {
                Ok(true) => event::read().ok().and_then(meant),
                Ok(false) => None,
                // The terminal was closed.
                Err(_) => Some(Input::Ended(SignalExitCodes::HANG_UP)),
            };
            let is_busy = busy.load(Ordering::Relaxed);
            if is_busy && input == Some(Input::Ended(SignalExitCodes::INTERRUPTED)) {
                interrupted.store(true, Ordering::Relaxed);
            }
            let input = match interrupted.load(Ordering::Relaxed) {
                true if is_busy => None,
                true => Some(Input::Ended(SignalExitCodes::INTERRUPTED)),
                false => input,
            };
            let Some(input) = input else { continue };
            if let (Input::Ended(code), true) = (input, is_busy) {
                restore_terminal();
                std::process::exit(i32::from(code));
            }
            if sender.send(input).is_err() || matches!(input, Input::Ended(_)) {
                return;
            }
        }
    });
    Ok(receiver)
}

/// Exit codes by the convention of shells.
struct SignalExitCodes;

impl SignalExitCodes {
    const HANG_UP: u8 = 129;
    const INTERRUPTED: u8 = 130;
}

fn meant(event: Event) -> Option<Input> {
    let KeyEvent { code, modifiers, kind, .. } = match event {
        Event::Resize(..) => return Some(Input::Resized),
        Event::Key(key) => key,
        _ => return None,
    };
    if kind == KeyEventKind::Release {
        return None;
    }
    if modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(code, KeyCode::Char('c')).then_some(Input::Ended(SignalExitCodes::INTERRUPTED));
    }
    let key = match code {
        KeyCode::Up | KeyCode::Char('k') => Key::Up,
        KeyCode::Down | KeyCode::Char('j') => Key::Down,
        KeyCode::Right | KeyCode::Enter | KeyCode::Char('l') => Key::Right,
        KeyCode::Left | KeyCode::Backspace | KeyCode::Char('h') => Key::Left,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown | KeyCode::Char(' ') => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Char('?') | KeyCode::F(1) => Key::Help,
        KeyCode::Char('q') | KeyCode::Esc => Key::Quit,
        _ => Key::Other,
    };
    Some(Input::Key(key))
}
