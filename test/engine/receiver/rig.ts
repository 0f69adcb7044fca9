import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { isLoopback } from '../../../engine/core/base/values/address.ts';
import { SCHEMES, signRequest } from '../../../engine/core/http/signature.ts';
import {
  createReceiver,
  type LookAtPullRequests,
  type Receiver,
  type WebhookConfig,
} from '../../../engine/receiver/index.ts';
import { type FakeClock, fakeClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { openSpine, type Spine } from '../../support/workspaces/spine.ts';

export const SECRET = 'a shared secret of the tests';

export const CONFIG: WebhookConfig = {
  allow: ['task', 'codehost', 'chat'],
  require_approval: true,
  templates: {
    fix: { agent: 'scripted', prompt: 'Fix what is broken.', timeout_sec: 90, project: 'app' },
    codehost: { agent: 'scripted', prompt: 'Resolve the issue.', project: 'app' },
    bare: { agent: 'scripted' },
    plain: { prompt: 'Do as the default does.' },
    gone: { agent: 'vanished', prompt: 'Never runs.' },
  },
};

/** Agent `scripted`, project `app`, no default agent unless given. */
export const lookup = (fallback: string | null = null) => ({
  findCommand(agent: string) {
    if (agent !== 'scripted') throw new SvcError('unknown_agent', `no agent ${agent}`);
    return 'scripted {{prompt}}';
  },
  resolveFolder(project: string) {
    if (project !== 'app') throw new SvcError('unknown_project', `no project ${project}`);
    return '/';
  },
  findDefaultAgent: () => fallback,
});

export interface Rig extends Spine {
  clock: FakeClock;
  receiver: Receiver;
  webhook: WebhookConfig;
  /** Value of `policy.actors`. */
  actors: string[];
  /** The events about pull requests so far; some are watched in octo/workshop. */
  news: Parameters<LookAtPullRequests>[0][];
  path: string;
  /** Handles a request without a port. */
  ask(request: Ask): Promise<Reply>;
  /** Closes the database and reopens the same file. */
  reopen(): void;
  close(): void;
}

export interface Ask {
  method?: string;
  path: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  remote?: string;
}

export interface Reply {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a JSON answer, whose fields the tests assert
  body: any;
}

export function makeRig(
  options: { webhook?: Partial<WebhookConfig>; fallback?: string | null; secrets?: string[] } = {},
): Rig {
  const folder = temporaryFolder('svc-receiver-');
  const path = join(folder, 'svc.db');
  const clock = fakeClock();
  const webhook: WebhookConfig = { ...CONFIG, ...options.webhook };
  const secrets = options.secrets ?? [SECRET];
  const rig = { clock, webhook, path, actors: [] as string[], news: [] as Rig['news'] } as Rig;
  const build = () => {
    Object.assign(rig, openSpine(path, clock));
    rig.receiver = createReceiver({
      storage: rig.storage,
      workflow: rig.workflow,
      tasks: rig.tasks,
      decisions: rig.decisions,
      sessions: rig.sessions,
      clock,
      config: () => ({ webhook: rig.webhook, policy: { actors: rig.actors } }),
      agents: lookup(options.fallback),
      isLoopback,
      workspace: { id: 'a1', name: () => 'bench' },
      lookAtPullRequests(news) {
        rig.news.push(news);
        return news.repository === 'octo/workshop';
      },
    });
    const { receive } = rig.receiver.open(secrets);
    rig.ask = async ({ method = 'POST', path, headers = {}, body = '', remote = '127.0.0.1' }) => {
      const answer = await receive({ method, path, headers, body: Buffer.from(body), remote });
      return {
        status: answer.status,
        headers: answer.headers,
        text: answer.body,
        body: JSON.parse(answer.body),
      };
    };
  };
  build();
  rig.reopen = () => {
    rig.storage.close();
    build();
  };
  rig.close = () => {
    if (rig.storage.db.open) rig.storage.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return rig;
}

const seconds = (ms: number) => String(Math.floor(ms / 1000));

/** Returns headers of the `/task` scheme for `body`. */
export function svcHeaders(body: string | Buffer, now: number, secret = SECRET): Record<string, string> {
  const timestamp = seconds(now);
  return {
    'x-svc-timestamp': timestamp,
    'x-svc-signature': signRequest(SCHEMES.svc, secret, timestamp, body),
  };
}

export const codehostHeaders = (body: string | Buffer, event?: string): Record<string, string> => ({
  'x-hub-signature-256': signRequest(SCHEMES.codehost, SECRET, '', body),
  ...(event === undefined ? {} : { 'x-codehost-event': event }),
});

export function chatHeaders(body: string, now: number, secret = SECRET): Record<string, string> {
  const timestamp = seconds(now);
  return {
    'x-chat-request-timestamp': timestamp,
    'x-chat-signature': signRequest(SCHEMES.chat, secret, timestamp, body),
  };
}

let nonce = 0;

/** A signed, unique `/task` request. */
export function task(
  rig: Pick<Rig, 'clock'>,
  fields: object = {},
  headers: Record<string, string> = {},
): Ask {
  const body = JSON.stringify({ agent: 'scripted', prompt: 'say hello', nonce: ++nonce, ...fields });
  return { path: '/task', body, headers: { ...svcHeaders(body, rig.clock.now()), ...headers } };
}

/** A signed approve or deny. */
export function decide(
  rig: Pick<Rig, 'clock'>,
  id: string,
  verb: 'approve' | 'deny',
  fields: object = {},
): Ask {
  const body = JSON.stringify({ nonce: ++nonce, ...fields });
  return { path: `/decisions/${id}/${verb}`, body, headers: svcHeaders(body, rig.clock.now()) };
}

export const poll = (rig: Pick<Rig, 'clock'>, id: string): Ask => ({
  method: 'GET',
  path: `/decisions/${id}`,
  headers: svcHeaders('', rig.clock.now()),
});

/** A signed slash command. */
export function chat(rig: Pick<Rig, 'clock'>, text: string, fields: Record<string, string> = {}): Ask {
  const body = new URLSearchParams({
    team_id: 'T0001',
    channel_name: 'builds',
    user_id: 'U2147',
    user_name: 'steve',
    command: '/svc',
    text,
    trigger_id: String(++nonce),
    ...fields,
  }).toString();
  return { path: '/chat', body, headers: chatHeaders(body, rig.clock.now()) };
}

/** A signed event of the code host; an undefined `event` omits the header. */
export function codehost(payload: object, event?: string): Ask {
  const body = JSON.stringify(payload);
  return { path: '/codehost', body, headers: codehostHeaders(body, event) };
}
