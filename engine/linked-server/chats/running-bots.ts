import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { asSvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { readProxies } from '../../core/http/proxies.ts';
import type { ChatKind, Tables } from '../database/tables.ts';
import { TELEGRAM_API } from './api-addresses.ts';
import type { BotSettings } from './bot-settings.ts';
import type { BotStore } from './bot-store.ts';
import { KIND_NAMES } from './kind-names.ts';
import { createChatMemory } from './memory.ts';
import type { ChatHandlers, ChatService, ChatStatus } from './service.ts';

/** Addresses of the services, and how they reach this server. */
export interface ChatReach {
  /** Null if no server is running: a bot is withdrawn at its last known API. */
  telegramApi: string | null;
  slackApi: string;
  origin: string;
  /** The source of proxy variables. */
  env: NodeJS.ProcessEnv;
}

export interface RunningBotsDeps {
  db: Kysely<Tables>;
  clock: Clock;
  log: Log;
  reach: ChatReach;
  makeHandlers(kind: ChatKind): ChatHandlers;
  store: BotStore;
}

async function makeService(
  { db, clock, log, reach, makeHandlers, store }: RunningBotsDeps,
  kind: ChatKind,
  sealed: string,
): Promise<ChatService> {
  const settings = store.unseal(kind, sealed);
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

/** Starts bots, stops them, and makes their services forget them. */
export function createRunningBots(deps: RunningBotsDeps) {
  const { db, clock, log, reach, store } = deps;
  const running = new Map<ChatKind, ChatService>();
  const broken = new Map<ChatKind, ChatStatus>();
  let isStarted = false;

  async function startBot(kind: ChatKind): Promise<void> {
    // A bot that was set up while the others were being started.
    if (running.has(kind)) return;
    const row = await db.selectFrom('bots').select('settings').where('kind', '=', kind).executeTakeFirst();
    if (row === undefined) return;
    try {
      const service = await makeService(deps, kind, row.settings);
      if (!isStarted) return;
      if (kind === 'telegram') await store.noteApi(reach.telegramApi);
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
      await (service ?? (await makeService(deps, kind, row.settings))).remove();
      return null;
    } catch (thrown) {
      const { message } = asSvcError(thrown);
      log.warn({ bot: kind, problem: message }, 'a service was not notified that its bot was removed');
      return `${KIND_NAMES[kind]} may still send updates for it to this server, which no longer answers them: ${message}`;
    }
  }

  return {
    start: startBot,
    stop: stopBot,
    withdraw: withdrawBot,
    isStarted: () => isStarted,
    setStarted(is: boolean): void {
      isStarted = is;
    },
    find: (kind: ChatKind): ChatService | null => running.get(kind) ?? null,
    /** Returns null for a bot that was not started. */
    statusOf: (kind: ChatKind): ChatStatus | null => running.get(kind)?.status() ?? broken.get(kind) ?? null,
  };
}
