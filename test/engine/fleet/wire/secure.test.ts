import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createIdentity, type Identity } from '../../../../engine/fleet/broker/identity.ts';
import { createMessageStream, type MessageStream } from '../../../../engine/fleet/wire/message-stream.ts';
import { secureAsClient, secureAsServer } from '../../../../engine/fleet/wire/secure.ts';
import { readToEnd } from '../../../support/read-to-end.ts';

/** Waits for the end of a stream, with or without an error. */
const awaitClose = (stream: Duplex): Promise<void> =>
  new Promise((resolve) => stream.once('close', () => resolve()));

/** Handles a message between the two ends: passes it on, or does something else. */
type Carrier = (message: Buffer, pass: (message: Buffer) => void) => void;

const honest: Carrier = (message, pass) => pass(message);

describe('a connection over messages that others carry', () => {
  let board: Identity;
  let runner: Identity;
  let stranger: Identity;
  const open: { destroy(): void }[] = [];
  before(async () => {
    board = await createIdentity('board');
    runner = await createIdentity('runner');
    stranger = await createIdentity('stranger');
  });
  after(() => {
    for (const each of open) each.destroy();
  });

  /** Joins two ends; what the runner sends goes through `carry`. */
  function joinEnds(carry: Carrier = honest): { here: MessageStream; there: MessageStream } {
    const later = (receive: (message: Buffer) => void) => (message: Uint8Array) =>
      setImmediate(() => receive(Buffer.from(message)));
    const here: MessageStream = createMessageStream(later((message) => there.receive(message)));
    const there: MessageStream = createMessageStream(
      later((message) => carry(message, (each) => here.receive(each))),
    );
    for (const { stream } of [here, there]) {
      stream.on('error', () => stream.destroy());
      open.push(stream);
    }
    return { here, there };
  }

  async function secureBoth(carry?: Carrier, { ours = board, theirs = runner, known = runner } = {}) {
    const { here, there } = joinEnds(carry);
    const [server, client] = await Promise.allSettled([
      secureAsServer(here.stream, { ...board, peer: known.certificate }),
      secureAsClient(there.stream, { ...theirs, peer: ours.certificate }),
    ]);
    if (server.status === 'rejected') throw server.reason;
    if (client.status === 'rejected') throw client.reason;
    for (const socket of [server.value, client.value]) {
      socket.on('error', () => socket.destroy());
      open.push(socket);
    }
    return { server: server.value, client: client.value };
  }

  it('bytes pass both ways, and a writer waits for its reader', async () => {
    const { server, client } = await secureBoth();
    const bytes = Buffer.alloc(5_000_000, 'abc');
    let written = 0;
    const writing = (async () => {
      for (let from = 0; from < bytes.length; from += 100_000) {
        if (!client.write(bytes.subarray(from, from + 100_000))) await once(client, 'drain');
        written = from;
      }
      client.end();
    })();
    for (let turns = 0; turns < 500; turns += 1) await nextTurn();
    assert.ok(written < 3_000_000, `${written} bytes are on their way to a reader that does not read`);
    const read = await readToEnd(server);
    await writing;
    assert.equal(read.length, bytes.length);
    server.end('answer');
    assert.equal(await text(client), 'answer');
  });

  it('both ends close when one of them is destroyed', async () => {
    const { server, client } = await secureBoth();
    client.resume();
    server.resume();
    server.destroy();
    await awaitClose(client);
  });

  it('a stranger is refused at either end', async () => {
    await assert.rejects(secureBoth(honest, { theirs: stranger }), /has not proved who it is/);
    await assert.rejects(secureBoth(honest, { ours: stranger }), /has not proved who it is/);
    await assert.rejects(secureBoth(honest, { known: stranger }), /has not proved who it is/);
  });

  /** Sends a hundred parts through a carrier, and returns what has arrived at the end of the connection. */
  async function sendThrough(carry: Carrier): Promise<string> {
    let isBegun = false;
    const { server, client } = await secureBoth((message, pass) =>
      isBegun ? carry(message, pass) : pass(message),
    );
    isBegun = true;
    let arrived = '';
    server.on('data', (chunk: Buffer) => {
      arrived += chunk.toString();
    });
    server.on('end', () => server.end());
    const closed = awaitClose(server);
    for (let part = 0; part < 100 && !client.destroyed; part += 1) {
      client.write(`${part}\n`);
      await nextTurn();
    }
    client.end();
    await closed;
    return arrived;
  }
  const all = Array.from({ length: 100 }, (_, part) => `${part}\n`).join('');

  it('all bytes arrive over an honest carrier', async () => {
    assert.equal(await sendThrough(honest), all);
  });

  const LIES: Record<string, () => Carrier> = {
    'changes a byte': () => {
      let count = 0;
      return (message, pass) => {
        count += 1;
        if (count === 20 && message.length > 10) message[message.length - 3]! ^= 1;
        pass(message);
      };
    },
    'drops a message': () => {
      let count = 0;
      return (message, pass) => {
        count += 1;
        if (count !== 20) pass(message);
      };
    },
    'repeats a message': () => {
      let count = 0;
      return (message, pass) => {
        count += 1;
        pass(message);
        if (count === 20) pass(message);
      };
    },
    'exchanges two messages': () => {
      let held: Buffer | null = null;
      let count = 0;
      return (message, pass) => {
        count += 1;
        if (count === 20) held = message;
        else {
          pass(message);
          if (held !== null) pass(held);
          held = null;
        }
      };
    },
    'adds a message of its own': () => {
      let count = 0;
      return (message, pass) => {
        count += 1;
        if (count === 20) pass(Buffer.from([0, ...Buffer.from('99\n')]));
        pass(message);
      };
    },
  };
  for (const [what, lie] of Object.entries(LIES))
    it(`the connection ends, and passes on nothing that is wrong, when its carrier ${what}`, async () => {
      const arrived = await sendThrough(lie());
      assert.ok(all.startsWith(arrived) && arrived.length < all.length, JSON.stringify(arrived.slice(-40)));
    });

  it('the connection ends when more arrives than the reader has room for', async () => {
    const { here } = joinEnds();
    here.stream.on('error', () => undefined);
    for (let count = 0; count < 100; count += 1) here.receive(Buffer.alloc(60_000));
    assert.ok(here.stream.destroyed);
  });
});
