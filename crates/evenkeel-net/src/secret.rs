//! Secrets for those who bring none.

/// Random bytes in place of zeros: what makes numbers that others must not guess. Anything else is left as it is.
///
/// ```
/// assert_eq!(evenkeel_net::secret([7; 16]), [7; 16]);
/// assert_ne!(evenkeel_net::secret([0; 16]), [0; 16]);
/// ```
pub fn secret(given: [u8; 16]) -> [u8; 16] {
    use ring::rand::{SecureRandom, SystemRandom};
    let mut secret = given;
    if secret == [0; 16] {
        // Without randomness there is no TLS, and so nobody who could come.
        let _ = SystemRandom::new().fill(&mut secret);
    }
    secret
}
