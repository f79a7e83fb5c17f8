//! The first bytes of a client's connections.

use super::engine::Engine;
use super::queue::Direction;
use crate::message::{MessageError, ServerHello, client_hello};
use evenkeel::HostId;

impl Engine {
    /// Sees to a stream's first bytes. Answers what is left for frames; nothing while the hello is not whole.
    pub(super) fn greet(
        &mut self,
        host: HostId,
        direction: Direction,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, MessageError> {
        let Some(link) = self.links.get_mut(&host) else { return Ok(None) };
        if link.refused && direction == Direction::Down {
            link.client.write(bytes.to_vec());
            return Ok(None);
        }
        let hasty = direction == Direction::Up && link.player.is_none();
        let side = link.source(direction);
        if side.greeted && !hasty {
            return Ok(Some(bytes.to_vec()));
        }
        side.hello.extend_from_slice(bytes);
        let mut hello = std::mem::take(&mut side.hello);
        let length = match direction {
            Direction::Up if side.greeted => Some(0),
            Direction::Up => client_hello(&hello)?,
            Direction::Down => self.welcome(host, &hello)?,
        };
        let Some(link) = self.links.get_mut(&host) else { return Ok(None) };
        let Some(length) = length else {
            link.source(direction).hello = hello;
            return Ok(None);
        };
        let rest = hello.split_off(length);
        if hasty && !rest.is_empty() {
            self.close(host, "it goes on before it is greeted");
            return Ok(None);
        }
        link.source(direction).greeted = true;
        let sink = if direction == Direction::Up { &link.server } else { &link.client };
        sink.write(hello);
        Ok(Some(rest))
    }

    /// What the server says first. Answers how long a welcome is; nothing if it is not whole, or none.
    fn welcome(&mut self, host: HostId, hello: &[u8]) -> Result<Option<usize>, MessageError> {
        let Some(link) = self.links.get_mut(&host) else { return Ok(None) };
        match ServerHello::parse(hello) {
            Ok(Some((ServerHello::Welcome { id }, length))) => {
                link.player = Some(id);
                self.relay.connected(host, id);
                Ok(Some(length))
            }
            Ok(None) => Ok(None),
            // The client has a better message for its player than anything we could say: let it read it all.
            Ok(Some((refusal, _))) => {
                link.client.write(hello.to_vec());
                link.refused = true;
                let why = format!("the server lets nobody in: {refusal:?}");
                if refusal == ServerHello::Refused {
                    // Its reason follows, until the server closes or the time for greetings is over.
                    tracing::info!(%host, "{why}");
                } else {
                    self.close(host, &why);
                }
                Ok(None)
            }
            Err(problem) => {
                link.client.write(hello.to_vec());
                Err(problem)
            }
        }
    }
}
