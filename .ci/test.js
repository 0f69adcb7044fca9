// Runs the built suite: `node .ci/test.js [quick|--apart|--portable] [part of a path]...`. Ends with the runner's
// summary; fails if a test fails or none ran.
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { needsPrograms } from './needs-programs.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const LONGEST_MS = 15 * 60_000;
const LONGEST_SHOWN = 15;

// The person's preferences for programs on their terminal must not change what tests see.
for (const name of Object.keys(process.env))
  if (
    /^(?:NO_COLOR|FORCE_COLOR|CLICOLOR.*|CI|LC_.*|LANGUAGE|PAGER|LESS|VISUAL|EDITOR|GIT_.*|XDG_(?:CONFIG|DATA|CACHE|STATE)_HOME|SVC_(?:HOME|NOTIFY|PAGER))$/.test(
      name,
    )
  )
    delete process.env[name];
process.env.LANG = 'C.UTF-8';
// As in the dashboard: React's development build is several times slower.
process.env.NODE_ENV ??= 'production';
// Every test process loads most of the program, usually under a new home folder.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/svc-tests');

/** The longest files start first, so that none runs alone at the end. */
const FIRST = [
  'terminal',
  'faults',
  'cli',
  'engine/workers/runner',
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
 * Slow tests end in `.slow.test.ts` and run only on request, by name or all together with `--apart`, as in `.ci/run`:
 * tests that kill, race, type or attack, git in every layout, and long tables of cases. A file is slow if it takes
 * more than about four seconds of CPU, including its children.
 */
const isApart = (file) => /\.slow\.test\.js$/.test(file);
/** Tests with many processes, which `quick` leaves out too. */
const MANY_PROCESSES = ['agents', 'cli/main-job', 'terminal/main-job'];
const isOneOf = (parts, file) => parts.some((part) => file.includes(join('dist/test', part)));

const words = process.argv.slice(2);
if (words.includes('--portable')) {
  await import('./portable.js');
  process.exit();
}
const filters = words.filter((word) => !word.startsWith('--') && word !== 'quick');
const onlyApart = words.includes('--apart');
const isQuick = words.includes('quick');
const isAsked = (file) => {
  if (isQuick && (isOneOf(MANY_PROCESSES, file) || isApart(file))) return false;
  if (filters.length > 0) return filters.some((part) => file.includes(part));
  return isApart(file) === onlyApart;
};

const allFiles = globSync('dist/test/**/*.test.js', { cwd: ROOT })
  .sort()
  .sort((one, other) => place(one) - place(other))
  // The compiler keeps the output of a removed test.
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

/**
 * Files that run in a separate process: each starts many others, or grows so large that other files in it would start
 * their processes slowly.
 */
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
/** Maximum number of other files per process: loading the program takes longer than many of them. */
const MOST_TOGETHER = 10;

const nameOf = (file) => relative(join('dist', 'test'), file).replace(/(?:\.slow)?\.test\.js$/, '');

/** The files of each process: neighbours of one top-level folder. */
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

// A home with nothing but a git identity: the person's files and settings must not matter, and may not exist.
process.env.HOME = join(scratch, 'home');
mkdirSync(process.env.HOME);
writeFileSync(
  join(process.env.HOME, '.gitconfig'),
  '[user]\n\tname = Test Person\n\temail = person@example.test\n',
);

/** Node 22 ends a process whose test waits for something that would not keep it alive. */
const writeStart = (count) => `import { after, suite } from 'node:test';
let left = ${count};
const { port1: alive } = new MessageChannel();
alive.ref();
const endOne = () => (left -= 1) > 0 || alive.close();
`;

/**
 * Writes the program of one process. Every file becomes a suite, so its hooks are separate, and its name is printed
 * above its tests.
 */
function writeGroup(group) {
  const path = join(scratch, `${nameOf(group[0]).replaceAll(sep, '-')}.mjs`);
  // One after another: otherwise modules that two files import, and their declarations, would become part of either
  // suite.
  const suites = group.map((file) => {
    const name = JSON.stringify(nameOf(file));
    const url = JSON.stringify(pathToFileURL(join(ROOT, file)).href);
    return `await new Promise((done) => suite(${name}, () => (after(endOne), import(${url}).finally(done))));\n`;
  });
  writeFileSync(path, `${writeStart(group.length)}${suites.join('')}`);
  return path;
}

if (needsPrograms(files.map((file) => join(ROOT, file)))) await import('./bundle.js');

// Most files need a repository, and copy one of these.
const { makeFirstRepositories } = await import('../dist/test/support/workspaces/git.js');
process.env.FIRST_REPOSITORIES = makeFirstRepositories();

// Engines that tests kill leave their empty cgroups to their successor: those of this run are in one of their own.
const { enterTestCgroup } = await import('../dist/test/support/processes/test-cgroup.js');
const leaveTestCgroup = enterTestCgroup();

let summary;
const durations = new Map();
// An interrupted run ends its tests, and each removes its folders.
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => ending.abort());
// Groups run in parallel, each in a separate process of this node. Many start workers and engines, so far more groups
// than cores would only slow each other down; two more, because many wait for time to pass.
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
    console.log('the slowest files:');
    const longest = [...durations].sort(([, one], [, other]) => other - one).slice(0, LONGEST_SHOWN);
    for (const [name, ms] of longest) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`);
  }
  if (isQuick) console.log(`not run: ${MANY_PROCESSES.join(', ')}; npm test runs them`);
  if (filters.length === 0 && !onlyApart)
    console.log(
      `not run: ${allFiles.filter(isApart).length} files that take minutes; npm test -- --apart runs them`,
    );
  leaveTestCgroup();
  process.exitCode = passed ? 0 : 1;
});
// Until the summary reports success: an aborted run has failed.
process.exitCode = 1;
