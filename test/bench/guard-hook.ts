import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspace.ts';
import { type Figure, figure, median, percentile } from './figure.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const FILES = 5000;
const ROUNDS = 60;
const MOST_BYTES = 100_000;

/** Real sources, of this project and its packages, with as many twins as packages bring. */
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

/** Wall time of a whole process, ms, with what it printed. */
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

/** jscpd over the same files: `npm install --prefix <folder> jscpd` brings it. */
function measurePeer(ws: TestWorkspace): Figure[] {
  const program = join(process.env.SVC_BENCH_PEERS ?? '', 'node_modules', '.bin', 'jscpd');
  if (!existsSync(program)) return [];
  const begin = performance.now();
  const { status } = spawnSync(program, ['--silent', '--min-tokens', '60', 'lib'], {
    cwd: ws.root,
    stdio: 'ignore',
  });
  if (status !== 0) throw new Error(`jscpd ended with ${status}`);
  return [figure('guard: jscpd of the same files, whole run', performance.now() - begin, 'ms')];
}

/** What an agent waits for at a write in a project of 5,000 files. */
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
      ...measurePeer(ws),
    ];
  } finally {
    await ws.close();
  }
}
