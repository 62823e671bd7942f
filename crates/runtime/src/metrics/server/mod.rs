//! A small HTTP server: `GET /metrics` and `GET /health`.
//!
//! ```text
//!  accepting thread --one thread each, 8 at most--> connection.rs: read a head, answer, close
//!     ^ stop: the flag, and a connection from ourselves
//! ```
//!
//! Ground rules: nothing of it touches a driver or a worker. A client has five seconds for its whole
//! exchange and 8 KiB for its request; one that is slower, or has more to say, is cut off. What one
//! client does keeps the others from nothing but its own of the eight places.

mod connection;
mod request;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use wheel_sync::atomic::{AtomicBool, Ordering};
use wheel_sync::thread::{self, JoinHandle};
use wheel_sync::{Condvar, Mutex};

use super::exposition::Exposition;
use crate::clock::Patience;
use crate::panics::{contain, tell_stderr};
use connection::Answer;

/// How many clients are answered at a time.
const PLACES: usize = 8;

/// After a failure to accept, such as of too many open files: how long until it is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves metrics and a health answer over HTTP, for a Prometheus that scrapes them.
///
/// - `GET /metrics`: [`Exposition::text`].
/// - `GET /health`: `200` and `ok`; `503` and `shut down` once one of the sources has been.
///
/// Only there, only those two, without encryption and without a password: give it an address on the
/// loopback device, or one that a firewall guards. Each connection is for one request, of 8 KiB at
/// most, and for five seconds; 8 clients are answered at a time, the next one gets `503`.
///
/// Dropping it stops it.
///
/// # Examples
///
/// ```
/// use std::io::{Read, Write};
/// use std::net::TcpStream;
/// use wheel_runtime::{Exposition, MetricsServer, Scheduler};
///
/// let scheduler = Scheduler::builder().build()?;
/// // Port 0 is one that is free; usually it is a fixed one, such as `127.0.0.1:9898`.
/// let server = MetricsServer::start("127.0.0.1:0", Exposition::of(&scheduler))?;
///
/// let mut client = TcpStream::connect(server.address())?;
/// client.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
/// let mut answer = String::new();
/// client.read_to_string(&mut answer)?;
/// assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok\n"));
/// server.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MetricsServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    accepting: Option<JoinHandle<()>>,
}

/// Why there is no server.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// Nobody can listen there: somebody does already, it is not an address of this machine, or a
    /// port for which one needs privileges.
    Address {
        /// What was given.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused a thread. Trying again later may help.
    Thread(io::Error),
}

struct Shared {
    exposition: Exposition,
    /// Set once, under no lock; the connection that wakes the accepting thread comes after it.
    is_stopping: AtomicBool,
    clients: Mutex<Clients>,
    left: Condvar,
}

/// Those that are being answered.
#[derive(Default)]
struct Clients {
    next: u64,
    streams: Vec<(u64, TcpStream)>,
}

impl MetricsServer {
    /// Listens at `address`, such as `127.0.0.1:9898`, and serves from then on.
    ///
    /// # Errors
    ///
    /// [`ServeError`] says which address it was and what is wrong with it. Nothing is left running
    /// then.
    pub fn start(
        address: impl ToSocketAddrs + fmt::Debug,
        exposition: Exposition,
    ) -> Result<MetricsServer, ServeError> {
        let refused = |source| ServeError::Address {
            address: format!("{address:?}").trim_matches('"').to_owned(),
            source,
        };
        let listener = TcpListener::bind(&address).map_err(refused)?;
        let bound = listener.local_addr().map_err(refused)?;
        let shared = Arc::new(Shared {
            exposition,
            is_stopping: AtomicBool::new(false),
            clients: Mutex::default(),
            left: Condvar::new(),
        });
        let accepting = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("wheel-metrics".to_owned())
            .spawn(move || accepting.accept(&listener))
            .map_err(ServeError::Thread)?;
        Ok(MetricsServer {
            shared,
            address: bound,
            accepting: Some(thread),
        })
    }

