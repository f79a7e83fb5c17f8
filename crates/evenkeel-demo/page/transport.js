// A connection to the server that carries datagrams, messages, and messages that wait for no other: WebTransport, or a WebSocket
// where that is missing or does not get through. What is on the wire is written down in crates/evenkeel-net/src/transport/mod.rs.

export const DATAGRAM = 0;
export const MESSAGE = 1;
export const UNORDERED = 2;

const FAREWELL = 0x80000000;
// The longest message that we believe in, in bytes.
const LONGEST = 256 * 1024;
// Bytes that wait to be sent beyond which datagrams are dropped: they would be stale when they arrive.
const MOST_WAITING = 64 * 1024;
const CONNECT_WITHIN_MS = 5000;

/// Nanoseconds of a clock that never runs backwards.
export const now = () => BigInt(Math.round(performance.now() * 1e6));

/// Connects by whichever way works. `target` has url (https), websocket (wss, or null) and hashes (base64); `handlers` has
/// received(kind, bytes, at) and closed(why), which is called once. Throws an Error that says why if no way works.
export async function connect(target, handlers) {
  const failures = [];
  if (typeof WebTransport === "function") {
    try {
      return await WebTransportConnection.open(target, handlers);
    } catch (error) {
      failures.push(`WebTransport: ${words(error)}`);
    }
  } else {
    failures.push("this browser has no WebTransport");
  }
  if (target.websocket) {
    try {
      return await SocketConnection.open(target.websocket, handlers);
    } catch (error) {
      failures.push(`WebSocket: ${words(error)}`);
    }
  }
  throw new Error(failures.join("; "));
}

const words = (error) => ((error && error.message) || String(error)).replace(/[.\s]+$/, "");

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

