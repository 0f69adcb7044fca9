import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { HOST_OPTIONS } from '../../cli/host-options.ts';
import { isTestPath } from '../../engine/knowledge/sources/index.ts';
import { createIndexer, type FileIndexer } from '../../engine/knowledge/symbols/index-files/indexer.ts';
import { answerQuestion, type GraphQuestion } from '../../engine/knowledge/symbols/query/answer.ts';
import { SYMBOL_COLUMNS, toEdge, toSymbol } from '../../engine/knowledge/symbols/store/rows.ts';
import { gitEnvironment, openTestGit, temporaryFolder } from '../support/workspaces/git.ts';
import { askCodegraph } from './codegraph-peer.ts';
import { type Figure, figure, percentile } from './figure.ts';
import { measureCases } from './graph-cases.ts';
import { askCompiler } from './graph-oracle.ts';

/** Packages that npm ships with their TypeScript sources, and the targets of their imports of themselves. */
const REPOSITORIES: Readonly<Record<string, Readonly<Record<string, string[]>>>> = {
  'zod@4.6.7': {},
  'rxjs@7.8.2': {},
  '@tanstack/query-core@5.108.0': {},
  '@trpc/server@11.25.2': {},
  'immer@11.2.10': {},
  '@tanstack/router-core@1.171.39': {},
  '@reduxjs/toolkit@2.14.0': {
    '@reduxjs/toolkit': ['src/index.ts'],
    '@reduxjs/toolkit/query': ['src/query/index.ts'],
    '@reduxjs/toolkit/react': ['src/react/index.ts'],
    '@reduxjs/toolkit/query/react': ['src/query/react/index.ts'],
  },
};
const COMPILER = 'typescript@5.9.3';
const FILES = 6000;
const EDITS = 40;

/** Downloads and unpacks a package; returns its folder. */
function download(name: string, folder: string): string {
  const to = join(folder, name.replaceAll(/[^\w.-]/g, '-'));
  mkdirSync(to, { recursive: true });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', to, name], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [packed] = readdirSync(to).filter((each) => each.endsWith('.tgz'));
  execFileSync('tar', ['-xzf', join(to, packed!), '-C', to, '--strip-components=1']);
  return to;
}

function open(root: string, file: string): FileIndexer {
  return createIndexer({ root, file, git: openTestGit(), parsers: {}, without: [] });
}

interface Call {
  key: string;
  confidence: number;
}

/** Returns the calls of an index in the form of the oracle. */
function listOwnCalls({ db }: FileIndexer): Call[] {
  const rows = db
    .prepare(`SELECT ${SYMBOL_COLUMNS} FROM symbol JOIN file ON file.id = symbol.file`)
    .all()
    .map(toSymbol);
  const names = new Map(
    rows.map(({ id, path, name, kind }) => [id, `${path}|${kind === 'file' ? '' : name}`]),
  );
  const best = new Map<string, number>();
  for (const row of db.prepare('SELECT * FROM edge').all()) {
    const { fromSymbol, toSymbol: target, kind, confidence } = toEdge(row);
    if (kind !== 'call' && kind !== 'new' && kind !== 'jsx') continue;
    const key = `${names.get(fromSymbol)}|${names.get(target)}`;
    best.set(key, Math.max(best.get(key) ?? 0, confidence));
  }
  return [...best].map(([key, confidence]) => ({ key, confidence }));
}

/** Returns the callers that reach each symbol in at most two calls. */
function listTwoHops(calls: Iterable<string>): Set<string> {
  const callers = new Map<string, Set<string>>();
  for (const call of calls) {
    const [file, name, toFile, toName] = call.split('|');
    const to = `${toFile}|${toName}`;
    callers.set(to, (callers.get(to) ?? new Set()).add(`${file}|${name}`));
  }
  const found = new Set<string>();
  for (const [to, direct] of callers)
    for (const one of direct) {
      found.add(`${one} ${to}`);
      for (const two of callers.get(one) ?? []) found.add(`${two} ${to}`);
    }
  return found;
}

