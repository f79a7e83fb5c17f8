//! Which [`Conditions`] hold between which hosts: [`Topology`].

use crate::conditions::{Conditions, ConditionsError, MAX_DELAY};
use crate::matrix::LatencyMatrix;
use std::collections::BTreeMap;

/// Which [`Conditions`] hold from one host to another.
///
/// Each direction of a connection has its own. What is not said for a pair follows the common rule: the same for all,
/// or the delays of a [`LatencyMatrix`] with host numbers as places.
///
/// ```
/// use evenkeel_link::{Conditions, Topology};
/// let mut topology = Topology::uniform("near".parse()?)?;
/// topology.connect(0, 2, "delay=30ms".parse()?, "delay=90ms,loss=1%".parse()?)?;
/// assert_eq!(topology.conditions(2, 0).delay.as_millis(), 90);
/// assert_eq!(topology.conditions(0, 1), Conditions::named("near")?);
/// # Ok::<(), evenkeel_link::ConditionsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Topology {
    common: Conditions,
    matrix: Option<LatencyMatrix>,
    own: BTreeMap<(u32, u32), Conditions>,
}

impl Topology {
    /// The same conditions from every host to every other.
    pub fn uniform(conditions: Conditions) -> Result<Self, ConditionsError> {
        conditions.validate()?;
        Ok(Self { common: conditions, ..Self::default() })
    }

    /// Hosts at the places of a matrix: its one-way delays on top of the common conditions. Hosts beyond the matrix
    /// have the common conditions alone.
    pub fn from_matrix(matrix: LatencyMatrix, common: Conditions) -> Result<Self, ConditionsError> {
        Ok(Self { matrix: Some(matrix), ..Self::uniform(common)? })
    }

    /// Sets the conditions from one host to another; the way back stays as it is.
    pub fn set(&mut self, from: u32, to: u32, conditions: Conditions) -> Result<(), ConditionsError> {
        conditions.validate()?;
        self.own.insert((from, to), conditions);
        Ok(())
    }

    /// Sets the conditions between two hosts: there, and back.
    pub fn connect(&mut self, a: u32, b: u32, there: Conditions, back: Conditions) -> Result<(), ConditionsError> {
        self.set(a, b, there)?;
        self.set(b, a, back)
    }

    /// The conditions from one host to another. They are always valid.
    pub fn conditions(&self, from: u32, to: u32) -> Conditions {
        if let Some(own) = self.own.get(&(from, to)) {
            return own.clone();
        }
        let mut conditions = self.common.clone();
        if let Some(measured) = self.matrix.as_ref().and_then(|matrix| matrix.one_way(from as usize, to as usize)) {
            conditions.delay = (conditions.delay + measured).min(MAX_DELAY);
        }
        conditions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::Duration;

    #[test]
    fn matrix_delays_come_on_top() {
        let matrix = LatencyMatrix::parse(b"0,100\n80,0\n").unwrap();
        let topology = Topology::from_matrix(matrix, "delay=1ms,jitter=exp:2ms".parse().unwrap()).unwrap();
        assert_eq!(topology.conditions(0, 1).to_string(), "delay=51ms,jitter=exp:2ms");
        assert_eq!(topology.conditions(1, 0).delay, Duration::from_millis(41));
        assert_eq!(topology.conditions(7, 0).delay, Duration::from_millis(1));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Topology::uniform(Conditions::ideal().with_duplicate(2.0)).is_err());
        assert!(Topology::default().set(0, 1, Conditions::delay(Duration::from_nanos(-1))).is_err());
    }
}
