import { rfc3339 } from '../../../../engine/core/base/clock.ts';
import type {
  CommandOutcome,
  LinkCommand,
  LinkEvent,
  PendingDecision,
} from '../../../../engine/core/link-protocol/messages.ts';
import {
  type ShownMessage,
  startTelegram,
  type TelegramFixture,
  type TelegramUser,
} from '../../../../fixtures/telegram/telegram.ts';
import {
  type Browser,
  logMachineIn,
  openBrowser,
  setUpServer,
  type startTestServer,
  type TestServer,
} from '../../../support/server/linked-server.ts';
import { until } from '../../../support/wait.ts';
import { makePendingDecision } from '../../../support/workspaces/pending-decision.ts';

export const ANN: TelegramUser = { id: 4201, first_name: 'Ann', username: 'ann_t' };
export const STRANGER: TelegramUser = { id: 6666, first_name: 'Mallory' };

/** A simulated workspace that reports, polls and answers by the protocol. */
export interface ToldWorkspace {
  id: string;
  name: string;
  tell(events: (Partial<LinkEvent> & Pick<LinkEvent, 'event'>)[]): Promise<void>;
  /** Reports the pending decisions, and how many more there are. */
  waits(decisions: Partial<PendingDecision>[], channels?: string[], more?: number): Promise<void>;
  /** Unanswered commands. */
  commands(): Promise<LinkCommand[]>;
  answer(command: LinkCommand, outcome: Partial<CommandOutcome>): Promise<void>;
}

/** A server with a Telegram bot, a connected person, and a workspace. */
export interface ChatRig {
  server: TestServer;
  telegram: TelegramFixture;
  ann: Browser;
  workspace: ToldWorkspace;
  /** Id of Ann's private chat. */
  messages(): ShownMessage[];
  /** Connects a person as people do it; returns the page's last answer. */
  connect(browser: Browser, user: TelegramUser): Promise<string>;
  /** Presses a button; resolves with the notice to the person. */
  press(user: TelegramUser, message: ShownMessage, label: string): Promise<string>;
  /** Sends a private message; resolves with the answer. */
  ask(user: TelegramUser, text: string): Promise<string>;
  /** Waits until nothing is in progress and everything due has been sent. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

let made = 0;

const HASH = 'ab12cd34'.padEnd(64, '0');

/** A decision as a workspace reports it. */
const decisionOf = (given: Partial<PendingDecision>): PendingDecision =>
  makePendingDecision({ hash: HASH, ...given });

export async function tellingWorkspace(
  server: TestServer,
  machine: string,
  name = 'web-shop',
): Promise<ToldWorkspace> {
  const headers = { 'svc-protocol': '1' };
  const caller = openBrowser(server);
  made += 1;
  const linked = await caller.postJson(
    '/v1/workspaces',
    { key: `key-${made}-0000`, name, version: '0.1.0' },
    { ...headers, authorization: `Bearer ${machine}` },
  );
  const { workspace: id, token } = JSON.parse(linked.text) as { workspace: string; token: string };
  const own = { ...headers, authorization: `Bearer ${token}` };
  const check = ({ status, text }: { status: number; text: string }): void => {
    if (status >= 300) throw new Error(`${status} ${text}`);
  };
  return {
    id,
    name,
    async tell(events) {
      const whole = events.map((event) => {
        made += 1;
        return {
          id: `e-${made}`,
          at: rfc3339(server.clock.now()),
          project: null,
          task_id: 't-42',
          decision_id: null,
          session_id: null,
          agent: 'claude',
          status: null,
          title: 'Repair the login form',
          reason: null,
          ...event,
        };
      });
      check(await caller.postJson('/v1/events', { workspace: name, events: whole }, own));
    },
    async waits(decisions, channels = ['page', 'telegram', 'slack'], more = 0) {
      const { request } = await import('undici');
      const body = { workspace: name, channels, decisions: decisions.map(decisionOf), more };
      const answer = await request(`http://127.0.0.1:${server.port}/v1/decisions`, {
        method: 'PUT',
        body: JSON.stringify(body),
        headers: { host: new URL(server.url).host, 'content-type': 'application/json', ...own },
      });
      check({ status: answer.statusCode, text: await answer.body.text() });
    },
    async commands() {
      const answer = await caller.get('/v1/commands?after=0&wait=0&instance=one', own);
      check(answer);
      return (JSON.parse(answer.text) as { commands: LinkCommand[] }).commands.filter(
        ({ verb }) => verb !== 'refresh',
      );
    },
    async answer(command, outcome) {
      const whole = { session_id: null, decided_by: null, state: null, code: null, ...outcome };
      check(await caller.postJson(`/v1/commands/${command.id}`, whole, own));
    },
  };
}

export async function chatRig(
  start: typeof startTestServer,
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<ChatRig> {
  const telegram = await startTelegram();
  const server = await start({ telegramApi: telegram.url, ...options });
  const ann = await setUpServer(server);
  const { plans, people, chats } = server.parts;
  const [home] = await people.listAccounts();
  await plans.assign(home!, 'team', 'a test');
  await ann.post('/operator/bots/telegram', { token: telegram.token });
  const workspace = await tellingWorkspace(server, await logMachineIn(server, ann));
  const rig: ChatRig = {
    server,
    telegram,
    ann,
    workspace,
    messages: () =>
      telegram
        .messagesTo(ANN.id)
        .filter(({ keyboard, text }) => keyboard.length > 0 || /Where:|^\d+ (?:more )?events?$/m.test(text)),
    async connect(browser, user) {
      const page = await browser.post('/app/chats/connect/telegram/code');
      const code = /[A-Z]{4}-[A-Z]{4}/.exec(page.text)![0];
      await rig.ask(user, `/start ${code}`);
      return (await browser.post('/app/chats/connect/telegram', { user: String(user.id), answer: 'yes' }))
        .text;
    },
    async press(user, message, label) {
      const id = telegram.press(user, message, label);
      return until(() => telegram.answers.get(id), 'the answer to a press');
    },
    async ask(user, text) {
      const before = telegram.messagesTo(user.id).length;
      telegram.say(user, text);
      return until(() => telegram.messagesTo(user.id)[before]?.text, `the answer to ${text}`);
    },
    async settle() {
      chats.wake();
      await chats.settled();
    },
    async close() {
      await server.close();
      await telegram.close();
    },
  };
  await rig.connect(ann, ANN);
  await ann.post('/app/chats/channels/telegram/private');
  return rig;
}