const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
const isOfTest = (call: string): boolean => isTestPath(call.split('|')[0]!);

async function measureTruth(folder: string): Promise<Figure[]> {
  const compiler = download(COMPILER, folder);
  const figures: Figure[] = [];
  for (const [name, own] of Object.entries(REPOSITORIES)) {
    const packed = download(name, folder);
    const root = join(folder, `sources-${name.replaceAll(/[^\w.-]/g, '-')}`);
    mkdirSync(root);
    cpSync(join(packed, 'src'), join(root, 'src'), { recursive: true });
    cpSync(join(packed, 'package.json'), join(root, 'package.json'));
    const indexer = open(root, join(folder, `${dirname(name)}-${Date.now()}.db`.replaceAll('/', '-')));
    await indexer.refresh();
    const found = listOwnCalls(indexer);
    const truth = askCompiler(compiler, root, indexer.listPaths(), own);
    await indexer.close();
    // Excludes calls from tests: the compiler does not find the tools that they import.
    {
      const keeps = (call: string): boolean => !isOfTest(call);
      const known = new Set([...truth.calls].filter(keeps));
      const calls = found.filter(({ key }) => keeps(key));
      for (const confidence of [1, 0.7, 0.4]) {
        const some = calls.filter((each) => each.confidence === confidence);
        const right = some.filter(({ key }) => known.has(key)).length;
        figures.push(
          figure(
            `${name}: precision at ${confidence} of ${some.length} calls`,
            100 * share(right, some.length),
            '%',
          ),
        );
      }
      const sure = new Set(calls.filter((each) => each.confidence >= 0.7).map(({ key }) => key));
      const hit = [...known].filter((key) => sure.has(key)).length;
      figures.push(
        figure(`${name}: recall at 0.7 and above of ${known.size} calls`, 100 * share(hit, known.size), '%'),
      );
      const [two, trueTwo] = [listTwoHops(sure), listTwoHops(known)];
      const both = [...two].filter((each) => trueTwo.has(each)).length;
      figures.push(figure(`${name}: precision of callers over two calls`, 100 * share(both, two.size), '%'));
      figures.push(figure(`${name}: recall of callers over two calls`, 100 * share(both, trueTwo.size), '%'));
      figures.push(...comparePeer(name, root, folder, [...known]));
    }
  }
  return figures;
}

/** Does the same with codegraph, if installed; it has no confidence classes. */
function comparePeer(name: string, root: string, folder: string, known: readonly string[]): Figure[] {
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const peer = askCodegraph(root, home);
  if (peer === null) return [];
  const calls = [...peer.calls].filter((call) => !isOfTest(call));
  const right = known.filter((call) => peer.calls.has(call)).length;
  return [
    figure(
      `${name}: precision of codegraph, of ${calls.length} calls`,
      100 * share(right, calls.length),
      '%',
    ),
    figure(`${name}: recall of codegraph`, 100 * share(right, known.length), '%'),
  ];
}

/** Creates a tree of many files: copies of a package's sources in separate folders. */
function makeLargeTree(folder: string): { root: string; bytes: number } {
  const sources = readdirSync(join(folder, 'rxjs-7.8.2', 'src'), {
    recursive: true,
    encoding: 'utf8',
  }).filter((path) => path.endsWith('.ts'));
  const root = join(folder, 'large');
  let bytes = 0;
  for (let at = 0; at < FILES; at += 1) {
    const path = sources[at % sources.length]!;
    const to = join(root, `package-${Math.floor(at / sources.length)}`, path);
    mkdirSync(dirname(to), { recursive: true });
    const text = readFileSync(join(folder, 'rxjs-7.8.2', 'src', path));
    bytes += text.length;
    writeFileSync(to, text);
  }
  execFileSync('git', ['init', '-q'], { cwd: root, env: gitEnvironment() });
  return { root, bytes };
}

