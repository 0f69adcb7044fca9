import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import { createKeyedQueue } from '../../core/base/serial-queue.ts';
import type { ChangeLog } from '../change-log.ts';
import { CHAT_KINDS, type ChatKind, type Tables } from '../database/tables.ts';
import type { SecretSealer } from '../sealing.ts';
import { readBotInput } from './bot-input.ts';
import { createBotStore } from './bot-store.ts';
import { KIND_NAMES } from './kind-names.ts';
import { type ChatReach, createRunningBots } from './running-bots.ts';
import type { ChatAnswer, ChatHandlers, ChatRequest, ChatService, ChatStatus } from './service.ts';

/** A bot as its operator sees it. */
export interface ListedBot {
  kind: ChatKind;
  setBy: string;
  setAt: number;
  status: ChatStatus;
}

export interface RemovedBot {
  /** A sentence about what its service may still do; null if it does nothing. */
  left: string | null;
}

/** The bots of this server, one of each service, set by its operator. */
export interface ChatBots {
  list(): Promise<ListedBot[]>;
  /**
   * Sets up the bot of a service, replacing an earlier one. A different bot knows none of its users and channels, so
   * they are removed. Throws `fields_invalid`, which repeats no value, and `usage`.
   */
  set(kind: ChatKind, input: unknown, actor: string): Promise<void>;
  /** Removes a bot with everything connected to it, even if its service cannot be notified; null if there is none. */
  remove(kind: ChatKind, actor: string): Promise<RemovedBot | null>;
  /** The bot of a service; null if none is set up, or it is not running. */
  find(kind: ChatKind): ChatService | null;
  /** Answers requests of a service to this server. */
  receive(kind: string, request: ChatRequest): Promise<ChatAnswer>;
  /** Starts all bots that are set up. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface BotsDeps {
  db: Kysely<Tables>;
  clock: Clock;
  log: Log;
  changes: ChangeLog;
  sealer: SecretSealer;
  reach: ChatReach;
  makeHandlers(kind: ChatKind): ChatHandlers;
  /** Called after a bot was started or removed. */
  onChanged(): void;
}

export function createBots({
  db,
  clock,
  log,
  changes,
  sealer,
  reach,
  makeHandlers,
  onChanged,
}: BotsDeps): ChatBots {
  const store = createBotStore({ db, sealer });
  const running = createRunningBots({ db, clock, log, reach, makeHandlers, store });
  // Two concurrent operators would start two bots of one service.
  const inTurn = createKeyedQueue();

  return {
    async list() {
      const rows = await db.selectFrom('bots').selectAll().orderBy('kind').execute();
      return rows.map(({ kind, set_by, set_at }) => ({
        kind,
        setBy: set_by,
        setAt: set_at,
        status: running.statusOf(kind) ?? { state: 'closed', since: set_at, problem: null, botName: null },
      }));
    },
    set(kind, input, actor) {
      return inTurn(kind, async () => {
        const { settings, identity } = readBotInput(kind, input, reach.origin);
        const isSameBot = (await store.identityOf(kind)) === identity;
        if (isSameBot) await running.stop(kind);
        else await running.withdraw(kind);
        const row = {
          settings: store.seal(kind, settings),
          set_by: actor,
          set_at: clock.now(),
        };
        const entry = { account: null, actor, what: 'bot set up', detail: KIND_NAMES[kind] };
        await changes.make(entry, async (change) => {
          if (!isSameBot) await forgetBot(change, kind);
          await change
            .insertInto('bots')
            .values({ kind, ...row })
            .onConflict((same) => same.column('kind').doUpdateSet(row))
            .execute();
        });
        if (running.isStarted()) await running.start(kind);
        onChanged();
      });
    },
    remove(kind, actor) {
      return inTurn(kind, async () => {
        const left = await running.withdraw(kind);
        const wasThere = await db.transaction().execute(async (change) => {
          const { numDeletedRows } = await change
            .deleteFrom('bots')
            .where('kind', '=', kind)
            .executeTakeFirst();
          if (Number(numDeletedRows) === 0) return false;
          await forgetBot(change, kind);
          const detail = KIND_NAMES[kind];
          await changes.record(change, { account: null, actor, what: 'bot removed', detail });
          return true;
        });
        if (!wasThere) return null;
        onChanged();
        return { left };
      });
    },
    find: running.find,
    async receive(kind, request) {
      const known = CHAT_KINDS.find((each) => each === kind);
      const service = known === undefined ? null : running.find(known);
      return service === null ? { status: 404 } : service.receive(request);
    },
    async start() {
      running.setStarted(true);
      for (const kind of CHAT_KINDS) await inTurn(kind, () => running.start(kind));
      onChanged();
    },
    async close() {
      running.setStarted(false);
      await Promise.all(CHAT_KINDS.map((kind) => inTurn(kind, () => running.stop(kind))));
    },
  };
}

/** Removes a bot's connected users and channels. */
async function forgetBot(change: Transaction<Tables>, kind: ChatKind): Promise<void> {
  for (const table of ['chat_memory', 'chat_users', 'chat_codes', 'chat_channels'] as const)
    await change.deleteFrom(table).where('kind', '=', kind).execute();
}
