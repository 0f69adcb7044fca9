import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EngineHost, hostEngine } from '../../../engine/index.ts';
import {
  type Confinement,
  checkConfinement,
  createConfinement,
} from '../../../engine/workers/runner/confine/index.ts';
import { isRunning } from '../processes/processes.ts';
import { until } from '../wait.ts';
import { type EngineHere, engineHere } from '../workspaces/engine.ts';
import { makeWorkspace, SVC, type TestWorkspace, type WorkspaceOptions } from '../workspaces/workspace.ts';

/** Why workers cannot be confined here; null if they can. */
export const impossible = await checkConfinement(process.env).then(
  () => null,
  (error: Error) => error.message,
);
if (impossible !== null) console.error(`NOT TESTED, workers cannot be confined here: ${impossible}`);

export type Ended = ReturnType<EngineHere['engine']['resolveSession']>;

/** A workspace with confined workers; it contains the person's home with files that a worker must not see. */
export async function makeStrict(
  yaml = '',
  options: Pick<WorkspaceOptions, 'commands' | 'user'> = {},
): Promise<TestWorkspace & { home: string }> {
  const ws = await makeWorkspace({ ...options, yaml: `guard: { profile: strict }\n${yaml}` });
  const home = join(ws.repository.folder, 'person');
  mkdirSync(join(home, '.ssh'), { recursive: true });
  writeFileSync(join(home, 'notes.txt'), 'private');
  writeFileSync(join(home, '.ssh', 'id_ed25519'), 'private');
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = A Person\n\temail = person@example.test\n');
  delete ws.env.GIT_CONFIG_GLOBAL;
  Object.assign(ws.env, { HOME: home, SSH_AUTH_SOCK: join(home, 'agent.sock') });
  return Object.assign(ws, { home });
}

/** The sandbox as the engine sets it up there. */
export const confinementOf = (ws: TestWorkspace, { engine }: EngineHere): Confinement =>
  createConfinement({
    env: ws.env,
    root: ws.root,
    configFile: join(ws.root, 'svc.yaml'),
    paths: engine.paths,
    machineHome: ws.env.SVC_HOME ?? '',
    svc: null,
  });

/** The workspace's engine in this process, open to its workers and clients; closing the host closes it. */
export async function openHere(ws: TestWorkspace): Promise<{ here: EngineHere; host: EngineHost }> {
  const here = await engineHere(ws, { svc: [process.execPath, SVC], graceMs: 500 });
  const host = await hostEngine(here.engine);
  const end = async (): Promise<void> => {
    await here.call('engine.stop', { stop_workers: true }).catch(() => undefined);
    await host.close();
  };
  return { here: { ...here, end }, host };
}

/** Resolves with the session of an approved task once it has started. */
export async function started(
  here: EngineHere,
  prompt: string,
  options: object = {},
  wish: { agent?: string; project?: string } = {},
): Promise<string> {
  const { decision_id } = await here.ask(prompt, wish);
  const { session } = await here.call('decision.approve', {
    id: decision_id,
    ...options,
  });
  if (session === null) throw new Error(`${decision_id} started nothing`);
  return session.session_id;
}

export async function ended(here: EngineHere, sessionId: string): Promise<Ended> {
  await until(() => here.engine.sessionEnded(sessionId), `the end of ${sessionId}`);
  return here.engine.resolveSession(sessionId);
}

export const logOf = (ws: TestWorkspace, sessionId: string): string =>
  readFileSync(join(ws.root, '.svc', 'agents', sessionId, 'log'), 'utf8');

/** Returns a shell script that reports for each attempt whether it succeeded. */
export const attempts = (tries: Record<string, string>): string =>
  Object.entries(tries)
    .map(
      ([what, command]) =>
        `if ( ${command} ) >/dev/null 2>&1; then echo "CAN ${what}"; else echo "CANNOT ${what}"; fi`,
    )
    .join('\n');

/** Returns which attempts of a script of `attempts` succeeded, or failed. */
export const said = (log: string, word: 'CAN' | 'CANNOT'): string[] =>
  log.split('\n').flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));

/** Environments of all processes of this machine. */
export const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isRunning(Number(name)))
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    });

/** Tries to start a task as a client of /mcp with the Chair's token. */
export const OVER_HTTP = `
const [url, token, id] = process.argv.slice(2);
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (body, more = {}) => fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
const first = await post({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } } });
const session = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? '' };
console.log('HTTP', first.status);
if (first.ok) console.log('HTTP', await (await post({ id: 2, method: 'tools/call', params: { name: 'task_run', arguments: { id } } }, session)).text());
`;
