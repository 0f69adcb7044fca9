// Runs the built suite: `node .ci/test.js [quick] [part of a path]...`. Ends with the runner's own summary; fails when a test
// fails and also when none ran.
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { needsPrograms } from './needs-programs.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const LONGEST_MS = 15 * 60_000;
const LONGEST_SHOWN = 15;

// As the dashboard runs: React's development build is several times slower.
process.env.NODE_ENV ??= 'production';
// Every process of tests loads most of the program, most of them under a new home folder.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/svc-tests');

/** What takes longest begins first, so that no long file runs alone at the end. */
const FIRST = [
  'terminal',
  'faults',
  'cli',
  'engine/runner',
  'engine/dispatch',
  'engine/daemon',
  'engine/board',
  'tui',
];
const place = (file) => {
  const at = FIRST.findIndex((folder) => file.includes(join('dist/test', folder)));
  return at < 0 ? FIRST.length : at;
};

/**
 * What takes minutes of its own: left out unless it is asked for, by name or all of it with `--apart`. `.ci/run` does.
 * These are the storms and sieges: many processes killed, raced, typed at or attacked for one sentence that must hold; git
 * in every shape that a repository can be in; and long tables of cases. A file belongs here that takes more than some four
 * seconds of CPU, its children's included, for what a shorter one of every run already shows in small.
 */
const APART = [
  'browser',
  'ci/imports',
  'cli/acp.test',
  'cli/commands/configuration/adopt',
  'cli/commands/demo/demo-link',
  'cli/commands/work/lock',
  'cli/commands/engine/telemetry',
  'cli/commands/configuration/trust',
  'cli/completion',
  'cli/doctor',
  'cli/hung-engine',
  'cli/mcp/bridge',
  'cli/neighbours',
  'cli/package',
  'day/',
  'docs/recipes',
  'docs/tutorial',
  'engine/board/verify/rerun',
  'engine/daemon/supervisor',
  'engine/dispatch/acp',
  'engine/dispatch/pause',
  'engine/gateway/server/client-faults',
  'engine/gateway/server/faults',
  'engine/gateway/translate/pairs',
  'engine/knowledge/memory/okf',
  'engine/knowledge/symbols/cases',
  'engine/knowledge/symbols/exact',
  'engine/link/canary',
  'engine/link/hostile-server',
  'engine/link/link',
  'engine/link/telemetry',
  'engine/receiver/replay',
  'engine/retention',
  'engine/board/review/discard-actions',
  'engine/board/review/layouts',
  'engine/board/review/shared-repository',
  'engine/board/review/two-repositories',
  'engine/workers/runner/confine/commands',
  'engine/workers/runner/confine/confinement',
  'engine/workers/runner/confine/traps',
  'engine/workers/runner/setup/setup',
  'engine/workers/runner/worktrees/git/checked-out',
  'engine/workers/runner/worktrees/remove/discard',
  'engine/workers/runner/worktrees/finish/finish',
  'engine/workers/runner/worktrees/hidden-work',
  'engine/workers/runner/worktrees/git/lfs',
  'engine/workers/runner/worktrees/moved-base',
  'engine/workers/runner/worktrees/merge/promote',
  'engine/workers/runner/worktrees/remove/prune',
  'engine/workers/runner/worktrees/merge/trial',
  'engine/workers/runner/worktrees/merge/undo-promotion',
  'engine/linked-server/chats/all-channels',
  'engine/linked-server/chats/chats',
  'engine/linked-server/chats/connecting',
  'engine/linked-server/chats/server-kill',
  'engine/linked-server/chats/slack/decide',
  'engine/linked-server/chats/workspace',
  'engine/linked-server/deliveries/deliveries',
  'engine/linked-server/deliveries/targets',
  'engine/linked-server/deleting',
  'engine/linked-server/hostile-people',
  'engine/linked-server/keeping',
  'engine/linked-server/links/tokens',
  'engine/linked-server/login',
  'engine/linked-server/meanwhile',
  'engine/linked-server/older-schemas',
  'engine/linked-server/people',
  'engine/linked-server/signed-routes',
  'engine/linked-server/usage',
  'engine/takeover',
  'faults',
  'hostile',
  'terminal',
  'tui/text/every-title',
];
/** One of each kind that belongs to every run all the same: the main job in a terminal, and killed workers. */
const KEPT = ['terminal/main-job', 'faults/worker'];
/** What needs many processes of what is left: `quick` leaves it out too. */
const SLOW = ['agents', 'cli/main-job', ...KEPT];
const isOneOf = (parts, file) => parts.some((part) => file.includes(join('dist/test', part)));
const isApart = (file) => isOneOf(APART, file) && !isOneOf(KEPT, file);

