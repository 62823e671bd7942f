//! What figures are made from: samples and their statistics, memory, CPU time, noise, the machine.

mod random;
mod sample;
mod stopwatch;
mod statistics;
mod process;
mod noise;
mod machine;

pub use machine::Machine;
pub use noise::{Noise, NoiseMeter, verdict};
pub use process::{
    count_own_switches, cpu_time, forget_peak, peak_bytes, resident_bytes, switches,
    switches_of_others, threads_now,
};
pub use random::Random;
pub use sample::{Sample, curve_of, figure, nanoseconds};
pub use statistics::{Spread, median};
pub use stopwatch::{Stopwatch, Took};