    /// Where it listens: with the port that was free, if 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Listens no more, cuts off who is being answered, and waits until all threads of it have ended.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        // Release: pairs with `is_stopping`. [O113]
        self.shared.is_stopping.store(true, Ordering::Release);
        let moment = Duration::from_secs(1);
        let woken = TcpStream::connect_timeout(&reachable(self.address), moment);
        // Who has not been woken wakes with the next client, and then ends.
        if woken.is_ok() {
            let _ = accepting.join();
        }
        self.shared.see_off(Patience::new(moment));
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn is_stopping(&self) -> bool {
        // Acquire: pairs with `end`. [O113]
        self.is_stopping.load(Ordering::Acquire)
    }

    /// The life of the accepting thread.
    fn accept(self: Arc<Shared>, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if self.is_stopping() {
                return;
            }
            match accepted {
                Ok((stream, _)) => self.take_in(stream),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Answers a client on a thread of its own, if there is a place.
    fn take_in(self: &Arc<Shared>, stream: TcpStream) {
        let Some(number) = self.come_in(&stream) else {
            connection::refuse(&stream);
            return;
        };
        let shared = Arc::clone(self);
        let answering = thread::Builder::new().name("wheel-metrics-client".to_owned());
        let answering = answering.spawn(move || {
            // The last look at a scheduler drops what its user gave, which may panic.
            let served = contain(|| connection::serve(&stream, |path| shared.answer(path)));
            shared.go(number);
            if let Err(message) = served {
                tell_stderr("an answer of the metrics server panicked", &message);
            }
        });
        if answering.is_err() {
            // The stream went with the closure that did not run.
            self.go(number);
        }
    }

    fn come_in(&self, stream: &TcpStream) -> Option<u64> {
        let mut clients = self.clients.lock();
        if clients.streams.len() >= PLACES {
            return None;
        }
        let number = clients.next;
        let stream = stream.try_clone().ok()?;
        clients.next += 1;
        clients.streams.push((number, stream));
        Some(number)
    }

    fn go(&self, number: u64) {
        let mut clients = self.clients.lock();
        clients.streams.retain(|(other, _)| *other != number);
        drop(clients);
        self.left.notify_all();
    }

    /// Cuts off all who are being answered, and waits for their threads.
    fn see_off(&self, patience: Patience) {
        let mut clients = self.clients.lock();
        while !clients.streams.is_empty() {
            for (_, stream) in &clients.streams {
                let _ = stream.shutdown(Shutdown::Both);
            }
            let Some(left) = patience.left() else {
                return;
            };
            clients = self.left.wait_timeout(clients, left);
        }
    }

    fn answer(&self, path: &str) -> Option<Answer> {
        match path {
            "/metrics" => Some(Answer::metrics_of(&self.exposition)),
            "/health" => Some(Answer::health_of(&self.exposition)),
            _ => None,
        }
    }
}

/// An address at which the listener at `bound` is reached from here.
fn reachable(mut bound: SocketAddr) -> SocketAddr {
    if bound.ip().is_unspecified() {
        bound.set_ip(match bound {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    bound
}

impl fmt::Debug for MetricsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsServer")
            .field("address", &self.address)
            .field("exposition", &self.shared.exposition)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ServeError::Address { address, source } = self else {
            return f.write_str("the system refused to start a thread");
        };
        let advice = match source.kind() {
            io::ErrorKind::AddrInUse => {
                "it is in use: choose another port, or stop who listens there"
            }
            io::ErrorKind::AddrNotAvailable => {
                "it is no address of this machine: choose one that is"
            }
            io::ErrorKind::PermissionDenied => {
                "that port needs privileges: choose one from 1024 on"
            }
            _ => "nobody can listen there: give HOST:PORT, such as 127.0.0.1:9898",
        };
        write!(f, "metrics address: {address}: {advice}")
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ServeError::Address { source, .. } | ServeError::Thread(source) => Some(source),
        }
    }
}