const words = process.argv.slice(2);
const filters = words.filter((word) => !word.startsWith('--') && word !== 'quick');
const onlyApart = words.includes('--apart');
const isQuick = words.includes('quick');
const isAsked = (file) => {
  if (isQuick && (isOneOf(SLOW, file) || isApart(file))) return false;
  if (filters.length > 0) return filters.some((part) => file.includes(part));
  return isApart(file) === onlyApart;
};

const allFiles = globSync('dist/test/**/*.test.js', { cwd: ROOT })
  .sort()
  .sort((one, other) => place(one) - place(other))
  // The compiler leaves the output of a test that was removed.
  .filter((file) => {
    const source = join(ROOT, file.replace(/^dist[/\\]/, '').replace(/\.js$/, ''));
    return existsSync(`${source}.ts`) || existsSync(`${source}.tsx`);
  });
const files = allFiles.filter(isAsked);

if (files.length === 0) {
  console.error(
    filters.length === 0 ? 'no tests in dist/test' : `no test file matches ${filters.join(', ')}`,
  );
  process.exit(1);
}

/** Each of these files is a process of its own: it starts many others, or grows so large that others in it would start theirs slowly. */
const ALONE = [
  'browser',
  'day/',
  'terminal',
  'faults',
  'agents',
  'hostile',
  'engine/takeover',
  'engine/knowledge/sources',
];
/** How many other files share a process at most: loading the program takes longer than many of them do. */
const MOST_TOGETHER = 10;

const nameOf = (file) => relative(join('dist', 'test'), file).replace(/\.test\.js$/, '');

/** The files of each process: neighbours of one folder at the top. */
function makeGroups() {
  const groups = [];
  let open = '';
  for (const file of files) {
    const name = nameOf(file);
    const folder = isOneOf(ALONE, file) ? name : name.split(sep)[0];
    if (folder !== open || groups.at(-1).length === MOST_TOGETHER) groups.push([]);
    groups.at(-1).push(file);
    open = folder;
  }
  return groups;
}

const scratch = mkdtempSync(join(tmpdir(), 'svc-tests-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

/** Writes the program of one process. Every file is a suite, so its hooks are its own, and its name stands above its tests. */
function writeGroup(group) {
  const path = join(scratch, `${nameOf(group[0]).replaceAll(sep, '-')}.mjs`);
  // One after the other: what two files import would else be evaluated, with what it declares, as part of either's suite.
  const suites = group.map((file) => {
    const name = JSON.stringify(nameOf(file));
    const url = JSON.stringify(pathToFileURL(join(ROOT, file)).href);
    return `await new Promise((done) => suite(${name}, () => import(${url}).finally(done)));\n`;
  });
  writeFileSync(path, `import { suite } from 'node:test';\n${suites.join('')}`);
  return path;
}

if (needsPrograms(files.map((file) => join(ROOT, file)))) await import('./bundle.js');

// Most files need a repository, and copy one of these.
const { makeFirstRepositories } = await import('../dist/test/support/git.js');
process.env.FIRST_REPOSITORIES = makeFirstRepositories();

let summary;
const durations = new Map();
// A run that is told to end ends its tests too, and each of them removes its folders.
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => ending.abort());
// Groups run beside each other, each in a process of its own, started with this very node. Many of them start workers
// and engines, so many more of them than cores would only make each other late; two more, because many wait for time to
// pass.
const stream = run({
  files: makeGroups().map(writeGroup),
  cwd: ROOT,
  concurrency: availableParallelism() + 2,
  timeout: LONGEST_MS,
  signal: ending.signal,
});
stream.on('test:summary', (data) => {
  if (data.file === undefined) summary = data;
});
for (const outcome of ['test:pass', 'test:fail'])
  stream.on(outcome, ({ nesting, name, details }) => {
    if (nesting === 0) durations.set(name, details.duration_ms);
  });
stream.compose(new spec()).pipe(process.stdout);
stream.on('end', () => {
  const passed = summary?.success === true && summary.counts.tests > 0;
  if (summary?.counts.tests === 0) console.error('no test ran');
  if (files.length > LONGEST_SHOWN) {
    console.log('the files that took longest:');
    const longest = [...durations].sort(([, one], [, other]) => other - one).slice(0, LONGEST_SHOWN);
    for (const [name, ms] of longest) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`);
  }
  if (isQuick) console.log(`not run: ${SLOW.join(', ')}; npm test does`);
  if (filters.length === 0 && !onlyApart)
    console.log(
      `not run: ${allFiles.filter(isApart).length} files that take minutes of their own; npm test -- --apart does`,
    );
  process.exitCode = passed ? 0 : 1;
});
// Until the summary says otherwise: a run that breaks off has failed.
process.exitCode = 1;
