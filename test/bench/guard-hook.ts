import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, globSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { until } from '../support/wait.ts';
import { requireLocalPath } from '../support/workspaces/local-path.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { type Figure, figure, median, percentile } from './figure.ts';
import { openJscpd } from './jscpd-peer.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const FILES = 5000;
const ROUNDS = 60;
const MOST_BYTES = 100_000;

/** Returns real sources of this project and its packages, with the twins that the packages contain. */
function fillProject(root: string): string[] {
  const names = ['{engine,cli,tui}/**/*.ts', 'node_modules/**/*.{ts,js,mjs}'].flatMap((pattern) =>
    globSync(pattern, { cwd: PROJECT }).sort(),
  );
  const kept: string[] = [];
  for (const name of names) {
    if (kept.length === FILES) break;
    const from = join(PROJECT, name);
    const stat = statSync(from);
    if (/\.d\.[cm]?ts$|\.min\./.test(name) || !stat.isFile() || stat.size > MOST_BYTES) continue;
    const path = join('lib', name.replaceAll('node_modules', 'packages').replaceAll('/vendor/', '/other/'));
    mkdirSync(dirname(join(root, path)), { recursive: true });
    copyFileSync(from, join(root, path));
    kept.push(path);
  }
  return kept;
}

/** Wall time of a whole process in ms, with its output. */
async function runProgram(
  args: readonly string[],
  input: string,
  place: { cwd: string; env: NodeJS.ProcessEnv },
) {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { ...place, stdio: ['pipe', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString();
  });
  child.stdin.end(input);
  await once(child, 'close');
  return { ms: performance.now() - begin, text };
}

/** Asks jscpd about the same writes in the same files. */
async function measurePeer(folder: string, writes: readonly string[]): Promise<Figure[]> {
  const peer = await openJscpd(folder);
  if (peer === null) return [];
  try {
    // jscpd reads the files on its first question.
    await peer.count(writes[0] as string, 'ts');
    const times: number[] = [];
    let told = 0;
    for (const text of writes) {
      const begin = performance.now();
      if ((await peer.count(text, 'ts')) > 0) told += 1;
      times.push(performance.now() - begin);
    }
    return [
      figure('guard: check by jscpd --mcp, p50', median(times), 'ms'),
      figure('guard: check by jscpd --mcp, p95', percentile(times, 0.95), 'ms'),
      figure(`guard: writes of ${writes.length} that jscpd --mcp told`, told, 'writes'),
    ];
  } finally {
    await peer.close();
  }
}

/** Measures a run's first write in a worktree of all these files: how long it waits, and the answer. */
async function measureFirstWrite(
  ws: TestWorkspace,
  client: Awaited<ReturnType<TestWorkspace['connect']>>,
  text: string,
): Promise<Figure[]> {
  ws.repository.git('add', 'lib');
  ws.repository.git('commit', '-qm', 'all files');
  const { task_id: id } = await client.call('task.add', {
    title: 'work',
    body: '#agent: hang',
    agent: 'scripted',
  });
  const { session } = await client.call('task.run', { id });
  const cwd = await until(async () => {
    const [at] = await client.call('session.list', { ids: [session.session_id] });
    return at?.state === 'running' && at.worktree;
  });
  const begun = performance.now();
  const db = new Database(join(ws.root, '.svc', 'guard.db'), { readonly: true });
  const read = db
    .prepare('SELECT count(*) FROM file JOIN root ON root.id = root WHERE root.path = ?')
    .pluck();
  const total = db.prepare('SELECT count(*) FROM file').pluck().get() as number;
  await until(() => (read.get(realpathSync(requireLocalPath(cwd))) as number) * 2 >= total);
  const readAhead = performance.now() - begun;
  db.close();
  const path = join(requireLocalPath(cwd), 'lib', 'new.ts');
  const asked = performance.now();
  const { context } = await client.call('hook.look', {
    event: 'pre-write',
    agent: 'claude',
    cwd: requireLocalPath(cwd),
    paths: [path],
    tool: 'Write',
    writes: [{ path, text }],
  });
  const first = performance.now() - asked;
  await client.call('task.cancel', { id });
  return [
    figure('guard: worktree read after its run began', readAhead, 'ms'),
    figure('guard: first write of a run', first, 'ms'),
    figure('guard: first write of a run is told', Number(/repeats/.test(context.join())), 'writes'),
  ];
}

/** Measures how long an agent waits at a write in a project of 5,000 files. */
export async function guardHook(): Promise<Figure[]> {
  const ws = await makeWorkspace();
  try {
    const kept = fillProject(ws.root);
    const client = await ws.connect();
    const begin = performance.now();
    await client.call('guard.check', { paths: ['svc.yaml'] });
    const built = performance.now() - begin;
    const writes = kept
      .filter((path) => path.endsWith('.ts') && statSync(join(ws.root, path)).size > 2000)
      .slice(0, ROUNDS)
      .map((path) => readFileSync(join(ws.root, path), 'utf8').replaceAll('value', 'worth'));
    const target = join(ws.root, 'lib', 'new.ts');
    const times = { hook: [] as number[], bare: [] as number[], check: [] as number[] };
    const look = (text: string) =>
      client.call('hook.look', {
        event: 'pre-write',
        agent: 'claude',
        cwd: ws.root,
        paths: [target],
        tool: 'Write',
        writes: [{ path: target, text }],
      });
    let told = 0;
    const place = { cwd: ws.root, env: { ...ws.env, SVC_SESSION: 'ada' } };
    await until(async () => {
      const { context } = await look(writes[0] as string);
      return context.length > 0;
    });
    for (const text of writes) {
      const input = JSON.stringify({
        cwd: ws.root,
        tool_name: 'Write',
        tool_input: { file_path: target, content: text },
      });
      const hook = await runProgram([SVC, 'hook', 'pre-write', '--agent', 'claude'], input, place);
      times.hook.push(hook.ms);
      if (hook.text.includes('repeats')) told += 1;
      times.bare.push((await runProgram(['-e', '0'], '', place)).ms);
      const asked = performance.now();
      await look(text);
      times.check.push(performance.now() - asked);
    }
    const bytes = ['', '-wal'].reduce(
      (sum, end) =>
        sum + (statSync(join(ws.root, '.svc', `guard.db${end}`), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
    return [
      figure(`guard: first reading of ${kept.length} files`, built, 'ms'),
      figure('guard: fingerprints on the disk', bytes / 1e6, 'MB'),
      figure(
        'guard: hook with a copy, p50 (reference: node -e 0)',
        median(times.hook),
        'ms',
        median(times.bare),
      ),
      figure(
        'guard: hook with a copy, p95 (reference: node -e 0)',
        percentile(times.hook, 0.95),
        'ms',
        percentile(times.bare, 0.95),
      ),
      figure('guard: check in the engine, p50', median(times.check), 'ms'),
      figure('guard: check in the engine, p95', percentile(times.check, 0.95), 'ms'),
      figure(`guard: writes of ${writes.length} that were told`, told, 'writes'),
      ...(await measureFirstWrite(ws, client, writes[0] as string)),
      ...(await measurePeer(ws.root, writes)),
    ];
  } finally {
    await ws.close();
  }
}
