//! Stand-ins for peers: listeners on the loopback interface that send what the recorded run received.
//!
//! Each connection gets all the recorded bytes and then the end of the stream. What the program sends is read
//! and discarded. A peer that is reached by datagrams answers each with the next recorded one; recorded
//! datagrams that answer none follow when no more arrive.

use crate::record::KeyId;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Peers {
    ports: HashMap<KeyId, u16>,
    paths: HashMap<KeyId, PathBuf>,
    /// Ports for datagrams, and flags that end their threads.
    datagrams: HashMap<KeyId, (u16, Arc<AtomicBool>)>,
}

/// How long a peer waits for a datagram before it sends the unsolicited ones.
const IDLE_TIMEOUT: Duration = Duration::from_millis(100);

/// Ends all listeners: a connection from this process ends each one that waits.
impl Drop for Peers {
    fn drop(&mut self) {
        for port in self.ports.values() {
            let _ = TcpStream::connect(("127.0.0.1", *port));
        }
        for (_, ends) in self.datagrams.values() {
            ends.store(true, Ordering::Relaxed);
        }
        for path in self.paths.values() {
            let _ = UnixStream::connect(path);
        }
    }
}

/// Reads until the other side has finished.
fn drain(mut stream: impl Read) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|n| n > 0) {}
}

impl Peers {
    /// The port of a peer that sends these bytes.
    pub fn port(&mut self, id: KeyId, bytes: Vec<u8>) -> std::io::Result<u16> {
        if let Some(port) = self.ports.get(&id) {
            return Ok(*port);
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        // One connection, then the thread ends.
        std::thread::spawn(move || {
            if let Ok((mut stream, _)) = listener.accept() {
                let mut first = [0; 4096];
                // Most peers send only after they have received something.
                let _ = stream.set_read_timeout(Some(std::time::Duration::from_millis(200)));
                let _ = stream.read(&mut first);
                let _ = stream.set_read_timeout(None);
                let _ = stream.write_all(&bytes);
                let _ = stream.shutdown(Shutdown::Write);
                drain(stream);
            }
        });
        self.ports.insert(id, port);
        Ok(port)
    }

    /// The port of a peer that sends these datagrams.
    pub fn datagrams(&mut self, id: KeyId, messages: Vec<Vec<u8>>) -> std::io::Result<u16> {
        if let Some((port, _)) = self.datagrams.get(&id) {
            return Ok(*port);
        }
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_read_timeout(Some(IDLE_TIMEOUT))?;
        let port = socket.local_addr()?.port();
        let ends = Arc::new(AtomicBool::new(false));
        self.datagrams.insert(id, (port, Arc::clone(&ends)));
        std::thread::spawn(move || {
            let (mut messages, mut asker) = (messages.into_iter(), None);
            let mut buffer = [0; 4096];
            while !ends.load(Ordering::Relaxed) {
                if let Ok((_, from)) = socket.recv_from(&mut buffer) {
                    asker = Some(from);
                }
                if let Some(to) = asker
                    && let Some(message) = messages.next()
                {
                    let _ = socket.send_to(&message, to);
                }
            }
        });
        Ok(port)
    }

    /// The same, listening at a path.
    pub fn unix(&mut self, id: KeyId, path: &Path, bytes: Vec<u8>) -> std::io::Result<()> {
        if self.paths.contains_key(&id) {
            return Ok(());
        }
        let listener = UnixListener::bind(path)?;
        self.paths.insert(id, path.to_owned());
        std::thread::spawn(move || {
            if let Ok((mut stream, _)) = listener.accept() {
                let _ = stream.write_all(&bytes);
                let _ = stream.shutdown(Shutdown::Write);
                drain(stream);
            }
        });
        Ok(())
    }
}
