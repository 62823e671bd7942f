//! A TCP server that sends back what it reads, and closes a connection on which nothing has been
//! read for a while.
//!
//! This is what most timers of a server are for: they are set once per connection, moved with every
//! read, and hardly ever fire. Moving one is one call of [`Timers::reset`], which wakes nobody.
//!
//! ```text
//! accept thread --> one thread per connection: read, reset the timer, write
//!                          |                            |
//!                          '--- timer: after(idle) -----'
//!                              fires: shut the socket down, so the read ends
//! ```

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wheel_runtime::Timers;

/// More connections at a time than these are closed at once.
const CONNECTIONS_MAX: usize = 1024;

/// A running server.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What the threads of a server share.
struct Shared {
    timers: Timers,
    idle: Duration,
    closing: AtomicBool,
    closed_idle: Arc<AtomicU64>,
    connections: Mutex<HashMap<u64, Arc<TcpStream>>>,
}

impl Gateway {
    /// Listens on an address and closes connections on which nothing was read for `idle`.
    ///
    /// # Errors
    ///
    /// What the system says when the address is taken or a thread cannot be started.
    pub fn start(address: impl ToSocketAddrs, idle: Duration) -> io::Result<Gateway> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            timers: Timers::builder().build().map_err(io::Error::other)?,
            idle,
            closing: AtomicBool::new(false),
            closed_idle: Arc::new(AtomicU64::new(0)),
            connections: Mutex::new(HashMap::new()),
        });
        let accepting = thread::Builder::new()
            .name("gateway-accept".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || accept(&listener, &shared)
            })?;
        Ok(Gateway {
            address,
            shared,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections that are open now.
    pub fn open(&self) -> usize {
        self.shared.connections().len()
    }

    /// Connections that were closed because nothing was read from them in time.
    pub fn closed_idle(&self) -> u64 {
        self.shared.closed_idle.load(Ordering::Relaxed)
    }

    /// Timers that are pending: one for each open connection.
    pub fn timers(&self) -> usize {
        self.shared.timers.len()
    }
}

/// Closes everything.
impl Drop for Gateway {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        // The accepting thread looks at the flag when somebody connects.
        let woken = TcpStream::connect(self.address).is_ok();
        for connection in self.shared.connections().values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn connections(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<TcpStream>>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("idle", &self.idle)
            .finish_non_exhaustive()
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for (number, stream) in (0..).zip(listener.incoming()) {
        if shared.closing.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            // Out of file descriptors, most likely: they come back when connections close.
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        let stream = Arc::new(stream);
        {
            let mut connections = shared.connections();
            if connections.len() >= CONNECTIONS_MAX {
                continue;
            }
            connections.insert(number, Arc::clone(&stream));
        }
        let serving = thread::Builder::new()
            .name(format!("gateway-{number}"))
            .spawn({
                let shared = Arc::clone(shared);
                move || {
                    // A connection that breaks ends; nobody else is concerned.
                    let _ = serve(&stream, &shared);
                    shared.connections().remove(&number);
                }
            });
        if serving.is_err() {
            shared.connections().remove(&number);
        }
    }
}

fn serve(stream: &Arc<TcpStream>, shared: &Shared) -> io::Result<()> {
    let idle = {
        let stream = Arc::clone(stream);
        let closed_idle = Arc::clone(&shared.closed_idle);
        move || {
            closed_idle.fetch_add(1, Ordering::Relaxed);
            // The read below ends with it.
            let _ = stream.shutdown(Shutdown::Both);
        }
    };
    let mut timer = shared
        .timers
        .after(shared.idle, idle)
        .map_err(io::Error::other)?;
    let mut buffer = [0; 4096];
    let mut socket = stream.as_ref();
    let result = loop {
        match socket.read(&mut buffer) {
            Ok(0) => break Ok(()),
            Ok(count) => {
                match shared.timers.reset(timer, shared.idle) {
                    Some(moved) => timer = moved,
                    // Too late: it has fired, and the socket is shut down.
                    None => break Ok(()),
                }
                if let Err(error) = socket.write_all(&buffer[..count]) {
                    break Err(error);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    shared.timers.cancel(timer);
    let _ = stream.shutdown(Shutdown::Both);
    result
}
