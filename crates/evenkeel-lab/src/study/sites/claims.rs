//! What "Managing latency and fairness in networked games" says about choosing decision points.

use crate::study::{Band, Claim};

const TOPOLOGY: &str = "latency paper, selecting the decision point topology";
const TRADING: &str = "latency paper, trading inconsistencies";
const FIGURE_2: &str = "latency paper, figure 2";
const FIGURE_3: &str = "latency paper, figure 3";

pub(super) const BOUND_VALID: Claim = Claim {
    id: "sites-bound-is-a-bound",
    says: &[(TOPOLOGY, "An absolute lower bound for the critical response time can always be calculated")],
    measure: "the paper's lower bound / the least critical response found",
    band: Band::AtMost(1.0),
    always: true,
};

pub(super) const GAP: Claim = Claim {
    id: "sites-gap-5-percent",
    says: &[(TOPOLOGY, "the average gap between the final solution and the lower bound is found to be around 5%")],
    measure: "average over runs of (critical response of the heuristic - the paper's bound) / the bound",
    band: Band::Between(0.025, 0.075),
    always: false,
};

pub(super) const TRUE_GAP: Claim = Claim {
    id: "sites-gap-to-best-5-percent",
    says: &[(
        TOPOLOGY,
        "an iterative heuristic which converges towards a set of servers with close to optimal playability for the worse off \
         player",
    )],
    measure: "average over runs of (critical response of the heuristic - what is proven to be least) / the least",
    band: Band::AtMost(0.075),
    always: false,
};

pub(super) const SERVERS: Claim = Claim {
    id: "sites-7.5-servers",
    says: &[(
        TOPOLOGY,
        "the number of decision points in the solution required for the final solution is about 7.5 on average",
    )],
    measure: "average over runs of the heuristic's servers",
    band: Band::Between(6.5, 8.5),
    always: false,
};

pub(super) const SIX_SERVERS: Claim = Claim {
    id: "sites-six-servers-close",
    says: &[(
        TOPOLOGY,
        "the critical response time of the heuristic, even for only 6 distributed decision points is very close to the lower \
         bound",
    )],
    measure: "critical response of the heuristic with 6 servers at most / the paper's bound",
    band: Band::AtMost(1.1),
    always: false,
};

pub(super) const SIGNIFICANTLY_BETTER: Claim = Claim {
    id: "sites-heuristic-significantly-better",
    says: &[(TOPOLOGY, "and is significantly better than even the best central server solution")],
    measure: "critical response, heuristic / best central server",
    band: Band::AtMost(0.75),
    always: false,
};

pub(super) const OUTPERFORMS: Claim = Claim {
    id: "sites-heuristic-outperforms-any-central",
    says: &[(FIGURE_2, "The final solution outperforms any central server approach")],
    measure: "critical response, heuristic / best central server",
    band: Band::Below(1.0),
    always: true,
};

pub(super) const LIKELY: Claim = Claim {
    id: "sites-distributed-likely-better",
    says: &[(
        TOPOLOGY,
        "a properly designed distributed architecture is likely to outperform the current central server models under a wide \
         range of conditions",
    )],
    measure: "critical response, our servers / best central server",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const EACH_SERVER: Claim = Claim {
    id: "sites-each-server-improves",
    says: &[(FIGURE_2, "The critical response time is improved each time a server is added to the game")],
    measure: "critical response of the heuristic after a server is added / before, the least improvement of a run",
    band: Band::Below(1.0),
    always: true,
};

pub(super) const FAIRER: Claim = Claim {
    id: "sites-heuristic-fairer",
    says: &[
        (
            TOPOLOGY,
            "The distributed solution from the heuristic is consistently better than the other two strategies in terms of fairness",
        ),
        (
            FIGURE_3,
            "The set of distributed servers chosen by the heuristic outperforms the best central server approaches in terms of \
             fairness",
        ),
    ],
    measure: "standard deviation of response times, heuristic / the fairer of the two best central servers",
    band: Band::Below(1.0),
    always: true,
};

pub(super) const SLIGHT_COST: Claim = Claim {
    id: "sites-heuristic-slight-cost",
    says: &[
        (TOPOLOGY, "at the cost of a slight increase in response time compared to the optimal playability server"),
        (FIGURE_3, "at a marginal cost in average response time"),
    ],
    measure: "mean response, heuristic / central server that is best on average",
    band: Band::Between(1.0, 1.15),
    always: false,
};

pub(super) const MEAN_LOW: Claim = Claim {
    id: "sites-central-mean-low-response",
    says: &[(
        TOPOLOGY,
        "The central server solution chosen for optimal playability provides consistently low response time",
    )],
    measure: "mean response, central server that is best on average / the lower of the other central server's and the heuristic's",
    band: Band::AtMost(1.0),
    always: true,
};

pub(super) const MEAN_UNFAIR: Claim = Claim {
    id: "sites-central-mean-unfair",
    says: &[(TOPOLOGY, "with a high level of unfairness")],
    measure: "standard deviation, central server that is best on average / the higher of the other central server's and the heuristic's",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const CRITICAL_VARIABLE: Claim = Claim {
    id: "sites-central-critical-variable",
    says: &[(TOPOLOGY, "The outcome of the balanced central server solution is more variable")],
    measure: "spread over runs of the mean response as a part of a random server's, central server that is best for the worst-off / best \
              on average",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const CRITICAL_SOMETIMES: Claim = Claim {
    id: "sites-central-critical-sometimes-playable",
    says: &[(TOPOLOGY, "sometimes close to best playability and other times with inferior response time")],
    measure: "share of runs in which its mean response is within 5 % of the best central server's",
    band: Band::Between(0.0999, 0.9),
    always: false,
};

pub(super) const CRITICAL_FAIRER: Claim = Claim {
    id: "sites-central-critical-else-fairer",
    says: &[(TOPOLOGY, "other times with inferior response time but an improved fairness")],
    measure: "standard deviation, best for the worst-off / best on average, where the mean response is more than 5 % higher",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const BEATS_RANDOM: Claim = Claim {
    id: "sites-all-beat-random",
    says: &[(
        TOPOLOGY,
        "All these selection strategies offer a considerable improvement over the expected playability and fairness of a \
         randomly chosen central server",
    )],
    measure: "mean and standard deviation, chosen / random central server",
    band: Band::AtMost(0.75),
    always: false,
};

pub(super) const PAD_FAIR: Claim = Claim {
    id: "sites-equalising-is-fair",
    says: &[(
        TRADING,
        "artificially delaying information [...] enables the equalization of inconsistencies amongst players effectively improving \
         the game fairness",
    )],
    measure: "standard deviation in ms once all are delayed to the slowest",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const PAD_COST: Claim = Claim {
    id: "sites-equalising-costs-playability",
    says: &[(TRADING, "at the cost of overall playability")],
    measure: "mean response once all are delayed to the slowest / before",
    band: Band::Above(1.0),
    always: true,
};
