//! One's own entity ahead of the authority: [`Prediction`] as a plugin.

use crate::prelude::*;
use evenkeel::{Prediction, PredictionEvent, Simulation};

/// An entity that is shown as [`Predicting`] has it, not as its owner says.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Predicted;

/// What this app predicts. The game lets it [act](Prediction::act) on what the player does, sends that to the authority by its own
/// messages, and hands it the states that come [back](Prediction::handle_state).
#[derive(Resource)]
pub struct Predicting<S: Simulation>(pub Prediction<S>)
where
    Prediction<S>: Send + Sync + 'static;

/// What a prediction has to say: for the game.
#[derive(Message, Clone, Debug)]
pub struct PredictionSaid<V: Send + Sync + 'static>(pub PredictionEvent<V>);

/// Advances a [`Predicting`] by the session's time, and shows what is [`Predicted`] as it has it.
pub struct PredictionPlugin<S>(std::marker::PhantomData<fn(S)>);

impl<S> Default for PredictionPlugin<S> {
    fn default() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<S: Simulation<Verdict: Send + Sync> + 'static> Plugin for PredictionPlugin<S>
where
    Prediction<S>: Send + Sync,
{
    fn build(&self, app: &mut App) {
        app.add_message::<PredictionSaid<S::Verdict>>();
        let running = resource_exists::<Session>.and_then(resource_exists::<Predicting<S>>);
        app.add_systems(PreUpdate, predict::<S>.in_set(EvenkeelSystems::Place).run_if(running));
    }
}

fn predict<S: Simulation<Verdict: Send + Sync> + 'static>(
    mut session: ResMut<Session>,
    mut predicting: ResMut<Predicting<S>>,
    mut predicted: Query<&mut Transform, With<Predicted>>,
    mut said: MessageWriter<PredictionSaid<S::Verdict>>,
    (axes, roster): (Res<Axes>, Res<Roster>),
    mut complain: Complain,
) where
    Prediction<S>: Send + Sync,
{
    let Some(time) = session.time() else { return };
    let prediction = &mut predicting.0;
    if let Err(why) = prediction.advance(time) {
        complain.about(None, "the prediction does not go on", why);
    }
    said.write_batch(std::iter::from_fn(|| prediction.poll_event()).map(PredictionSaid));
    let mut places = Vec::new();
    prediction.simulation().places(&mut places);
    for (name, state) in places {
        if let Some(Ok(mut transform)) = roster.entities.get(&name).map(|entity| predicted.get_mut(*entity)) {
            let there = axes.transform(&state, &transform);
            transform.set_if_neq(there);
        }
    }
}
