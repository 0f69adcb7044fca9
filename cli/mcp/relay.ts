import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { asSvcError } from '../../engine/core/base/errors.ts';
import type { McpChannel, McpRelay } from '../../engine/index.ts';
import { createLostAnswerError, isLoss, type StartCondition } from '../kept-calls.ts';

/** How long a line waits for an engine that went away, ms: a restart takes less than a second. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 100;
/** How often a client that only follows something looks for an engine, ms. */
const REJOIN_MS = 1000;

/** A line of the client that is not answered yet. */
interface PendingLine {
  text: string;
  /** From here on an engine may have received it. */
  isSent: boolean;
  /** `due`: its answer is due; `waits`: for a person or worker; `listens`: it is a subscription, which has no answer. */
  state: 'due' | 'waits' | 'listens';
}

export interface RelayPeer extends McpChannel {
  close(): Promise<void>;
  readonly closed: Promise<void>;
}

export interface LineRelayDeps {
  /** Opens the MCP server of the engine. */
  connect(start: StartCondition, relay: McpRelay, onFrame: (frame: string) => void): Promise<RelayPeer>;
  /** Answers lines with the reason why there is no engine; resolves once it has. */
  answerWithout(error: unknown, frames: readonly string[], onFrame: (frame: string) => void): Promise<void>;
  /** Writes a message to the client. */
  write(text: string): void;
  /** Writes a note to the error output. */
  note(text: string): void;
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

/**
 * Creates a relay over as many engines as needed: a line whose engine is lost is sent again under its number, so its
 * effects happen once. The frames are described in engine/daemon/mcp/pipe.ts.
 */
export function createLineRelay({ connect, answerWithout, write, note }: LineRelayDeps): LineRelay {
  const client = randomUUID();
  let count = 0;
  const pending = new Map<number, PendingLine>();
  /** The number of pending lines whose answer is due. */
  let due = 0;
  /** Lines that set up a connection, which each engine needs; those of subscriptions also here. */
  const kept = new Map<number, string>();
  const subscriptions = new Set<number>();
  let point: string | null = null;
  /** The next point; valid once the engine has set up again what an earlier one did. */
  let nextPoint: string | null = null;
  /** Lines of that kind which the engine has not confirmed. */
  const unconfirmed = new Set<number>();
  let peer: RelayPeer | null = null;
  let hadPeer = false;
  let isConnecting = false;
  let isClosed = false;
  const onSettled: (() => void)[] = [];
  /** Ends a pause between two attempts. */
  let hurry = new AbortController();

  const someLine = (test: (line: PendingLine) => boolean): boolean => [...pending.values()].some(test);
  const isLostWith = ({ isSent, state }: PendingLine): boolean => isSent && state !== 'listens';
  const followsSome = (): boolean => subscriptions.size > 0 || someLine(({ state }) => state === 'listens');

  function setDue(change: 1 | -1): void {
    due += change;
    peer?.setAwaiting(due > 0);
    if (due === 0) for (const resolve of onSettled.splice(0)) resolve();
  }

  function setState(line: PendingLine, state: PendingLine['state']): void {
    const wasDue = line.state === 'due';
    line.state = state;
    if (wasDue && state !== 'due') setDue(-1);
  }

  function endLine(n: number, line: PendingLine): void {
    pending.delete(n);
    if (line.state === 'due') setDue(-1);
  }

  function receiveFrame(frame: string): void {
    const kind = frame.charAt(0);
    const end = frame.indexOf(' ');
    const n = Number(frame.slice(1, end < 0 ? undefined : end));
    const text = end < 0 ? '' : frame.slice(end + 1);
    if (kind === 'n') write(text);
    else if (kind === 'e') note(text);
    else if (kind === 'p') {
      nextPoint = text === '' ? null : text;
      confirm(null);
    } else if (kind === 'f') {
      kept.delete(n);
      subscriptions.delete(n);
    } else receiveAbout(kind, n, text);
  }

  function confirm(n: number | null): void {
    if (n !== null) unconfirmed.delete(n);
    if (unconfirmed.size === 0) point = nextPoint;
  }

  /** Receives a frame about a line. */
  function receiveAbout(kind: string, n: number, text: string): void {
    if (unconfirmed.has(n)) confirm(n);
    const line = pending.get(n);
    // A kept line was sent again: its answer is not wanted.
    if (line === undefined) return;
    if (kind === 'w') setState(line, 'waits');
    else if (kind === 'l') {
      if (line.state !== 'listens') write(text);
      setState(line, 'listens');
    } else {
      if (kind === 'k' || kind === 's') kept.set(n, line.text);
      if (kind === 's') subscriptions.add(n);
      if (text !== '') write(text);
      endLine(n, line);
    }
  }

  /** Builds the frames that an engine, or a stand-in, needs to continue with `lines`. */
  function buildFrames(lines: Iterable<[number, PendingLine]>): string[] {
    const frames = [...kept].map(([n, text]) => `r${n} ${text}`);
    for (const [n, line] of lines) {
      frames.push(`${line.isSent ? 'r' : ''}${n} ${line.text}`);
      line.isSent = true;
    }
    return frames;
  }

  /** Answers pending lines with the reason why there is no engine. */
  async function failLines(error: unknown, test: (line: PendingLine) => boolean): Promise<void> {
    const lines = [...pending].filter(([, line]) => test(line));
    if (lines.length > 0) await answerWithout(error, buildFrames(lines), receiveFrame);
  }

  async function openPeer(): Promise<void> {
    const isFirst = !hadPeer && pending.size === 0;
    const start = isFirst || someLine(({ isSent }) => !isSent) ? 'new_call' : 'after_crash';
    const opened = await connect(start, { client, point, is_resumed: hadPeer }, receiveFrame);
    if (isClosed) return opened.close();
    peer = opened;
    hadPeer = true;
    unconfirmed.clear();
    for (const n of kept.keys()) unconfirmed.add(n);
    for (const [n, { state }] of pending) if (state === 'listens') unconfirmed.add(n);
    nextPoint = point;
    void opened.closed.then(() => {
      if (peer === opened) peer = null;
      if (pending.size > 0 || followsSome()) ensureConnection();
    });
    for (const frame of buildFrames(pending)) opened.send(frame);
    opened.setAwaiting(due > 0);
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
        await failLines(error, (line) => !line.isSent || (!isLost && isLostWith(line)));
        if (Date.now() - lostAt > PATIENCE_MS)
          await failLines(createLostAnswerError(asSvcError(error)), isLostWith);
      }
      const waits = someLine(isLostWith);
      if (!waits) lostAt = Date.now();
      if (someLine(({ isSent }) => !isSent)) continue;
      const pause = { signal: hurry.signal, ref: waits };
      await delay(waits ? PAUSE_MS : REJOIN_MS, undefined, pause).catch(() => undefined);
    } while (!isClosed && (pending.size > 0 || followsSome()));
  }

  function ensureConnection(): void {
    if (isConnecting || isClosed || peer !== null) return;
    isConnecting = true;
    void keepConnecting().finally(() => {
      isConnecting = false;
      // A line may have arrived, or the peer may have gone, in between.
      if (pending.size > 0) ensureConnection();
    });
  }

  return {
    start: ensureConnection,
    receive(text) {
      count += 1;
      const line: PendingLine = { text, isSent: peer !== null, state: 'due' };
      pending.set(count, line);
      setDue(1);
      if (peer !== null) return peer.send(`${count} ${text}`);
      hurry.abort();
      ensureConnection();
    },
    settled: () =>
      new Promise((resolve) => {
        if (due === 0) resolve();
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
