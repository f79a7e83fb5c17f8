//! For tests and pictures: quits by itself.

use crate::Common;
use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured, save_to_disk};
use std::path::PathBuf;
use std::time::Duration;

/// When to quit, and whether to leave a picture.
#[derive(Resource, Clone)]
pub struct Watch {
    frames: Option<u32>,
    screenshot: Option<PathBuf>,
    after: Duration,
}

impl Watch {
    /// As the arguments say.
    pub fn new(common: &Common) -> Self {
        let after = Duration::from_secs(common.after.into());
        Self { frames: common.frames, screenshot: common.screenshot.clone(), after }
    }
}

impl Plugin for Watch {
    fn build(&self, app: &mut App) {
        app.insert_resource(self.clone()).add_systems(Update, (count, shoot));
    }
}

fn count(watch: Res<Watch>, mut frames: Local<u32>, mut exit: MessageWriter<AppExit>) {
    *frames = frames.saturating_add(1);
    if watch.frames.is_some_and(|most| *frames >= most) {
        exit.write(AppExit::Success);
    }
}

fn shoot(mut watch: ResMut<Watch>, time: Res<Time<Real>>, mut commands: Commands) {
    if time.elapsed() < watch.after {
        return;
    }
    let Some(path) = watch.screenshot.take() else { return };
    let mut save = save_to_disk(path.clone());
    let save = move |captured: On<ScreenshotCaptured>, mut exit: MessageWriter<AppExit>| {
        save(captured);
        // Why it was not saved has been logged.
        exit.write(if path.exists() { AppExit::Success } else { AppExit::from_code(2) });
    };
    commands.spawn(Screenshot::primary_window()).observe(save);
}
