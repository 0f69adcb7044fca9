import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { asSvcError } from '../../engine/core/base/errors.ts';
import type { McpChannel, McpRelay } from '../../engine/index.ts';
import { createLostAnswerError, isLoss, type StartCondition } from '../kept-calls.ts';
import { createLineBook, type LineBookDeps, type PendingLine } from './line-book.ts';

/** How long a line waits for an engine that went away, ms: a restart takes less than a second. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 100;
/** How often a client that only follows something looks for an engine, ms. */
const REJOIN_MS = 1000;

export interface RelayPeer extends McpChannel {
  close(): Promise<void>;
  readonly closed: Promise<void>;
}

export interface LineRelayDeps extends Pick<LineBookDeps, 'write' | 'note'> {
  /** Opens the MCP server of the engine. */
  connect(start: StartCondition, relay: McpRelay, onFrame: (frame: string) => void): Promise<RelayPeer>;
  /** Answers lines with the reason why there is no engine; resolves once it has. */
  answerWithout(error: unknown, frames: readonly string[], onFrame: (frame: string) => void): Promise<void>;
}

/** Relays the lines of one MCP client to its engine. */
export interface LineRelay {
  /** Connects, so that the engine works, or starts, before the first line arrives. */
  start(): void;
  receive(line: string): void;
  /** Resolves once every line is answered, except lines that wait for a person or worker. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const isNew = ({ isSent }: PendingLine): boolean => !isSent;
/** An engine may have received it, and its answer is missing. */
const isInterrupted = ({ isSent, state }: PendingLine): boolean => isSent && state !== 'listens';

/**
 * Creates a relay over as many engines as needed: a line whose engine is lost is sent again under its number, so its
 * effects happen once.
 */
export function createLineRelay({ connect, answerWithout, write, note }: LineRelayDeps): LineRelay {
  const client = randomUUID();
  let peer: RelayPeer | null = null;
  let hadPeer = false;
  let isConnecting = false;
  let isClosed = false;
  const onSettled: (() => void)[] = [];
  /** Ends a pause between two attempts. */
  let hurry = new AbortController();
  const book = createLineBook({
    write,
    note,
    onDue(due) {
      peer?.setAwaiting(due > 0);
      if (due === 0) for (const resolve of onSettled.splice(0)) resolve();
    },
  });
  const needsEngine = (): boolean => book.hasPending() || book.followsSome();

  /** Answers pending lines with the reason why there is no engine. */
  async function failLines(error: unknown, test: (line: PendingLine) => boolean): Promise<void> {
    if (book.hasPending(test)) await answerWithout(error, book.buildFrames(test), book.receiveFrame);
  }

  async function openPeer(): Promise<void> {
    const isFirst = !hadPeer && !book.hasPending();
    const start = isFirst || book.hasPending(isNew) ? 'new_call' : 'after_crash';
    const relay = { client, point: book.point(), is_resumed: hadPeer };
    const opened = await connect(start, relay, book.receiveFrame);
    if (isClosed) return opened.close();
    peer = opened;
    hadPeer = true;
    book.beginEngine();
    void opened.closed.then(() => {
      if (peer === opened) peer = null;
      if (needsEngine()) ensureConnection();
    });
    for (const frame of book.buildFrames()) opened.send(frame);
    opened.setAwaiting(book.due() > 0);
  }

  /** Tries to connect for as long as something needs an engine. */
  async function keepConnecting(): Promise<void> {
    let lostAt = Date.now();
    do {
      hurry = new AbortController();
      try {
        await openPeer();
        return;
      } catch (error) {
        if (isClosed) return;
        const isLost = isLoss(error);
        await failLines(error, (line) => isNew(line) || (!isLost && isInterrupted(line)));
        if (Date.now() - lostAt > PATIENCE_MS)
          await failLines(createLostAnswerError(asSvcError(error)), isInterrupted);
      }
      const isWaiting = book.hasPending(isInterrupted);
      if (!isWaiting) lostAt = Date.now();
      if (book.hasPending(isNew)) continue;
      const pause = { signal: hurry.signal, ref: isWaiting };
      await delay(isWaiting ? PAUSE_MS : REJOIN_MS, undefined, pause).catch(() => undefined);
    } while (!isClosed && needsEngine());
  }

  function ensureConnection(): void {
    if (isConnecting || isClosed || peer !== null) return;
    isConnecting = true;
    void keepConnecting().finally(() => {
      isConnecting = false;
      // A line may have arrived, or the peer may have gone, in between.
      if (book.hasPending()) ensureConnection();
    });
  }

  return {
    start: ensureConnection,
    receive(text) {
      const n = book.add(text, peer !== null);
      if (peer !== null) return peer.send(`${n} ${text}`);
      hurry.abort();
      ensureConnection();
    },
    settled: () =>
      new Promise((resolve) => {
        if (book.due() === 0) resolve();
        else onSettled.push(resolve);
      }),
    async close() {
      isClosed = true;
      hurry.abort();
      for (const resolve of onSettled.splice(0)) resolve();
      await peer?.close();
    },
  };
}
