import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { hostEngine, type Session, type WireValue } from '../../../engine/index.ts';
import { type Script, type SeenRequest, type Step, startModel } from '../../../fixtures/model/model.ts';
import { listMarked } from '../processes/processes.ts';
import { until } from '../wait.ts';
import { type EngineHere, engineHere } from '../workspaces/engine.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../workspaces/workspace.ts';
import { AGENTS_BIN } from './agents.ts';
import { createMcpRecorder } from './mcp-record.ts';

export interface DeskWish {
  /** The preset under test. */
  agent: string;
  /** More commands for it, by name; they use the gateway too. The parameter is the desk's folder. */
  commands?(folder: string): Record<string, string>;
  /** More settings, by dotted key. */
  flags?: Record<string, unknown>;
  /** Files in the person's home. */
  home?: Record<string, string>;
  env?: Record<string, string>;
  /**
   * Settings that make the engine open the real gateway in front of the model. Without it, the model stands in for
   * both.
   */
  gateway?(modelUrl: string): Record<string, unknown>;
  /** Keeps what the workers' programs say over `svc mcp`, for `revisionsOf`. */
  isRecorded?: boolean;
}

export interface RunWish {
  /** The command; by default the preset's own. */
  agent?: string;
  timeoutSec?: number;
  /** Called with the new session before its agent starts. */
  begun?: (session: WireValue<Session>) => Promise<unknown>;
  /** The model's steps in a resumed run. `when` identifies it instead of the prompt and takes precedence. */
  again?: { when: string; steps: Step[] };
}

/** One dispatch. */
export interface DeskRun {
  id: string;
  session(): Promise<WireValue<Session>>;
  /** Waits until it ends or pauses. */
  settled(): Promise<WireValue<Session>>;
  ended(): Promise<WireValue<Session>>;
  /** All requests with its key that reached the model. */
  requests(): SeenRequest[];
  log(): string;
  cancel(): Promise<void>;
  /** Processes that carry its mark. */
  marked(): { pid: number; command: string }[];
}

/** An engine with a workspace whose workers are one real agent program; a fake model serves as the gateway. */
export interface Desk {
  ws: TestWorkspace;
  here: EngineHere;
  /**
   * Adds and runs a task.
   * @param prompt must be unique within this desk
   * @param script the model's steps, given the worktree
   */
  run(prompt: string, script: (worktree: string) => Step[], wish?: RunWish): Promise<DeskRun>;
  /** Acts as a provider that rate-limits the session from now on. */
  limit(run: { id: string }, until: number): void;
  /** URL of the model. */
  url: string;
  /** Sets the model's steps for a prompt from elsewhere; returns the key for it. */
  play(prompt: string, steps: Step[]): string;
  /** All requests that reached the model. */
  requests(): readonly SeenRequest[];
  failures: string[];
  /** Returns the revisions of MCP that the program of a session speaks, on a recorded desk. */
  revisionsOf(run: { id: string }): string[];
  close(): Promise<void>;
}

/** The key of callers that are not runs of the engine. */
const KEY_BESIDE = 'svc-vkey-beside';
/** The provider's key, which only the gateway knows. */
export const PROVIDER_KEY = 'sk-provider-7d1e5a90b3c2';

const GIT = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Worker'],
    [`GIT_${who}_EMAIL`, 'worker@example.test'],
  ]),
);

