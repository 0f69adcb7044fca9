import { rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { NO_PROXIES } from '../../../engine/core/http/proxies.ts';
import { buildLinkEvent } from '../../../engine/link/outgoing.ts';
import type { PushEntry } from '../../../engine/notify/config.ts';
import type { DesktopNotice } from '../../../engine/notify/desktop.ts';
import {
  createNotify,
  type EventTarget,
  type Notify,
  type NotifyDeps,
} from '../../../engine/notify/index.ts';
import { type FakeClock, fakeClock } from '../../support/clock.ts';
import { until } from '../../support/wait.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { openSpine, type Spine } from '../../support/workspaces/spine.ts';

export interface Caught {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: an envelope, whose fields the tests assert
  json: any;
}

export interface Catcher {
  url: string;
  caught: Caught[];
  /** Waits for this many requests. */
  atLeast(count: number): Promise<Caught[]>;
  close(): Promise<void>;
}

/** A real target; `answer` determines the answer to the n-th request (from 1). */
export async function catcher(
  answer: (count: number, response: ServerResponse) => void = (_count, response) => response.end(),
): Promise<Catcher> {
  const caught: Caught[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      caught.push({ path: req.url ?? '', headers: req.headers, body, json: JSON.parse(body) });
      answer(caught.length, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    caught,
    async atLeast(count) {
      await until(() => caught.length >= count, `${count} requests`);
      return caught;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export interface NotifyRig extends Spine {
  clock: FakeClock;
  notify: Notify;
  targets: EventTarget[];
  push: PushEntry[];
  quiet: string;
  desktop: boolean;
  titles: 'given' | 'all' | 'none';
  hasDesktop: boolean;
  /** Notices on the desktop. */
  shown: DesktopNotice[];
  /** Open questions by their number. */
  questions: Map<number, string>;
  env: Record<string, string | undefined>;
  /** A task that waits for approval: two outbound events. */
  makeTask(title?: string): Promise<void>;
  /** Moves the clock and lets the outbox check it. */
  advance(ms: number): Promise<void>;
  /** Stops as in a crash, and reopens the same database. */
  restart(deps?: Partial<NotifyDeps>): Promise<void>;
  close(): Promise<void>;
}

export function notifyRig(targets: EventTarget[], deps: Partial<NotifyDeps> = {}): NotifyRig {
  const folder = temporaryFolder('svc-notify-');
  const clock = fakeClock();
  const rig = {
    clock,
    targets,
    push: [],
    desktop: false,
    quiet: '',
    titles: 'given',
    hasDesktop: true,
    shown: [],
    questions: new Map(),
    env: { SVC_NOTIFY_SECRET: 'shh' },
  } as unknown as NotifyRig;
  const build = (more: Partial<NotifyDeps>) => {
    Object.assign(rig, openSpine(join(folder, 'svc.db'), clock));
    rig.notify = createNotify({
      storage: rig.storage,
      events: rig.events,
      clock,
      config: () => ({
        notify: { webhooks: rig.targets, push: rig.push, desktop: rig.desktop, quiet: rig.quiet },
        webhook: { secret_env: 'SVC_UNSET, SVC_NOTIFY_SECRET' },
      }),
      tasks: rig.tasks,
      workspaceName: () => 'bench',
      person: {
        findQuestion: (askId) => rig.questions.get(askId) ?? null,
        isPending: (id) => rig.decisions.get(id).state === 'pending',
        desktop: { canShow: () => rig.hasDesktop, show: (notice) => void rig.shown.push(notice) },
      },
      describeOutside(event) {
        const task = event.taskId === null ? null : rig.tasks.get(event.taskId);
        const origin = task === null ? null : rig.tasks.readOrigin(task.taskId);
        const told = buildLinkEvent(event, task, origin, { id: '', titles: rig.titles });
        return { ...told, link: task?.sourceUrl ?? null };
      },
      proxies: () => NO_PROXIES,
      secret: (name) => rig.env[name],
      currentSecret: (name) => rig.env[name],
      random: () => 0.5,
      ...more,
    });
  };
  build(deps);
  rig.makeTask = async (title = 'say hello') => {
    const by = { actor: 'webhook', via: 'task' };
    const task = {
      title,
      body: 'the prompt, which stays here',
      agent: 'scripted',
      project: 'app',
      source: 'task',
    } as const;
    const wanted = { dispatch: true, approved: false, why: 'it has to be looked at', by };
    await rig.storage.write(() => rig.workflow.submit({ ...task, actor: by.actor }, wanted));
  };
  rig.advance = async (ms) => {
    clock.advance(ms);
    await rig.storage.write(() => undefined);
  };
  rig.restart = async (more = {}) => {
    await rig.notify.close();
    rig.storage.close();
    build(more);
  };
  rig.close = async () => {
    await rig.notify.close();
    rig.storage.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return rig;
}