async function measureSpeed(folder: string): Promise<Figure[]> {
  const { root, bytes } = makeLargeTree(folder);
  const figures: Figure[] = [];
  const ctags = ['/usr/bin/ctags-universal', '/usr/bin/ctags'].find((each) => existsSync(each));
  let reference: number | null = null;
  if (ctags !== undefined) {
    const from = performance.now();
    const { status } = spawnSync(ctags, ['-R', '--languages=TypeScript', '-f', join(folder, 'tags'), root]);
    if (status === 0) reference = performance.now() - from;
  }
  const file = join(folder, 'large.db');
  const program = join(import.meta.dirname, 'graph-index-child.js');
  const child = spawnSync(process.execPath, [...HOST_OPTIONS, program, root, file], {
    encoding: 'utf8',
    env: gitEnvironment(),
  });
  const measured = JSON.parse(child.stdout) as { ms: number; cpuMs: number; peakMb: number; edges: number };
  figures.push(
    figure(
      `index of ${FILES} files, ${(bytes / 1e6).toFixed(0)} MB, ${measured.edges} edges (reference: ctags)`,
      measured.ms,
      'ms',
      reference,
    ),
  );
  figures.push(figure('its work on all processors', measured.cpuMs, 'ms'));
  figures.push(figure('its peak memory', measured.peakMb, 'MB'));
  figures.push(figure('its file', statSync(file).size / 1e6, 'MB'));
  const indexer = open(root, file);
  const unchanged = await indexer.refresh();
  figures.push(figure('start on an unchanged tree', unchanged.ms, 'ms'));
  const paths = indexer.listPaths().filter((path) => path.includes('/operators/'));
  await indexer.refreshKnown(paths.slice(0, 1));
  const edits: number[] = [];
  for (let at = 0; at < EDITS; at += 1) {
    const path = paths[(at * 37) % paths.length]!;
    const text = readFileSync(join(root, path), 'utf8');
    writeFileSync(join(root, path), `${text}\nexport function added${at}() { return added${at}(); }\n`);
    const from = performance.now();
    await indexer.refreshKnown([path]);
    edits.push(performance.now() - from);
  }
  figures.push(figure('update of one file, p95', percentile(edits, 0.95), 'ms'));
  const questions: [string, (symbol: string) => GraphQuestion][] = [
    ['trace', (symbol) => ({ ask: 'trace', symbol, depth: 2, direction: 'both' })],
    ['snippet', (symbol) => ({ ask: 'snippet', symbol, maxLines: 120 })],
  ];
  const ids = indexer.db
    .prepare("SELECT id FROM symbol WHERE kind IN ('function', 'method') ORDER BY id LIMIT 4000")
    .pluck()
    .all() as number[];
  const git = openTestGit();
  for (const [name, ask] of questions) {
    const times: number[] = [];
    for (let at = 0; at < 100; at += 1) {
      const from = performance.now();
      await answerQuestion(indexer, ask(String(ids[(at * 37) % ids.length])), git);
      times.push(performance.now() - from);
    }
    figures.push(figure(`${name}, p95`, percentile(times, 0.95), 'ms'));
  }
  const times: number[] = [];
  for (let at = 0; at < 60; at += 1) {
    const from = performance.now();
    await answerQuestion(
      indexer,
      { ask: 'impact', paths: [paths[(at * 31) % paths.length]!], range: null },
      git,
    );
    times.push(performance.now() - from);
  }
  figures.push(figure('impact of one file, p95', percentile(times, 0.95), 'ms'));
  await indexer.close();
  return figures;
}

/**
 * Measures the code graph's accuracy against the TypeScript compiler, and its speed compared with universal-ctags.
 */
export async function codeGraph(): Promise<Figure[]> {
  const folder = temporaryFolder('svc-graph-bench-');
  try {
    return [...(await measureTruth(folder)), ...(await measureCases()), ...(await measureSpeed(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
