import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { NO_PROXIES } from '../../../../../engine/core/http/proxies.ts';
import type {
  ButtonPress,
  ChatAnswer,
  ChatHandlers,
  ChatMemory,
  ChatService,
  ChatText,
} from '../../../../../engine/linked-server/chats/service.ts';
import {
  createSlack,
  type SlackDeps,
  type SlackSettings,
} from '../../../../../engine/linked-server/chats/slack/index.ts';
import {
  addChannel,
  type PostedMessage,
  SLACK_APP,
  type Slack,
  startSlack,
} from '../../../../../fixtures/slack/slack.ts';
import { type FakeClock, fakeClock } from '../../../../support/clock.ts';
import { until } from '../../../../support/wait.ts';

/** A bot in a scripted Slack with a channel, `C1`, a direct message, `D1`, and two people, `U1` and `U2`. */
export interface SlackRig {
  slack: Slack;
  service: ChatService;
  clock: FakeClock;
  log: string[];
  presses: ButtonPress[];
  words: ChatText[];
  /** Replaces the handler of people's actions. */
  handlers: ChatHandlers;
  memory: ChatMemory;
  /** The bot's request URL. */
  requestUrl: string;
  /** Posts texts to the channel, each with a button. */
  post(...labels: string[]): Promise<PostedMessage>;
  isOpen(): Promise<unknown>;
  /** Restarts the bot's process; pending work is lost. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Stores in memory what a server stores in its database. */
export function createTestMemory(now: () => number): ChatMemory {
  const values = new Map<string, string>();
  const claims = new Map<string, number>();
  return {
    read: async (key) => values.get(key) ?? null,
    async write(key, value) {
      values.set(key, value);
    },
    async claim(id, until) {
      if ((claims.get(id) ?? 0) > now()) return false;
      claims.set(id, until);
      return true;
    },
  };
}

/** Short times for tests; nothing here is measured. */
const PACE = { firstMs: 5, longestMs: 50, shortestMs: 1, steadyMs: 0, pingMs: 5000, lingerMs: 500 };

export async function startSlackRig({
  settings = {},
  deps = {},
  slack: options = {},
  isStarted = true,
}: {
  settings?: Partial<SlackSettings>;
  deps?: Partial<SlackDeps>;
  slack?: Omit<NonNullable<Parameters<typeof startSlack>[0]>, 'now'>;
  isStarted?: boolean;
} = {}): Promise<SlackRig> {
  const clock = fakeClock();
  const slack = await startSlack({ ...options, now: clock.now });
  addChannel(slack, { id: 'C1', name: 'approvals', members: ['U1', 'U2'] });
  addChannel(slack, { id: 'D1', name: 'directmessage', members: ['U1'] });
  slack.users.set('U1', { name: 'ann', displayName: 'Ann' });
  const { isSocketMode } = slack;
  const log: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
      );
      const path = (request.url ?? '').replace('/chats/slack/', '');
      const answer: ChatAnswer = await rig.service.receive({ path, headers, body: Buffer.concat(chunks) });
      const { body = '' } = answer;
      response.writeHead(answer.status).end(typeof body === 'string' ? body : JSON.stringify(body));
    })();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const requestUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/chats/slack/events`;
  if (!isSocketMode) slack.requestUrl = requestUrl;

  const create = (): ChatService =>
    createSlack(
      {
        botToken: SLACK_APP.botToken,
        appToken: isSocketMode ? SLACK_APP.appToken : null,
        signingSecret: isSocketMode ? null : SLACK_APP.signingSecret,
        teamId: SLACK_APP.teamId,
        appId: SLACK_APP.appId,
        ...settings,
      },
      {
        handlers: {
          onPress: (press) => rig.handlers.onPress(press),
          onWords: (words) => rig.handlers.onWords(words),
        },
        memory: rig.memory,
        clock,
        log: pino({ base: null }, { write: (line: string) => void log.push(line) }),
        api: slack.api,
        proxies: NO_PROXIES,
        ...deps,
        pace: { ...PACE, ...deps.pace },
      },
    );

  const rig: SlackRig = {
    slack,
    clock,
    log,
    presses: [],
    words: [],
    handlers: {
      async onPress(press) {
        rig.presses.push(press);
        return `pressed ${press.ticket}`;
      },
      async onWords(words) {
        rig.words.push(words);
        return `heard ${words.text}`;
      },
    },
    memory: createTestMemory(clock.now),
    requestUrl,
    service: undefined as unknown as ChatService,
    async post(...labels) {
      const buttons = labels.map((label) => ({ label, ticket: `ticket-${label}`, style: 'plain' as const }));
      const ts = await rig.service.send('C1', { lines: [[{ text: 'work', isOutside: false }]], buttons });
      const posted = slack.messages.find((message) => message.ts === ts);
      if (posted === undefined) throw new Error('nothing was posted');
      return posted;
    },
    isOpen: () => until(() => rig.service.status().state === 'open', 'an open service'),
    async restart() {
      await rig.service.close();
      rig.service = create();
      rig.service.start();
      await rig.isOpen();
    },
    async close() {
      await rig.service.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await slack.close();
    },
  };
  rig.service = create();
  if (isStarted) {
    rig.service.start();
    await rig.isOpen();
  }
  return rig;
}
