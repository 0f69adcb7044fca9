import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { ListedSession, OpenOptions, Session, Task, WireValue } from '../../../engine/index.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import {
  AGENT,
  makeWorkspace,
  type TestWorkspace,
  type WorkspaceOptions,
} from '../../support/workspaces/workspace.ts';

/** A workspace with a program called claude that does what its prompt says and prints the given output. */
export interface Rig {
  ws: TestWorkspace;
  here(): EngineHere;
  /** The arguments of each start of the program. */
  starts(): string[][];
  /** Stops the engine; its workers keep running. */
  down(): Promise<void>;
  /** Starts another engine, which takes over. */
  up(): Promise<void>;
  /** Adds and runs a task whose prompt has these directives of the scripted agent. */
  run(directives: readonly string[], wish?: object): Promise<WireValue<Session>>;
  session(id: string): Promise<WireValue<ListedSession>>;
  task(id: string): Promise<WireValue<Task>>;
  /** Waits until the session has ended or paused. */
  settled(id: string): Promise<WireValue<Session>>;
  /** Returns the content of its log. */
  log(id: string): string;
  close(): Promise<void>;
}

export const GRACE_MS = 300;

export async function makeRig(
  options: WorkspaceOptions & Pick<OpenOptions, 'workerCap' | 'clock' | 'flags'> = {},
): Promise<Rig> {
  const { workerCap, clock, flags, ...wanted } = options;
  const ws = await makeWorkspace({
    ...wanted,
    commands: { claude: 'claude -- {{prompt}}', ...wanted.commands },
  });
  const bin = join(ws.repository.folder, 'bin');
  const record = join(ws.repository.folder, 'starts');
  mkdirSync(bin);
  writeFileSync(record, '');
  writeFileSync(
    join(bin, 'claude'),
    `#!/bin/sh
for each; do printf '%s\\0' "$each"; done >>'${record}'; printf '\\n\\0' >>'${record}'
for last; do :; done
case " $* " in *' --resume=lost '*) echo 'No conversation found with session ID: lost'; exit 1 ;; esac
exec '${process.execPath}' '${AGENT}' -- "$last"
`,
    { mode: 0o755 },
  );
  ws.env.PATH = `${bin}:${ws.env.PATH}`;
  const open = () =>
    engineHere(ws, {
      graceMs: GRACE_MS,
      svc: ['svc'],
      ...(workerCap === undefined ? {} : { workerCap }),
      ...(clock === undefined ? {} : { clock }),
      ...(flags === undefined ? {} : { flags }),
    });
  let here = await open();

  const session = (id: string) => here.call('session.show', { session: id });
  return {
    ws,
    here: () => here,
    starts() {
      const words = readFileSync(record, 'utf8').split('\0');
      const starts: string[][] = [[]];
      for (const word of words.slice(0, -1)) {
        if (word === '\n') starts.push([]);
        else starts.at(-1)?.push(word);
      }
      return starts.slice(0, -1);
    },
    down: () => here.close(),
    async up() {
      here = await open();
    },
    async run(directives, wish = {}) {
      const body = ['do it', ...directives.map((each) => `#agent: ${each}`)].join('\n');
      const { env = {}, ...more } = wish as { env?: Record<string, string> };
      const task = await here.call('task.add', { body, agent: 'claude', ...more });
      const ran = await here.call('task.run', { id: task.task_id }, { env });
      return ran.session;
    },
    session,
    task: async (id) => (await here.call('task.show', { id })).task,
    async settled(id) {
      await until(async () => {
        const { state, resume_at } = await session(id);
        return state === 'ended' || (state === 'queued' && resume_at !== null);
      });
      return session(id);
    },
    log: (id) => readFileSync(join(ws.root, '.svc', 'agents', id, 'log'), 'utf8'),
    async close() {
      await here?.end();
      await ws.close();
    },
  };
}

/** A rig whose gateway address is already in use, so the engine does not start a gateway. */
export interface RoutedRig extends Rig {
  url: string;
  /** The server at the address. */
  listener: Server;
  /** Returns the variables that a run printed with `echo-env`. */
  environment(id: string): Record<string, string>;
}

export async function makeRoutedRig(): Promise<RoutedRig> {
  const listener = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const addr = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const rig = await makeRig({
    yaml: `gateway: { addr: "${addr}" }\n`,
    env: { SVC_SKIP_GATEWAY_AUTOSTART: '1' },
  });
  return {
    ...rig,
    url: `http://${addr}`,
    listener,
    environment: (id) =>
      JSON.parse(
        rig
          .log(id)
          .split('\n')
          .find((line) => line.startsWith('{"') && line.includes('SVC_SESSION')) ?? '{}',
      ),
    async close() {
      listener.close();
      await rig.close();
    },
  };
}

/** Returns the usage of a session as its agent claims it. */
export const claimed = (usage: {
  input: number;
  cached: number;
  output: number;
  cost_usd: number | null;
}) => ({
  ...usage,
  unpriced: usage.cost_usd === null ? usage.input + usage.output : 0,
  estimated_tokens: usage.input + usage.output,
  estimated: true,
});

/** Returns the lines with which claude ends a run. */
export const claudeSays = {
  init: (id: string) =>
    `say ${JSON.stringify({ type: 'system', subtype: 'init', session_id: id, model: 'a-model', cwd: '/' })}`,
  result: (more: object = {}) =>
    `say ${JSON.stringify({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'done',
      session_id: 'c-1',
      usage: { input_tokens: 100, cache_read_input_tokens: 40, output_tokens: 7 },
      total_cost_usd: 0.25,
      ...more,
    })}`,
  /** Returns the message of a limit that ends at this time, Unix ms. */
  limit: (until: number) =>
    `say ${JSON.stringify({
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt: until / 1000 },
    })}`,
};
