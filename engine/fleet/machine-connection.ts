import { connect as connectSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { z } from 'zod';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { version } from '../core/base/own-package.ts';
import { toPrintable } from '../core/base/text.ts';
import type { RunName } from '../workers/runner/runs/index.ts';
import { openOnHost } from './hosts/index.ts';
import { hasDisk } from './machine-disk.ts';
import {
  answers,
  type CallName,
  type Heartbeat,
  heartbeat,
  type heartbeatAnswer,
  type MachineFacts,
  machineFacts,
  streams,
} from './messages.ts';
import type { RunnerRecord } from './records.ts';
import {
  FLEET_PROTOCOL,
  isLinkLost,
  keepLinked,
  type Link,
  type LinkHandlers,
  type LinkLane,
  openLink,
  pipeBoth,
} from './wire/index.ts';

export interface MachineConnectionDeps {
  /** The id of the workspace's data folder, which names the fleet. */
  fleet: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
  /** Reports whether a live run works on that machine. */
  isRunOn(run: RunName, runner: string): boolean;
  /** Serves a connection of a worker. */
  serveSeat(connection: Duplex, run: RunName): void;
  /** The address of the gateway, such as `http://127.0.0.1:8788`. */
  findGateway(): string;
  /** Records how long runs there may continue without the engine, ms; null for ever. */
  noteLease(runner: string, leaseMs: number | null): Promise<void>;
  /** Called when the machine wants no more runs. */
  onDrain(runner: string): Promise<null>;
  /** Called when the machine leaves the fleet. Throws `conflict` while sessions work there. */
  onGoodbye(runner: string): Promise<null>;
  /** Waits for the next connection of a machine that has joined over the broker. Rejects when the signal aborts. */
  accept(runner: { id: string; certificate: string }, signal: AbortSignal): Promise<Duplex>;
  /** Returns how long runs there may continue without the engine, ms; null for ever. */
  readLeaseMs(): number | null;
  /** Called when the machine can take runs, or cannot any more. */
  onChange(): void;
}

/** How a machine is reached now. */
export interface MachineState {
  state: 'connecting' | 'ready' | 'silent';
  /** Why it is not ready, a sentence; null if it is, or while it is tried for the first time. */
  why: string | null;
  facts: MachineFacts | null;
  /** Its last report; null before the first one. */
  load: Heartbeat | null;
  /** Since when, Unix ms. */
  since: number;
}

/** The connection to one machine, opened again whenever it ends. */
export interface MachineConnection {
  readonly record: RunnerRecord;
  readState(): MachineState;
  /** Tries to connect now, without waiting for the pause to end. */
  reconnect(): void;
  /** Reports whether all of these programs are there; null while that is not known. */
  hasPrograms(programs: readonly string[]): boolean | null;
  /**
   * Calls the machine, and calls it again while its connection is lost: each call that changes something may be
   * repeated. Rejects with the error of the machine, `answer_invalid` for an answer of another form, and `engine_closing`
   * once it is closed.
   */
  call<Name extends CallName>(
    name: Name,
    order: unknown,
    options?: { signal?: AbortSignal; onReport?(report: unknown): void },
  ): Promise<z.output<(typeof answers)[Name]>>;
  /** Opens a stream once the machine is connected. Rejects as `call`. */
  openStream(name: string, data: unknown, lane: LinkLane, signal?: AbortSignal): Promise<Duplex>;
  close(): Promise<void>;
}

/** A program that a machine lacks may be installed while a run waits for it: how often it is asked for again, ms. */
const PROBE_MS = 10_000;
/** A machine that has joined and does not connect for so long is silent, ms. */
const JOINED_MS = 20_000;

const closedError = (): SvcError =>
  new SvcError('engine_closing', 'the engine is closing; its workers on other machines continue');

/** Keeps a machine connected. */
export function connectToMachine(record: RunnerRecord, deps: MachineConnectionDeps): MachineConnection {
  const { id, host, via, command, name, joined } = record;
  const { env, clock, log } = deps;
  let state: MachineState = { state: 'connecting', why: null, facts: null, load: null, since: clock.now() };
  /** True for each program that the machine has; empty after each connection. */
  const programs = new Map<string, boolean>();
  const asked = new Set<string>();
  let nextProbe: NodeJS.Timeout | null = null;
  let isClosed = false;

  function changeState(next: Omit<MachineState, 'since' | 'load'>): void {
    state = {
      ...{ ...next, load: state.load },
      since: next.state === state.state ? state.since : clock.now(),
    };
    deps.onChange();
  }

  async function noteHeartbeat(load: Heartbeat): Promise<z.infer<typeof heartbeatAnswer>> {
    const hadRoom = hasDisk(state.load);
    state = { ...state, load };
    if (hadRoom !== hasDisk(load)) deps.onChange();
    const leaseMs = deps.readLeaseMs();
    // On disk before it is answered, and as long as the answer may be lost: its runs may live that long.
    await deps.noteLease(id, chooseLonger(load.leaseMs, leaseMs));
    return { leaseMs };
  }

  const handlers: LinkHandlers = {
    async onCall(method, input) {
      const beat = method === 'heartbeat' ? heartbeat.safeParse(input).data : undefined;
      if (beat !== undefined) return noteHeartbeat(beat);
      if (method === 'drain') return deps.onDrain(id);
      if (method === 'goodbye') return deps.onGoodbye(id);
      throw new SvcError('usage', `the engine answers no call ${method} of a runner`);
    },
    onStream(streamName, data) {
      const isKnown = streamName === 'seat' || streamName === 'gateway';
      const run = isKnown ? streams[streamName].safeParse(data).data : undefined;
      if (run === undefined || !deps.isRunOn(run, id))
        throw new SvcError('chair_only', 'a runner may only speak for the runs that it works on');
      if (streamName === 'seat') return (stream) => deps.serveSeat(stream, run);
      return (stream) => joinGateway(stream, deps.findGateway());
    },
  };

  /** Waits for the connection of a machine that has joined: it comes from there. */
  async function awaitJoined(certificate: string, signal: AbortSignal): Promise<Link> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(JOINED_MS)]);
    const stream = await deps.accept({ id, certificate }, limited);
    return openLink(stream, { protocol: FLEET_PROTOCOL, version, about: null }, handlers, { signal });
  }

  async function openOverHost(signal: AbortSignal): Promise<Link> {
    const script = `exec ${command} runner connect ${deps.fleet}`;
    const opened = await openOnHost({ host, via }, script, { environment: env, signal });
    const hello = { protocol: FLEET_PROTOCOL, version, about: null };
    try {
      const link = await openLink(opened.stream, hello, handlers, { signal });
      void link.ended.then(() => opened.kill());
      return link;
    } catch (error) {
      opened.kill();
      const { stderr } = await opened.ended;
      const { message } = asSvcError(error);
      throw new SvcError('runner_unreachable', quoteError(stderr) || message, { cause: error });
    }
  }

  const kept = keepLinked({
    open: (signal) => (joined === null ? openOverHost(signal) : awaitJoined(joined.certificate, signal)),
    ...{ clock, readLeaseMs: deps.readLeaseMs },
    onLinked(link) {
      programs.clear();
      asked.clear();
      const facts = machineFacts.safeParse(link.peer.about).data;
      if (facts === undefined)
        throw new SvcError('answer_invalid', 'its facts have a form that this engine does not know');
      log.info({ runner: id, name }, 'the machine is connected');
      changeState({ state: 'ready', why: null, facts });
    },
    onLost(error) {
      if (isClosed) return;
      if (state.why !== error.message)
        log.warn({ runner: id, name, error: error.message }, 'the machine is not connected');
      changeState({ state: 'silent', why: error.message, facts: state.facts });
    },
  });

  async function nextLink(signal?: AbortSignal): Promise<Link> {
    try {
      return await kept.next(signal);
    } catch (error) {
      throw isClosed ? closedError() : error;
    }
  }

  /** Does something on the connection, and again on the next one if it was lost. */
  async function withLink<T>(use: (link: Link) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      const link = await nextLink(signal);
      try {
        return await use(link);
      } catch (error) {
        if (isClosed) throw closedError();
        if (!isLinkLost(error)) throw error;
        await link.ended;
      }
    }
  }

  /** Asks the machine which programs it has. */
  async function probePrograms(wanted: readonly string[]): Promise<void> {
    const found = await withLink((link) => link.call('probe', { programs: wanted }));
    for (const program of wanted) programs.set(program, Array.isArray(found) && found.includes(program));
    deps.onChange();
  }

  /** Asks again for what is missing; the run that waits for it then looks, and so continues the asking. */
  function probeLater(): void {
    nextProbe ??= setTimeout(() => {
      nextProbe = null;
      const missing = [...programs.keys()].filter((each) => !programs.get(each));
      if (missing.length === 0 || state.state !== 'ready') deps.onChange();
      else probePrograms(missing).catch(() => deps.onChange());
    }, PROBE_MS).unref();
  }

  return {
    record,
    readState: () => state,
    reconnect: kept.reconnectNow,
    hasPrograms(wanted) {
      const unknown = wanted.filter((each) => !programs.has(each) && !asked.has(each));
      for (const each of unknown) asked.add(each);
      if (unknown.length > 0 && state.state === 'ready')
        probePrograms(unknown).catch(() => {
          asked.clear();
          probeLater();
        });
      if (wanted.some((each) => programs.get(each) === false)) probeLater();
      if (wanted.some((each) => !programs.has(each))) return null;
      return wanted.every((each) => programs.get(each));
    },
    async call(method, order, options) {
      const { success, data } = answers[method].safeParse(
        await withLink((link) => link.call(method, order, options), options?.signal),
      );
      if (success) return data as never;
      throw new SvcError('answer_invalid', `${name} has answered ${method} in a form that is not allowed`);
    },
    openStream: (streamName, data, lane, signal) =>
      withLink((link) => link.openStream(streamName, data, lane, signal), signal),
    async close() {
      isClosed = true;
      if (nextProbe !== null) clearTimeout(nextProbe);
      await kept.close();
    },
  };
}

const chooseLonger = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : Math.max(one, other);

/** Returns the last error that svc has printed there, or else the last line; empty for none. */
function quoteError(output: string): string {
  const lines = output.trim().split('\n');
  const error = lines.findLast((line) => line.startsWith('error: '))?.slice('error: '.length);
  return toPrintable(error ?? lines.at(-1) ?? '').slice(0, 500);
}

/** Joins a connection of a worker to the gateway of this machine. */
function joinGateway(stream: Duplex, address: string): void {
  const { hostname, port } = new URL(address);
  const socket = connectSocket({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
  pipeBoth(socket, stream);
}
