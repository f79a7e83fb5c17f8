//! The server under test: this program, as an operator starts it.

use super::Arguments;
use anyhow::{Context, Result, ensure};
use evenkeel_net::transport::Trust;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server in a process of its own. It ends with this.
pub(super) struct Server {
    child: Child,
    pub(super) url: String,
    hash: String,
    metrics: String,
}

impl Server {
    pub(super) fn start(arguments: &Arguments) -> Result<Self> {
        let program = std::env::current_exe().context("where is this program?")?;
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]);
        command.args(["--policy", &arguments.policy, "--budget", &arguments.budget]);
        // All come from one address.
        command.args(["--max-players", &arguments.players.to_string(), "--rates", "handshakes=10000"]);
        command.env("EVENKEEL_LOG", "warn").stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().context("the server cannot be started")?;
        let mut server = Self { child, url: String::new(), hash: String::new(), metrics: String::new() };
        server.listen()?;
        if let Some(cores) = &arguments.server_cores {
            pin(server.process(), cores)?;
        }
        Ok(server)
    }

    /// Reads what the server says of itself.
    fn listen(&mut self) -> Result<()> {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let mut line = String::new();
        BufReader::new(stdout.context("no output")?).read_line(&mut line)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |word: &str| Some((*words.get(words.iter().position(|found| *found == word)? + 1)?).to_owned());
        let mut said = BufReader::new(stderr.context("no output")?);
        let Some((url, hash)) = after("join").zip(after("--hash")) else {
            let mut why = String::new();
            let _ = said.read_to_string(&mut why);
            anyhow::bail!("the server does not start: {why}");
        };
        while self.metrics.is_empty() {
            line.clear();
            ensure!(said.read_line(&mut line)? > 0, "the server never said where its metrics are");
            let address = line.trim().strip_prefix("Metrics: http://").and_then(|rest| rest.strip_suffix("/metrics"));
            self.metrics = address.unwrap_or_default().to_owned();
        }
        (self.url, self.hash) = (url, hash);
        // What it complains about later is passed on.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::stderr()));
        Ok(())
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn trust(&self) -> Result<Trust> {
        let byte = |at: usize| u8::from_str_radix(self.hash.get(2 * at..2 * at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
        let hash = bytes.and_then(|bytes| bytes.try_into().ok()).context("the server's hash cannot be read")?;
        Ok(Trust::Hashes(vec![hash]))
    }

    /// What the server says of itself in numbers.
    pub(super) fn report(&self) -> Result<Value> {
        let mut stream = TcpStream::connect(&self.metrics).context("the server's metrics cannot be reached")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "GET /report HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).context("the server does not report")?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).context("the server's report cannot be read")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Binds a process, with all its threads, to processors.
pub(super) fn pin(process: u32, cores: &str) -> Result<()> {
    let done = Command::new("taskset")
        .args(["-a", "-p", "-c", cores, &process.to_string()])
        .stdout(Stdio::null())
        .status()
        .context("taskset is needed to choose processors")?;
    ensure!(done.success(), "taskset does not take `{cores}`");
    Ok(())
}
