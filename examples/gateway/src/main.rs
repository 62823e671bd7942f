//! Runs the gateway: `cargo run -p example-gateway -- 127.0.0.1:7000 30`, then `nc 127.0.0.1 7000`.

use std::error::Error;
use std::time::Duration;

use gateway::Gateway;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let address = args.next().unwrap_or_else(|| "127.0.0.1:7000".to_owned());
    let idle_seconds: u64 = args.next().map_or(Ok(30), |text| text.parse())?;

    let gateway = Gateway::start(address, Duration::from_secs(idle_seconds))?;
    println!(
        "listening on {}; a connection is closed after {idle_seconds} s without a byte",
        gateway.address()
    );
    let mut told = (0, 0);
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = (gateway.open(), gateway.closed_idle());
        if now != told {
            println!("{} open, {} closed because they were idle", now.0, now.1);
            told = now;
        }
    }
}
