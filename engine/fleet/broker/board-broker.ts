import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { findOwnAddress, formatAddress, parseAddress } from '../../core/base/values/address.ts';
import {
  type Invitation,
  type JoinRequest,
  type joinAnswer,
  joinRequest,
  openMessage,
  sealMessage,
  subjectsOf,
} from '../wire/join-line.ts';
import { createMessageStream, type MessageStream } from '../wire/message-stream.ts';
import { type Broker, connectToBroker, createBrokerKey } from '../wire/nats.ts';
import { secureAsServer } from '../wire/secure.ts';
import {
  type BrokerSetting,
  type BrokerUsers,
  readBrokerSetting,
  writeBrokerFiles,
  writeBrokerSetting,
  writeBrokerUsers,
} from './broker-files.ts';
import { createBrokerProcess } from './broker-process.ts';
import { createIdentity } from './identity.ts';

/** An invitation as the board has it. */
export type OpenInvite = Pick<Invitation, 'id' | 'password' | 'secret'>;

export interface BoardBrokerDeps {
  data: string;
  fleet: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  readStartTime(pid: number): string | null;
  listUsers(): BrokerUsers;
  /** Finds the secret of an invitation that is valid, or was spent just now; null for any other. */
  findSecret(id: string): string | null;
  /** Adds a machine and spends its invitation. Throws if it may not join. */
  admit(invite: string, request: JoinRequest): Promise<{ id: string; name: string }>;
  /** Called when a machine opens a connection. */
  onOpen(runner: string): void;
}

/** The board's side of a broker. */
export interface BoardBroker {
  /** Creates the broker's keys and settings, or changes where it listens, and starts it. Throws `tool_missing`, `address_in_use`. */
  init(place: { listen: string; hosts: readonly string[] }): Promise<void>;
  /** Starts what `init` has created; does nothing without. */
  start(): Promise<void>;
  /** The data that a machine needs to join, besides its invitation; null without a broker. */
  describe(): Pick<Invitation, 'servers' | 'authority' | 'board'> | null;
  /** Why it does not work, a sentence; null if it does, or if there is none. */
  findProblem(): string | null;
  /** Makes the broker read again who may connect. */
  reload(): void;
  /** Waits until the broker knows an invitation. Throws `broker_unreachable`. */
  confirm(invite: Pick<OpenInvite, 'id' | 'password'>): Promise<void>;
  /** Waits for the next connection of a machine. Rejects when the signal aborts. */
  accept(runner: { id: string; certificate: string }, signal: AbortSignal): Promise<Duplex>;
  close(): Promise<void>;
}

/** The pause before a broker that could not be started is tried again, ms. */
const AGAIN_MS = 5000;
/** How long a connection waits to be accepted, ms. */
const WAIT_MS = 15_000;
/** How often, and with which pause, the broker is asked whether it has read a new invitation. */
const CONFIRM_TRIES = 40;
const CONFIRM_MS = 50;
/** The shortest time between two readings of the list: each delays or drops the connections that are being opened, ms. */
const RELOAD_MS = 500;
const NUMBER = /^[0-9a-f]{32}$/;

/** How the engine itself reaches its broker. */
const describeHere = ({ listen, authority }: BrokerSetting) => ({
  servers: [`tls://${formatAddress(findOwnAddress(parseAddress(listen)))}`],
  authority: authority.certificate,
});

