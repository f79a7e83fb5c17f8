//! What late operations cost a host, or all of a game's hosts together.

/// Counts of what happened. They are numbers with a point because shares are taken of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::study) struct Account {
    /// Hosts.
    pub(in crate::study) hosts: f64,
    /// Seconds played, added up over hosts.
    pub(in crate::study) seconds: f64,
    /// Ticks executed for the first time.
    pub(in crate::study) ticks: f64,
    /// Of these, ticks at which the state was not the true one.
    pub(in crate::study) apart: f64,
    /// Operations that came from other hosts.
    pub(in crate::study) foreign: f64,
    /// Of these, operations whose tick had been executed.
    pub(in crate::study) late: f64,
    /// Of these, operations from before the history, which nobody can execute any more.
    pub(in crate::study) refused: f64,
    /// Times the state went back.
    pub(in crate::study) rollbacks: f64,
    /// Ticks executed again.
    pub(in crate::study) replayed: f64,
    /// Ticks of the deepest rollback.
    pub(in crate::study) deepest: f64,
    /// Times that a craft was moved by a rollback.
    pub(in crate::study) corrections: f64,
    /// How far, added up.
    pub(in crate::study) corrected: f64,
    /// How far at most.
    pub(in crate::study) farthest: f64,
    /// Verdicts there were to come to.
    pub(in crate::study) verdicts: f64,
    /// Verdicts announced.
    pub(in crate::study) announced: f64,
    /// Of these, verdicts that ought to have been announced before.
    pub(in crate::study) announced_late: f64,
    /// Verdicts announced and revoked.
    pub(in crate::study) revoked: f64,
    /// Of these, verdicts that stood at no other moment either.
    pub(in crate::study) untrue: f64,
    /// Verdicts that were wrong or missing in the end.
    pub(in crate::study) unhealed: f64,
    /// Hosts whose state was another than the true one in the end.
    pub(in crate::study) ended_elsewhere: f64,
    /// Bytes that the saved states of one host's past take.
    pub(in crate::study) saved_bytes: f64,
}

impl Account {
    /// A rollback moved a craft.
    pub(super) fn correct(&mut self, by: f64) {
        // Some are only turned.
        if by > 0.0 {
            self.corrections += 1.0;
            self.corrected += by;
            self.farthest = self.farthest.max(by);
        }
    }

    /// Both together: sums, and maxima of what is one host's.
    pub(in crate::study) fn and(&self, other: &Self) -> Self {
        Self {
            hosts: self.hosts + other.hosts,
            seconds: self.seconds + other.seconds,
            ticks: self.ticks + other.ticks,
            apart: self.apart + other.apart,
            foreign: self.foreign + other.foreign,
            late: self.late + other.late,
            refused: self.refused + other.refused,
            rollbacks: self.rollbacks + other.rollbacks,
            replayed: self.replayed + other.replayed,
            deepest: self.deepest.max(other.deepest),
            corrections: self.corrections + other.corrections,
            corrected: self.corrected + other.corrected,
            farthest: self.farthest.max(other.farthest),
            verdicts: self.verdicts + other.verdicts,
            announced: self.announced + other.announced,
            announced_late: self.announced_late + other.announced_late,
            revoked: self.revoked + other.revoked,
            untrue: self.untrue + other.untrue,
            unhealed: self.unhealed + other.unhealed,
            ended_elsewhere: self.ended_elsewhere + other.ended_elsewhere,
            saved_bytes: self.saved_bytes.max(other.saved_bytes),
        }
    }

    /// All together.
    pub(in crate::study) fn of_all<'a>(accounts: impl IntoIterator<Item = &'a Self>) -> Self {
        accounts.into_iter().fold(Self::default(), |sum, one| sum.and(one))
    }

    /// Decisions that would have been others had all operations been known, as a share of the true verdicts: those revoked,
    /// and those missed at their time.
    pub(in crate::study) fn paradoxes(&self) -> f64 {
        (self.revoked + self.announced_late) / self.verdicts
    }

    /// The share of time in which a host's state was not the true one.
    pub(in crate::study) fn time_apart(&self) -> f64 {
        self.apart / self.ticks
    }

    /// The share of others' operations that came late.
    pub(in crate::study) fn late_share(&self) -> f64 {
        (self.late + self.refused) / self.foreign
    }

    /// Ticks executed again for each tick executed.
    pub(in crate::study) fn replay_share(&self) -> f64 {
        self.replayed / self.ticks
    }

    /// Something per second and host.
    pub(in crate::study) fn per_second(&self, count: f64) -> f64 {
        count / self.seconds
    }

    /// Ticks of a rollback, on average; none if there is none.
    pub(in crate::study) fn depth(&self) -> f64 {
        self.replayed / self.rollbacks.max(1.0)
    }

    /// How far a craft is moved, on average; not at all if none is.
    pub(in crate::study) fn correction(&self) -> f64 {
        self.corrected / self.corrections.max(1.0)
    }
}
