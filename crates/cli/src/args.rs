//! The command line: what can be asked for, and what the exit code says.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use wheel_runtime::{Cron, Zone};

use crate::{duration, file};

pub(crate) const EXIT_AS_ASKED: u8 = 0;
pub(crate) const EXIT_RUN_FAILED: u8 = 1;
/// `wheel cron next` had nothing to print.
pub(crate) const EXIT_NOTHING: u8 = 1;
/// Wrong usage, which `clap` answers itself, or a task file that cannot be used.
pub(crate) const EXIT_USAGE: u8 = 2;
pub(crate) const EXIT_NO_ENGINE: u8 = 3;
pub(crate) const EXIT_OUTPUT_LOST: u8 = 4;
/// A signal is added to this.
pub(crate) const EXIT_SIGNAL: u8 = 128;

/// What the exit code says; shown at the end of every `--help`.
macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0        it ended as asked: nothing was pending any more, or the time of --for was over
  1        --fail-on-error was given and a run failed
  2        wrong usage, or a file with faults (nothing was run)
  3        the engine, or the server for metrics, could not be started
  4        it ended as asked, but standard output could not be written to, such as a full disk
  128 + n  signal n ended it: 129 SIGHUP (of a terminal that has hung up), 130 SIGINT (Ctrl-C),
           131 SIGQUIT, 143 SIGTERM"
    };
}

/// Runs the programs of a task file, or of a crontab, when they are due.
#[derive(Debug, Parser)]
#[command(name = "wheel", version, about, after_help = exit_codes!())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the tasks of a file until nothing is pending any more
    Run(RunArgs),
    /// Check a task file or a crontab without running anything
    Check(CheckArgs),
    /// Show what a file would do in the next day, as a timeline; run nothing
    Plan(PlanArgs),
    /// Look at a cron expression
    #[command(subcommand)]
    Cron(CronCommand),
    /// Print the completions of this command for a shell
    Completions(CompletionsArgs),
    /// Print the manual page of this command, or write all of its pages
    Man(ManArgs),
}

/// What to do with a cron expression.
#[derive(Debug, Subcommand)]
pub(crate) enum CronCommand {
    /// Print the next instants that an expression names, one a line, in UTC
    Next(NextArgs),
    /// Say what an expression means, what comes next, and what a change of the clocks does to it
    Explain(ExplainArgs),
}

/// What `wheel completions` prints.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Shown by `wheel completions --help`.
const COMPLETIONS_HELP: &str = "\
For bash: wheel completions bash > ~/.local/share/bash-completion/completions/wheel

Exit codes:
  0  they were printed
  2  wrong usage, or an unknown shell
  4  standard output could not be written to";

/// What `wheel man` writes.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes:\n  0  it was written\n  2  wrong usage\n  4  standard output, or the folder, could not be written to"
)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, which is made if it is missing, such as
    /// ~/.local/share/man/man1
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: Option<PathBuf>,
}

/// How `wheel run` runs.
#[derive(Debug, Clone, Args)]
#[command(after_help = exit_codes!(), after_long_help = LONG_HELP)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) zone: CrontabZone,

    /// End after this time, such as 10s, and not before; what still runs is ended as by a signal
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) run_for: Option<Duration>,

    /// With --for: end earlier if nothing is pending any more; without --for this is so anyway
    #[arg(long)]
    pub(crate) until_idle: bool,

    /// Programs that run at the same time at most
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: u16,

    /// End with one line of JSON in place of the summary; with --quiet it is the only line
    #[arg(long)]
    pub(crate) json: bool,

    /// Show the summary only: no live line, no failures, nothing that the programs print
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Show the engine at work on the whole terminal: how full the wheel is, how late programs start,
    /// and the tasks; what programs print is not shown
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) watch: bool,

    /// Serve /metrics for Prometheus and /health at this port of the loopback device, or at an address
    /// with a port, such as 0.0.0.0:9753
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) metrics_addr: Option<SocketAddr>,

    /// How long programs may take to end after SIGTERM before they get SIGKILL
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration::parse)]
    pub(crate) grace: Duration,

    /// Exit with 1 when a run failed; one that was cut at the end has not
    #[arg(long)]
    pub(crate) fail_on_error: bool,
}

/// A port alone is one of the loopback device: what is served is for this machine unless it is said
/// otherwise.
fn address(text: &str) -> Result<SocketAddr, String> {
    let of_loopback = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let port = text.strip_prefix(':').unwrap_or(text);
    let address = port.parse().map(of_loopback).or_else(|_| text.parse());
    address.map_err(|_| {
        "write a port, such as 9753, or an address with one, such as 127.0.0.1:9753 or [::1]:9753"
            .to_owned()
    })
}