export async function openDesk({
  agent,
  commands = () => ({}),
  flags = {},
  home = {},
  env,
  gateway,
  isRecorded = false,
}: DeskWish): Promise<Desk> {
  const scripts: Script[] = [];
  const limits = new Map<string, number>();
  let db: Database.Database | undefined;
  const sessionOf = (key: string): string | null => {
    const row = db
      ?.prepare<unknown[], { session_id: number }>(
        'SELECT session_id FROM virtual_key WHERE hash = ? AND revoked_at IS NULL',
      )
      .get(createHash('sha256').update(key).digest());
    return row === undefined ? null : `s-${row.session_id}`;
  };
  /** Session of each key. Keys without an active run are refused. */
  const keys = new Map<string, string>();
  const model = await startModel({
    script: scripts,
    authorize(key) {
      if (gateway !== undefined) return key === PROVIDER_KEY;
      if (key === KEY_BESIDE) return true;
      const id = sessionOf(key);
      if (id === null) return false;
      keys.set(key, id);
      const limit = limits.get(id);
      if (limit !== undefined)
        db?.prepare('UPDATE virtual_key SET limited_until = ? WHERE session_id = ?').run(limit, id.slice(2));
      return true;
    },
  });
  const ws = await makeWorkspace({ env: { ...GIT, ...env } });
  const more = commands(ws.repository.folder);
  const person = join(ws.repository.folder, 'person');
  mkdirSync(person);
  for (const [path, text] of Object.entries(home)) {
    mkdirSync(dirname(join(person, path)), { recursive: true });
    writeFileSync(join(person, path), text);
  }
  ws.env.HOME = person;
  ws.env.PATH = `${AGENTS_BIN}${delimiter}${ws.env.PATH}`;
  const recorder = createMcpRecorder(join(ws.repository.folder, 'mcp'));
  const here = await engineHere(ws, {
    svc: isRecorded ? [recorder.program] : [process.execPath, SVC],
    workerCap: 32,
    graceMs: 3000,
    flags: {
      'gateway.addr': gateway === undefined ? new URL(model.url).host : '127.0.0.1:0',
      'agents.auth': Object.fromEntries([agent, ...Object.keys(more)].map((name) => [name, 'gateway'])),
      'agents.cmds': more,
      ...flags,
      ...gateway?.(model.url),
    },
  });
  const host = await hostEngine(here.engine);
  db = new Database(join(ws.root, '.svc', 'svc.db'));

  const session = (id: string) => here.call('session.show', { session: id });
  return {
    ws,
    here,
    url: model.url,
    play(prompt, steps) {
      scripts.push({ when: prompt, steps });
      return KEY_BESIDE;
    },
    requests: () => model.requests,
    failures: model.failures,
    revisionsOf: ({ id }) => recorder.readRevisions(id),
    limit: ({ id }, until) => void limits.set(id, until),
    async run(prompt, script, wish = {}) {
      const { task_id } = await here.call('task.add', {
        body: prompt,
        agent: wish.agent ?? agent,
        ...(wish.timeoutSec === undefined ? {} : { timeout_sec: wish.timeoutSec }),
      });
      const ran = await here.call('task.run', { id: task_id });
      const { session_id: id } = ran.session;
      const limitMs = (wish.timeoutSec ?? 120) * 1000;
      // Nothing else has run since the answer.
      scripts.push({
        when: prompt.split('\n', 1)[0]!,
        steps: script(join(ws.root, '.svc/agents/worktrees', id)),
      });
      if (wish.again !== undefined) scripts.unshift(wish.again);
      await wish.begun?.(ran.session);
      const waited = async (isOver: (shown: WireValue<Session>) => boolean): Promise<WireValue<Session>> => {
        // Agents that retry forever are stopped by their time limit.
        await until(async () => isOver(await session(id)), `the end of ${id}`, limitMs + 60_000);
        return session(id);
      };
      const log = (): string => readFileSync(join(ws.root, '.svc', 'agents', id, 'log'), 'utf8');
      return {
        id,
        session: () => session(id),
        settled: () =>
          waited(({ state, resume_at }) => state === 'ended' || (state === 'queued' && resume_at !== null)),
        ended: () => waited(({ state }) => state === 'ended'),
        requests: () => model.requests.filter(({ key }) => keys.get(key ?? '') === id),
        log,
        cancel: async () => void (await here.call('task.cancel', { id: task_id })),
        marked: () => listMarked(`SVC_SESSION=${id}`, `SVC_CONFIG=${join(ws.root, 'svc.yaml')}`),
      };
    },
    async close() {
      db?.close();
      if (gateway !== undefined) await here.call('gateway.stop').catch(() => undefined);
      await here.call('engine.stop', { stop_workers: true }).catch(() => undefined);
      await host.close();
      await model.close();
      await ws.close();
    },
  };
}

/** Finds the text in a request: agents add their own words, in the same text or in another. */
export function assertArrived(requests: readonly SeenRequest[], text: string): void {
  const quoted = JSON.stringify(text).slice(1, -1);
  const has = requests.some(({ body }) => JSON.stringify(body ?? null).includes(quoted));
  assert.ok(has, `not unchanged in ${requests.length} requests: ${text.slice(0, 200)}`);
}