function within(promise, milliseconds, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${milliseconds / 1000} s`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function framed(bytes) {
  const frame = new Uint8Array(4 + bytes.length);
  new DataView(frame.buffer).setUint32(0, bytes.length, true);
  frame.set(bytes, 4);
  return frame;
}

/// Reads a stream of bytes in pieces of the size that is asked for.
class Pieces {
  constructor(stream) {
    this.reader = stream.getReader();
    this.rest = new Uint8Array(0);
  }

  /// So many bytes, or null if the stream ends before the first of them.
  async take(length) {
    const parts = [this.rest];
    let have = this.rest.length;
    while (have < length) {
      const { value, done } = await this.reader.read();
      if (done) {
        if (have === 0) return null;
        throw new Error("a message ends before its length");
      }
      parts.push(value);
      have += value.length;
    }
    const all = new Uint8Array(have);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    this.rest = all.subarray(length);
    return all.subarray(0, length);
  }

  async number() {
    const bytes = await this.take(4);
    return bytes && new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  }
}

class WebTransportConnection {
  static async open({ url, hashes }, handlers) {
    const options = { requireUnreliable: true };
    if (hashes && hashes.length > 0) {
      options.serverCertificateHashes = hashes.map((hash) => ({ algorithm: "sha-256", value: bytesOf(hash) }));
    }
    const session = new WebTransport(url, options);
    // Whoever waits for `ready` hears of a failure; nobody else has to.
    session.closed.catch(() => {});
    try {
      await within(session.ready, CONNECT_WITHIN_MS, "connecting");
      const stream = await within(session.createBidirectionalStream(), CONNECT_WITHIN_MS, "opening a stream");
      return new WebTransportConnection(session, stream, handlers);
    } catch (error) {
      try {
        session.close();
      } catch {
        // It never was open.
      }
      throw error;
    }
  }

  constructor(session, stream, handlers) {
    this.carrier = "WebTransport";
    this.session = session;
    this.handlers = handlers;
    this.open = true;
    this.waiting = 0;
    this.messages = stream.writable.getWriter();
    const datagrams = session.datagrams;
    // Where there are several writers, one has to be asked for.
    this.datagrams = (datagrams.createWritable ? datagrams.createWritable() : datagrams.writable).getWriter();
    datagrams.incomingHighWaterMark = 512;
    session.closed.then(
      (info) => this.end((info && info.reason) || "the server has closed the connection"),
      (error) => this.end(words(error)),
    );
    this.run(this.readDatagrams());
    this.run(this.readMessages(new Pieces(stream.readable)));
    this.run(this.readStreams());
  }

  run(reading) {
    reading.catch((error) => this.end(words(error)));
  }

  async readDatagrams() {
    const reader = this.session.datagrams.readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      this.received(DATAGRAM, value);
    }
  }

  async readMessages(pieces) {
    for (;;) {
      const length = await pieces.number();
      if (length === null) return;
      if (length >= FAREWELL) {
        const reason = await pieces.take(Math.min(length - FAREWELL, 1024));
        return this.end(new TextDecoder().decode(reason ?? new Uint8Array(0)) || "the server has closed the connection");
      }
      if (length > LONGEST) throw new Error(`a message of ${length} bytes is too long`);
      const bytes = await pieces.take(length);
      if (bytes === null) throw new Error("a message ends before its length");
      this.received(MESSAGE, bytes);
    }
  }

  async readStreams() {
    const reader = this.session.incomingUnidirectionalStreams.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      // A stream that breaks off takes nobody else along.
      this.readStream(new Pieces(value)).catch(() => {});
    }
  }

  async readStream(pieces) {
    const length = await pieces.number();
    if (length === null || length > LONGEST) return;
    const bytes = await pieces.take(length);
    if (bytes !== null) this.received(UNORDERED, bytes);
    // Read to its end, or the server would think the message lost.
    await pieces.take(1);
  }

  received(kind, bytes) {
    if (this.open) this.handlers.received(kind, bytes, now());
  }

  send(kind, bytes) {
    if (!this.open) return;
    if (kind === DATAGRAM) {
      if (this.waiting > MOST_WAITING) return;
      this.waiting += bytes.length;
      const sent = () => (this.waiting -= bytes.length);
      this.datagrams.write(bytes).then(sent, sent);
    } else if (kind === MESSAGE) {
      this.run(this.messages.write(framed(bytes)));
    } else {
      this.run(this.sendAlone(bytes));
    }
  }

  async sendAlone(bytes) {
    const stream = await this.session.createUnidirectionalStream();
    const writer = (stream.writable ?? stream).getWriter();
    await writer.write(framed(bytes));
    await writer.close();
  }

  /// Says farewell after all that was sent before. Resolves when it may be forgotten.
  async close(reason) {
    this.open = false;
    const text = new TextEncoder().encode(reason).subarray(0, 1024);
    const frame = framed(text);
    new DataView(frame.buffer).setUint32(0, FAREWELL + text.length, true);
    try {
      await within(this.messages.write(frame).then(() => this.messages.close()), 1000, "saying farewell");
      this.session.close({ closeCode: 0, reason });
    } catch {
      // It is gone already.
    }
  }

  end(why) {
    if (!this.open) return;
    this.open = false;
    try {
      this.session.close();
    } catch {
      // It is closed.
    }
    this.handlers.closed(why);
  }
}

class SocketConnection {
  static open(url, handlers) {
    let socket;
    const opened = new Promise((resolve, reject) => {
      socket = new WebSocket(url);
      socket.binaryType = "arraybuffer";
      socket.onopen = () => resolve(new SocketConnection(socket, handlers));
      socket.onerror = () => reject(new Error("it cannot be reached, or its certificate is not trusted"));
    });
    return within(opened, CONNECT_WITHIN_MS, "connecting").catch((error) => {
      if (socket) socket.close();
      throw error;
    });
  }

  constructor(socket, handlers) {
    this.carrier = "WebSocket";
    this.socket = socket;
    this.handlers = handlers;
    this.open = true;
    socket.onerror = null;
    socket.onclose = (event) => this.end(event.reason || "the connection broke");
    socket.onmessage = ({ data }) => this.receive(data);
  }

  receive(data) {
    const at = now();
    if (!this.open) return;
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(0);
    if (bytes.length === 0 || bytes[0] > UNORDERED || bytes.length > LONGEST) return this.end("the server sent what cannot be read");
    this.handlers.received(bytes[0], bytes.subarray(1), at);
  }

  send(kind, bytes) {
    if (!this.open || (kind === DATAGRAM && this.socket.bufferedAmount > MOST_WAITING)) return;
    const frame = new Uint8Array(1 + bytes.length);
    frame[0] = kind;
    frame.set(bytes, 1);
    this.socket.send(frame);
  }

  async close(reason) {
    this.open = false;
    this.socket.close(1000, reason.slice(0, 100));
  }

  end(why) {
    if (!this.open) return;
    this.open = false;
    this.socket.close();
    this.handlers.closed(why);
  }
}