/// What `wheel check` checks.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes:\n  0  the file can be run\n  2  it has faults, each of which is shown, or it cannot be read"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) zone: CrontabZone,
}

/// What `wheel plan` plans.
#[derive(Debug, Args)]
#[command(after_help = PLAN_HELP)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    /// Begin at this instant, such as 2026-12-01T02:00:00+08:00; now, unless given
    #[arg(long, value_name = "RFC3339", value_parser = file::instant)]
    pub(crate) from: Option<SystemTime>,

    /// Plan so much time
    #[arg(long = "for", value_name = "DURATION", default_value = "1d", value_parser = duration::parse)]
    pub(crate) plan_for: Duration,

    /// The time zone in which instants are shown, and in which a crontab is meant above its first
    /// `CRON_TZ`; UTC for a task file and that of the machine for a crontab, unless given
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<Zone>,

    /// A task that is due more often than this is shown in one line
    #[arg(long, value_name = "N", default_value = "24", value_parser = busy)]
    pub(crate) busy: usize,

    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn busy(text: &str) -> Result<usize, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number| (1..=100_000).contains(number));
    number.ok_or_else(|| "write a number from 1 to 100000".to_owned())
}

/// Shown by `wheel plan --help`.
const PLAN_HELP: &str = "\
One line for each time that a task is due, in order; then those that are due too often for that, those
that are due later, and those that wait for others. It is what `wheel run` would do if it were started
at --from: what is due by the calendar at that instant is part of it. Jitter, and the wait for a
worker, come on top.

Exit codes:
  0  it was planned
  2  wrong usage, or a file with faults, each of which is shown
  4  standard output could not be written to";

/// Which file is read, and as what.
#[derive(Debug, Clone, Args)]
pub(crate) struct Source {
    /// The task file, or the crontab; `wheel run --help` describes both
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Read the file as a crontab
    #[arg(long)]
    pub(crate) crontab: bool,

    /// The crontab has a column for the user; of /etc/crontab and in a folder cron.d that is so anyway
    #[arg(long, requires = "crontab")]
    pub(crate) system: bool,
}

/// Where a crontab is meant.
#[derive(Debug, Clone, Args)]
pub(crate) struct CrontabZone {
    /// The time zone of a crontab above its first `CRON_TZ`; that of the machine, unless given
    #[arg(long, value_name = "ZONE", requires = "crontab")]
    pub(crate) tz: Option<Zone>,
}

/// Which instants `wheel cron next` prints.
#[derive(Debug, Args)]
#[command(after_help = NEXT_HELP)]
pub(crate) struct NextArgs {
    #[command(flatten)]
    pub(crate) instants: Instants,
}

/// What `wheel cron explain` explains.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_HELP)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) instants: Instants,
}

/// An expression, and which of its instants are looked at.
#[derive(Debug, Args)]
pub(crate) struct Instants {
    /// The expression, in quotes, such as "30 2 * * MON-FRI"
    #[arg(value_name = "EXPR")]
    pub(crate) expression: Cron,

    /// The time zone that it is meant in, such as Asia/Shanghai
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) tz: Zone,

    /// Print what comes after this instant, such as 2026-12-01T02:00:00+08:00; now, unless given
    #[arg(long, value_name = "RFC3339", value_parser = file::instant)]
    pub(crate) from: Option<SystemTime>,

    /// How many instants to print, from 1
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
}

/// Shown by `wheel cron next --help`.
const NEXT_HELP: &str = "\
Instants are printed as RFC 3339 has them, in UTC: 2026-11-30T18:30:00Z. An expression of limited
years may have fewer than asked for.

Exit codes:
  0  at least one instant was printed
  1  there is none after that instant
  2  wrong usage, an expression or an instant that cannot be read, or an unknown time zone
  4  standard output could not be written to";

/// Shown by `wheel cron explain --help`.
const EXPLAIN_HELP: &str = "\
Instants are shown as a clock in the time zone shows them, with its offset from UTC.

Exit codes:
  0  it was explained
  1  there is no instant after --from
  2  wrong usage, an expression or an instant that cannot be read, or an unknown time zone
  4  standard output could not be written to";

