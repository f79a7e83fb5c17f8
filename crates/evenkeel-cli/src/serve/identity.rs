//! Who the server is, and what of that a restart keeps.

use super::settings::Settings;
use anyhow::{Context, Result};
use evenkeel_net::transport::Identity;
use ring::rand::{SecureRandom, SystemRandom};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Browsers accept hashes only of certificates that live no longer.
const FORTNIGHT: Duration = Duration::from_secs(14 * 24 * 3600);
/// A self-made certificate is replaced when it has no more than this left.
const TOO_OLD: Duration = Duration::from_secs(3 * 24 * 3600);

/// The certificate from files, from an earlier run, or made anew.
pub(super) fn identity(settings: &Settings) -> Result<Identity> {
    if let (Some(certificate), Some(key)) = (&settings.certificate, &settings.key) {
        return Identity::from_files(certificate, key)
            .with_context(|| format!("--certificate {} --key {}", certificate.display(), key.display()));
    }
    let Some(file) = settings.state.as_ref().map(|state| state.join("identity.pem")) else {
        return self_made(settings);
    };
    if file.exists() {
        let kept = Identity::load(&file)
            .with_context(|| format!("{} is damaged: remove it, and another is made", file.display()))?;
        if !is_too_old(&kept) {
            return Ok(kept);
        }
    }
    let made = self_made(settings)?;
    made.save(&file).context("the self-made certificate cannot be kept: check --state")?;
    Ok(made)
}

/// Whether a self-made certificate has to be replaced.
pub(super) fn is_too_old(identity: &Identity) -> bool {
    let left = |expires: SystemTime| expires.duration_since(SystemTime::now()).unwrap_or_default();
    identity.expires().is_some_and(|expires| left(expires) < TOO_OLD)
}

fn self_made(settings: &Settings) -> Result<Identity> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
    let own = settings.listen.map(|listen| listen.ip()).filter(|ip| !ip.is_unspecified() && !ip.is_loopback());
    names.extend(own.map(|ip| ip.to_string()));
    names.extend(settings.name.iter().cloned());
    Identity::self_made(names, FORTNIGHT).context("check --name")
}

/// The key with which a restarted server disowns the connections of the old one; kept apart from the certificate, which is
/// replaced every other week. None if nothing is kept.
pub(super) fn reset_key(settings: &Settings) -> Result<Option<[u8; 64]>> {
    let Some(file) = settings.state.as_ref().map(|state| state.join("reset.key")) else { return Ok(None) };
    if let Ok(kept) = std::fs::read(&file) {
        let kept = kept.try_into().ok();
        return kept
            .with_context(|| format!("{} is damaged: remove it, and another is made", file.display()))
            .map(Some);
    }
    let key = random::<64>()?;
    write_secret(&file, &key)?;
    Ok(Some(key))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| anyhow::anyhow!("this system gives no random numbers"))?;
    Ok(bytes)
}

/// Writes a new file that only its owner may read.
pub(crate) fn write_secret(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || {
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}