export function createBoardBroker(deps: BoardBrokerDeps): BoardBroker {
  const { data, fleet, env, log } = deps;
  const subjects = subjectsOf(fleet);
  let setting: BrokerSetting | null = null;
  let connection: Broker | null = null;
  let problem: string | null = null;
  /** The newest connection of each machine; an earlier one has ended. */
  const opened = new Map<string, MessageStream & { number: string }>();
  const arrived = new Map<string, { stream: Duplex; at: number }>();
  const waiting = new Map<string, (stream: Duplex) => void>();
  const process = createBrokerProcess({
    ...{ data, env, log, readStartTime: deps.readStartTime },
    readListen: () => parseAddress(setting?.listen ?? ''),
    async writeFiles() {
      if (setting === null) return;
      await writeBrokerFiles(data, fleet, setting);
      writeBrokerUsers(data, fleet, setting, deps.listUsers());
    },
  });

  function take(runner: string, number: string): void {
    opened.get(runner)?.stream.destroy();
    const made = createMessageStream((message) =>
      connection?.publish(subjects.down(runner, number), message),
    );
    made.stream.on('error', () => made.stream.destroy());
    opened.set(runner, { ...made, number });
    const wanted = waiting.get(runner);
    waiting.delete(runner);
    if (wanted !== undefined) wanted(made.stream);
    else arrived.set(runner, { stream: made.stream, at: performance.now() });
    deps.onOpen(runner);
  }

  /** Machines notice at once that this engine is another one. */
  function greetAll(): void {
    for (const { id } of deps.listUsers().runners) connection?.publish(subjects.reset(id), new Uint8Array());
  }

  function listen(broker: Broker): void {
    broker.subscribe(subjects.open('*'), (message, subject) => {
      const number = Buffer.from(message).toString('latin1');
      const runner = subject.split('.')[2] ?? '';
      if (NUMBER.test(number)) take(runner, number);
    });
    broker.subscribe(subjects.up('*', '*'), (message, subject) => {
      const [, , runner = '', , number] = subject.split('.');
      const open = opened.get(runner);
      if (open !== undefined && open.number === number) open.receive(message);
    });
    broker.serve(subjects.join('*'), answerJoin);
  }

  async function answerJoin(message: Uint8Array, subject: string): Promise<Uint8Array> {
    const id = subject.split('.')[3] ?? '';
    const secret = deps.findSecret(id);
    // Nothing can be proved to a machine whose invitation is unknown.
    if (secret === null) throw new SvcError('join_invalid', 'the invitation is not of this fleet');
    try {
      const request = openMessage(secret, 'request', message, joinRequest);
      const { id: runner, name } = await deps.admit(id, request);
      return sealMessage(secret, 'answer', { runner, name } satisfies ReturnType<typeof joinAnswer.parse>);
    } catch (error) {
      log.warn({ invite: id, error: asSvcError(error).message }, 'a machine could not join');
      return sealMessage(secret, 'answer', { refused: asSvcError(error).message });
    }
  }

  async function open(): Promise<void> {
    setting ??= readBrokerSetting(data);
    if (setting === null) return;
    writeBrokerUsers(data, fleet, setting, deps.listUsers());
    await process.start();
    if (connection !== null) return;
    connection = await connectToBroker(
      { ...describeHere(setting), inbox: subjects.inbox, login: { nkeySeed: setting.nkeySeed } },
      (isUp) => {
        problem = isUp ? null : 'the broker does not answer';
        // Messages that were on their way are lost.
        if (!isUp) for (const { stream } of opened.values()) stream.destroy();
      },
    );
    listen(connection);
    greetAll();
    problem = null;
  }

  let opening: Promise<void> | null = null;
  const start = (): Promise<void> => {
    opening ??= open()
      .catch((error: unknown) => {
        problem = asSvcError(error).message;
        throw error;
      })
      .finally(() => {
        opening = null;
      });
    return opening;
  };
  // Its address may become free, and its program be installed.
  const timer = setInterval(() => {
    if (setting !== null && connection === null && opening === null) start().catch(() => undefined);
  }, AGAIN_MS);
  timer.unref();

  let reloading: NodeJS.Timeout | null = null;
  let hasMore = false;
  /** Changes right after it are read together a moment later. */
  function reloadNow(): void {
    hasMore = false;
    if (setting === null) return;
    writeBrokerUsers(data, fleet, setting, deps.listUsers());
    process.reload();
    reloading = setTimeout(() => {
      reloading = null;
      if (hasMore) reloadNow();
    }, RELOAD_MS).unref();
  }

  return {
    async init({ listen: where, hosts }) {
      setting ??= readBrokerSetting(data);
      if (setting === null) {
        const [authority, board] = await Promise.all([
          createIdentity(`svc fleet ${fleet.slice(0, 8)}`),
          createIdentity('board'),
        ]);
        setting = { listen: where, hosts: [...hosts], authority, board, ...createBrokerKey() };
      } else {
        setting = { ...setting, listen: where, hosts: [...hosts] };
        await connection?.close();
        connection = null;
        await process.stop();
      }
      writeBrokerSetting(data, setting);
      await start();
    },
    start,
    describe() {
      if (setting === null) return null;
      const { listen: where, hosts, authority, board } = setting;
      const { port } = parseAddress(where);
      const servers = hosts.map((host) => `tls://${formatAddress({ host, port })}`);
      return { servers, authority: authority.certificate, board: board.certificate };
    },
    findProblem: () => problem,
    reload() {
      if (reloading !== null) hasMore = true;
      else reloadNow();
    },
    async confirm({ id, password }) {
      if (setting === null) return;
      const access = { inbox: subjects.joined(id), login: { user: id, password } };
      for (let left = CONFIRM_TRIES; ; left -= 1) {
        try {
          const invited = await connectToBroker({ ...describeHere(setting), ...access }, () => undefined);
          return await invited.close();
        } catch (error) {
          if (left === 0) throw error;
          await delay(CONFIRM_MS);
        }
      }
    },
    async accept({ id, certificate }, signal) {
      const ready = arrived.get(id);
      arrived.delete(id);
      const isFresh =
        ready !== undefined && !ready.stream.destroyed && performance.now() - ready.at < WAIT_MS;
      const stream = isFresh ? ready.stream : await waitFor(id, signal);
      if (setting === null) throw new SvcError('broker_unreachable', 'this fleet has no broker');
      const { key, certificate: own } = setting.board;
      return secureAsServer(stream, { key, certificate: own, peer: certificate });
    },
    async close() {
      clearInterval(timer);
      if (reloading !== null) clearTimeout(reloading);
      await opening?.catch(() => undefined);
      for (const { stream } of opened.values()) stream.destroy();
      await connection?.close();
      await process.stop();
    },
  };

  function waitFor(runner: string, signal: AbortSignal): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        waiting.delete(runner);
        const why = problem ?? 'it has not connected to the broker';
        reject(new SvcError('runner_unreachable', why));
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.set(runner, (stream) => {
        signal.removeEventListener('abort', onAbort);
        resolve(stream);
      });
    });
  }
}