/// Shown by `wheel run --help`.
const LONG_HELP: &str = concat!(
    "\
A crontab:
  With --crontab the file is a crontab as cron reads it: NAME=value lines, entries of five fields or
  @daily and friends, the user column with --system, % for the input, CRON_TZ. Commands get the
  environment of cron, and nothing of that of wheel; what they print is printed, and no mail is sent.
  The times are those of CRON_TZ, else of --tz, else of the machine. An entry of another user needs
  root. What is wrong with it: wheel check --crontab FILE

A task file:
  [[task]]
  id = \"heartbeat\"             # a name of its own, in front of every line that the program prints
  every = \"500ms\"              # or after, at, cron or depends_on, see below
  run = [\"sh\", \"-c\", \"date\"]   # the program and its arguments
  count = 20                   # optional: runs of `every` or `cron`; without it there is no end
  retry = { attempts = 3, delay = \"5s\" }  # optional: starts a program that failed again
  env = { MODE = \"test\" }      # optional: added to the environment
  dir = \"/srv/shop\"            # optional: where the program runs
  output = \"heartbeat.log\"     # optional: a file that its output is appended to

  after = \"3s\"                 # once, that long after the start
  at = \"2026-12-01T02:00:00+08:00\"     # once, at that instant
  cron = \"30 2 * * MON-FRI\"    # when the wall clock says so
  timezone = \"Asia/Shanghai\"   # optional, with `cron`: where; UTC without it
  depends_on = \"import\"        # once, when that task has succeeded; also [\"a\", \"b\"], and
                               #   { a = \"failed\", b = \"finished\" }

  aligned = true               # `every`: when the clock on the wall shows a multiple of it
  start = \"now\"                # `every`: the first run at once; or an instant of its grid
  not_before, not_after        # `every` and `cron`: instants that bound it
  jitter = \"10m\"               # due later by a part of it that depends on the id; or, each time
                               #   by another one, { uniform = \"10m\" }
  misfire = \"fire_once\"        # missed: one run for all; or \"skip\", or { fire_all = 100 }
  overlap = \"skip\"             # due while a run goes on: left out; or \"queue_one\",
                               #   { queue_all = 100 }, { allow = 3 }, \"cancel_running\"
  timeout = \"30s\"              # of each attempt
  deadline = \"5m\"              # of each run, with all attempts, from when it is due
  priority = \"high\"            # or \"normal\", \"low\": who is first when all workers are busy
  concurrency_key = \"database\" # tasks with the same key do not run at once,
  concurrency = 2              #   or so many of them do
  rate_limit = \"10/s\"          # starts in a time; or { rate = \"5/1m\", burst = 5, key = \"api\" }

  Durations are numbers with the units d, h, m, s, ms, us and ns, the largest first: \"1h30m\",
  \"1.5s\". `after` and `every` count from the start and do not follow changes of the wall clock; the
  first run of `every` is one period after the start. `at` and `cron` follow the wall clock, and an
  instant of `at` in the past is due at once.

  `cron` has minute, hour, day of month, month and day of week (0 or 7 is Sunday), also with a second
  in front, or that and a year behind; *, lists, ranges, steps (*/15), names (JAN, MON), L, 15W, LW,
  5L, FRI#2, @daily and friends. A time that the change to summer time skips runs once right after,
  one that comes twice runs once; minutes or hours that begin with * follow real time. See what an
  expression does: wheel cron next \"30 2 * * MON-FRI\" --tz Asia/Shanghai

  `retry` starts the program again when it failed: `attempts` counts the first try, `delay` is from
  the end of one to the next. Optional in it: backoff = \"fixed\" (the default), \"linear\" or
  \"exponential\"; max_delay = \"1m\"; jitter = \"full\" or \"equal\", which spreads the delays. All
  attempts are one run, which fails when the last one does.

  `run` is no line of shell: $HOME, *, | and > mean something only where the program is a shell.
  Relative paths are taken from where wheel is started; a program with a slash in its name, from
  the task's `dir`.

Programs:
  A run takes a worker for as long as its program runs. Programs mostly wait, so there are 16
  workers, whatever the number of cores; when more programs are due, the rest start late. Each
  program gets a process group of its own and no standard input. A run ends when its program ends;
  what the program has left behind in its group is then ended as well.

SIGHUP:
  The file is read again. What has not changed goes on, what has is replaced, what is gone is not due
  any more; runs that are going come to their end. A file with faults changes nothing, and they are
  shown. When the terminal of wheel has hung up, SIGHUP ends it.

The end:
  At a signal, and when --for is over, nothing new is started. What runs gets SIGTERM, and SIGKILL
  after the grace; the summary says what was cut. A second signal kills at once.

Lateness:
  From the instant at which a run was due to the moment its program was started. A run counts as
  early when its program was started before it was due; that never happens.

",
    exit_codes!()
);
