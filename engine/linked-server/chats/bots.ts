import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { z } from 'zod';
import type { Clock } from '../../core/base/clock.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { createKeyedQueue } from '../../core/base/serial-queue.ts';
import { readProxies } from '../../core/http/proxies.ts';
import type { ChangeLog } from '../change-log.ts';
import { CHAT_KINDS, type ChatKind, type Tables } from '../database/tables.ts';
import type { SecretSealer } from '../sealing.ts';
import { TELEGRAM_API } from './api-addresses.ts';
import { BOT_INPUTS, type BotSettings, identifyBot } from './bot-settings.ts';
import { createChatMemory } from './memory.ts';
import type { ChatAnswer, ChatHandlers, ChatRequest, ChatService, ChatStatus } from './service.ts';

/** The encryption context of a bot's settings. */
export const placeOfBot = (kind: ChatKind): string => `bots.settings.${kind}`;

export const KIND_NAMES: Readonly<Record<ChatKind, string>> = { slack: 'Slack', telegram: 'Telegram' };

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

/** Addresses of the services, and how they reach this server. */
export interface ChatReach {
  /** Null if no server is running: a bot is withdrawn at its last known API. */
  telegramApi: string | null;
  slackApi: string;
  origin: string;
  /** The source of proxy variables. */
  env: NodeJS.ProcessEnv;
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
}: {
  db: Kysely<Tables>;
  clock: Clock;
  log: Log;
  changes: ChangeLog;
  sealer: SecretSealer;
  reach: ChatReach;
  makeHandlers(kind: ChatKind): ChatHandlers;
  /** Called after a bot was started or removed. */
  onChanged(): void;
}): ChatBots {
  const running = new Map<ChatKind, ChatService>();
  const broken = new Map<ChatKind, ChatStatus>();
  // Two concurrent operators would start two bots of one service.
  const inTurn = createKeyedQueue();
  let isStarted = false;

  async function makeService(kind: ChatKind, sealed: string): Promise<ChatService> {
    const settings: unknown = JSON.parse(sealer.unseal(sealed, placeOfBot(kind)));
    const common = {
      handlers: makeHandlers(kind),
      memory: createChatMemory({ db, clock, kind }),
      clock,
      log,
      proxies: readProxies(reach.env),
    };
    // Loaded late: a server without bots does not load their dependencies.
    if (kind === 'slack') {
      const { createSlack } = await import('./slack/index.ts');
      return createSlack(settings as BotSettings['slack'], { ...common, api: reach.slackApi });
    }
    const { createTelegram } = await import('./telegram/index.ts');
    const telegram = settings as BotSettings['telegram'];
    return createTelegram(telegram, {
      ...common,
      api: reach.telegramApi ?? telegram.webhook?.api ?? TELEGRAM_API,
      origin: reach.origin,
    });
  }

  const sealBot = (kind: ChatKind, settings: BotSettings[ChatKind]): string =>
    sealer.seal(JSON.stringify(settings), placeOfBot(kind));

  /** Records which API knows the webhook, so that a command can remove it there when no server is running. */
  async function noteApi(): Promise<void> {
    const settings = await readSettings('telegram');
    const api = reach.telegramApi;
    if (api === null || !settings?.webhook || settings.webhook.api === api) return;
    const noted = { ...settings, webhook: { ...settings.webhook, api } };
    await db
      .updateTable('bots')
      .set({ settings: sealBot('telegram', noted) })
      .where('kind', '=', 'telegram')
      .execute();
  }

  async function startBot(kind: ChatKind): Promise<void> {
    // A bot that was set up while the others were being started.
    if (running.has(kind)) return;
    const row = await db.selectFrom('bots').select('settings').where('kind', '=', kind).executeTakeFirst();
    if (row === undefined) return;
    try {
      const service = await makeService(kind, row.settings);
      if (!isStarted) return;
      if (kind === 'telegram') await noteApi();
      running.set(kind, service);
      service.start();
    } catch (thrown) {
      // A bot that cannot be started must not stop the others or the pages.
      const problem = asSvcError(thrown).message;
      broken.set(kind, { state: 'failing', since: clock.now(), problem, botName: null });
      log.error({ bot: kind, error: problem }, 'a bot was not started');
    }
  }

  async function stopBot(kind: ChatKind): Promise<void> {
    const service = running.get(kind);
    running.delete(kind);
    broken.delete(kind);
    await service?.close();
  }

  /** Makes a service forget its bot; returns what it may still do if it could not be reached. */
  async function withdrawBot(kind: ChatKind): Promise<string | null> {
    const row = await db.selectFrom('bots').select('settings').where('kind', '=', kind).executeTakeFirst();
    if (row === undefined) return null;
    const service = running.get(kind);
    running.delete(kind);
    broken.delete(kind);
    try {
      await (service ?? (await makeService(kind, row.settings))).remove();
      return null;
    } catch (thrown) {
      const { message } = asSvcError(thrown);
      log.warn({ bot: kind, problem: message }, 'a service was not notified that its bot was removed');
      return `${KIND_NAMES[kind]} may still send updates for it to this server, which no longer answers them: ${message}`;
    }
  }

  async function readSettings<K extends ChatKind>(kind: K): Promise<BotSettings[K] | null> {
    const row = await db.selectFrom('bots').select('settings').where('kind', '=', kind).executeTakeFirst();
    if (row === undefined) return null;
    return JSON.parse(sealer.unseal(row.settings, placeOfBot(kind))) as BotSettings[K];
  }

  /** Removes a bot's connected users and channels. */
  async function forgetBot(change: Transaction<Tables>, kind: ChatKind): Promise<void> {
    for (const table of ['chat_memory', 'chat_users', 'chat_codes', 'chat_channels'] as const)
      await change.deleteFrom(table).where('kind', '=', kind).execute();
  }

  function readInput(kind: ChatKind, input: unknown): { settings: BotSettings[ChatKind]; identity: string } {
    const read = BOT_INPUTS[kind].safeParse(input);
    if (!read.success)
      throw new SvcError('fields_invalid', read.error.issues.map(({ message }) => message).join('; '));
    if (kind === 'telegram') {
      const { token, webhook } = read.data as z.output<(typeof BOT_INPUTS)['telegram']>;
      if (webhook && !reach.origin.startsWith('https:'))
        throw new SvcError('usage', 'Telegram only sends updates to an https address', {
          hint: 'start the server with --public-url https://…, or let it poll for updates',
        });
      const settings = {
        token,
        webhook: webhook
          ? { path: randomBytes(24).toString('base64url'), secret: randomBytes(32).toString('base64url') }
          : null,
      };
      return { settings, identity: identifyBot.telegram(settings) };
    }
    const given = read.data as z.output<(typeof BOT_INPUTS)['slack']>;
    const settings = {
      botToken: given.bot_token,
      appToken: given.app_token,
      signingSecret: given.signing_secret,
      teamId: given.team_id,
      appId: given.app_id,
    };
    return { settings, identity: identifyBot.slack(settings) };
  }

  const identityOf = async (kind: ChatKind): Promise<string | null> => {
    const before = await readSettings(kind).catch(() => null);
    if (before === null) return null;
    return kind === 'telegram'
      ? identifyBot.telegram(before as BotSettings['telegram'])
      : identifyBot.slack(before as BotSettings['slack']);
  };

  return {
    async list() {
      const rows = await db.selectFrom('bots').selectAll().orderBy('kind').execute();
      return rows.map(({ kind, set_by, set_at }) => ({
        kind,
        setBy: set_by,
        setAt: set_at,
        status: running.get(kind)?.status() ??
          broken.get(kind) ?? { state: 'closed', since: set_at, problem: null, botName: null },
      }));
    },
    set(kind, input, actor) {
      return inTurn(kind, async () => {
        const { settings, identity } = readInput(kind, input);
        const isSameBot = (await identityOf(kind)) === identity;
        if (isSameBot) await stopBot(kind);
        else await withdrawBot(kind);
        const row = {
          settings: sealBot(kind, settings),
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
        if (isStarted) await startBot(kind);
        onChanged();
      });
    },
    remove(kind, actor) {
      return inTurn(kind, async () => {
        const left = await withdrawBot(kind);
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
    find: (kind) => running.get(kind) ?? null,
    async receive(kind, request) {
      const known = CHAT_KINDS.find((each) => each === kind);
      const service = known === undefined ? undefined : running.get(known);
      return service === undefined ? { status: 404 } : service.receive(request);
    },
    async start() {
      isStarted = true;
      for (const kind of CHAT_KINDS) await inTurn(kind, () => startBot(kind));
      onChanged();
    },
    async close() {
      isStarted = false;
      await Promise.all(CHAT_KINDS.map((kind) => inTurn(kind, () => stopBot(kind))));
    },
  };
}
