//! What was read, put together.

use super::error::{Fault, File, InputError};
use super::known::{Filled, Known, Missing, Names, made_up, missing};
use super::matrix::Rectangle;
use super::select::{Candidates, Players, among_both, among_nodes};
use super::tables::{PlayerTable, SiteTable};
use super::{Format, Input, Place};
use crate::{Player, Problem, Site};

/// More round-trip times than this are refused: 2 GiB of them.
const MAX_VALUES: usize = 1 << 29;

/// Where round-trip times come from.
pub(crate) enum Source {
    /// Any node may be a player or a candidate.
    Nodes(Known),
    /// Players, candidates, and which node each candidate is in the table of those.
    Tables { players: Box<Rectangle>, between: Known, nodes: Vec<usize> },
}

impl Source {
    pub(crate) fn of_tables(players: Rectangle, between: Known) -> Result<Self, InputError> {
        let nodes = players.candidates.list().iter().map(|name| between.names.find(name)).collect::<Result<_, _>>();
        let nodes = nodes.map_err(|fault: Fault| InputError::from(fault).of(File::Between))?;
        Ok(Self::Tables { players: Box::new(players), between, nodes })
    }

    fn player_names(&self) -> &Names {
        match self {
            Self::Nodes(known) => &known.names,
            Self::Tables { players, .. } => &players.players,
        }
    }

    fn site_names(&self) -> &Names {
        match self {
            Self::Nodes(known) => &known.names,
            Self::Tables { players, .. } => &players.candidates,
        }
    }

    pub(crate) fn input(
        &self,
        who: &Players,
        what: &Candidates,
        rule: Missing,
        format: Format,
        (player_table, site_table): (Option<PlayerTable>, Option<SiteTable>),
    ) -> Result<Input, InputError> {
        if let Some(table) = &player_table {
            all_known(self.player_names(), &table.names, &table.lines).map_err(|error| error.of(File::Players))?;
        }
        if let Some(table) = &site_table {
            all_known(self.site_names(), &table.names, &table.lines).map_err(|error| error.of(File::Sites))?;
        }
        let (who, what) = match self {
            Self::Nodes(known) => among_nodes(who, what, &known.names)?,
            Self::Tables { .. } => among_both((who, self.player_names()), (what, self.site_names()))?,
        };
        let (n, m) = (who.len(), what.len());
        if n.max(m).checked_mul(m).is_none_or(|values| values > MAX_VALUES) {
            return Err(Fault::TooMany { players: n, candidates: m }.into());
        }
        let players = self.players(&who, player_table);
        let (sites, places) = self.sites(&what, site_table);
        let mut filled = Filled::default();
        let (mut rtt, mut between) = (Vec::with_capacity(n * m), Vec::with_capacity(m * m));
        for (player, site) in who.iter().flat_map(|player| what.iter().map(move |site| (*player, *site))) {
            rtt.push(self.rtt(player, site, rule, &mut filled)?);
        }
        for (from, to) in what.iter().flat_map(|from| what.iter().map(move |to| (*from, *to))) {
            between.push(self.between(from, to, rule, &mut filled)?);
        }
        let problem = Problem::new(players, sites, rtt, between).map_err(Fault::Problem)?;
        Ok(Input { problem, places, format, filled })
    }

    fn rtt(&self, player: usize, site: usize, rule: Missing, filled: &mut Filled) -> Result<f32, InputError> {
        let (table, between, nodes) = match self {
            Self::Nodes(known) => {
                return known.rtt(player, site, rule, filled).map_err(|error| error.of(File::Latencies));
            }
            Self::Tables { players, between, nodes } => (players, between, nodes),
        };
        let row = &table.rtt[player * nodes.len()..][..nodes.len()];
        if !row[site].is_nan() {
            return Ok(row[site]);
        }
        let relayed = || {
            let legs = row.iter().zip(nodes).filter(|(leg, _)| !leg.is_nan());
            legs.filter_map(|(leg, node)| Some(leg + between.either(*node, nodes[site])?)).min_by(f32::total_cmp)
        };
        made_up(rule, (nodes.len(), relayed), filled)?.ok_or_else(|| {
            let names = (&table.players.list()[player], &table.candidates.list()[site]);
            let fault = missing(names.0, names.1, rule);
            fault.at(table.lines[player], table.columns[site]).of(File::Latencies)
        })
    }

    fn between(&self, from: usize, to: usize, rule: Missing, filled: &mut Filled) -> Result<f32, InputError> {
        match self {
            // A site is not apart from itself, whatever was measured there.
            _ if from == to => Ok(0.0),
            Self::Nodes(known) => known.rtt(from, to, rule, filled).map_err(|error| error.of(File::Latencies)),
            Self::Tables { between, nodes, .. } => {
                between.rtt(nodes[from], nodes[to], rule, filled).map_err(|error| error.of(File::Between))
            }
        }
    }

    fn players(&self, who: &[usize], table: Option<PlayerTable>) -> Vec<Player> {
        let names = self.player_names().list();
        let own = |i: usize| match self {
            Self::Tables { players, .. } => players.weights.as_ref().map(|weights| weights[i]),
            Self::Nodes(_) => None,
        };
        let said = |name: &str| table.as_ref().and_then(|table| Some(table.weights[table.names.find(name).ok()?]));
        let player = |i: &usize| {
            let name = names[*i].clone();
            Player { weight: said(&name).or_else(|| own(*i)).unwrap_or(1.0), name }
        };
        who.iter().map(player).collect()
    }

    fn sites(&self, what: &[usize], table: Option<SiteTable>) -> (Vec<Site>, Vec<Option<Place>>) {
        let names = self.site_names().list();
        let said = |name| table.as_ref().and_then(|table| Some(table.sites[table.names.find(name).ok()?].clone()));
        what.iter().map(|i| said(&names[*i]).unwrap_or_else(|| (Site::new(&names[*i]), None))).unzip()
    }
}

fn all_known(names: &Names, table: &Names, lines: &[usize]) -> Result<(), InputError> {
    for (name, line) in table.list().iter().zip(lines) {
        names.find(name).map_err(|fault| fault.on(*line))?;
    }
    Ok(())
}
