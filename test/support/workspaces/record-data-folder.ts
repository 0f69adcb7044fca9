/**
 * Records the data folder of a version of svc for test/engine/takeover.slow.test.ts:
 *
 * npm run build && node dist/test/support/workspaces/record-data-folder.js [<top of a built clone>]; npm run format
 *
 * By default it records the current version. It drives the program only by its command line and kills it while a
 * worker runs. The data goes to `fixtures/recorded/<commit>.tar.gz`, its last answers to `<commit>.json` next to it.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning } from '../processes/processes.ts';
import { until } from '../wait.ts';
import { gitEnvironment, makeRepository } from './git.ts';
import {
  GATE,
  RECORDINGS,
  type RecordedWorker,
  type Recording,
  replaceInDatabase,
  replaceInFiles,
  replaceWords,
} from './recording.ts';

const PROGRAM = resolve(process.argv[2] ?? fileURLToPath(new URL('../../../../', import.meta.url)));
const SVC = join(
  PROGRAM,
  (JSON.parse(readFileSync(join(PROGRAM, 'package.json'), 'utf8')) as { bin: { svc: string } }).bin.svc,
);
const AGENT = join(PROGRAM, 'dist/fixtures/agent/agent.js');
const version = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], {
  cwd: PROGRAM,
  encoding: 'utf8',
}).trim();

const repository = makeRepository();
const { root, folder } = repository;
const bin = join(folder, 'bin');
const person = join(folder, 'person');
for (const each of [bin, person]) mkdirSync(each, { mode: 0o700 });
const script = (name: string, last: string): void =>
  writeFileSync(join(bin, name), `#!/bin/sh\n${last}\n`, { mode: 0o755 });
script('scripted', `exec '${process.execPath}' '${AGENT}' "$@"`);
script('claude', `for last; do :; done\nexec '${process.execPath}' '${AGENT}' -- "$last"`);

const git = gitEnvironment();
const env: NodeJS.ProcessEnv = {
  PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
  HOME: person,
  SHELL: '/bin/sh',
  LANG: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: git.GIT_CONFIG_NOSYSTEM,
  GIT_CONFIG_GLOBAL: git.GIT_CONFIG_GLOBAL,
  SVC_HOME: join(folder, 'home'),
  SVC_WEBHOOK_SECRET: 'a secret of the recording',
  // Containment other than marks depends on the machine.
  SVC_CONTAINMENT: 'marks',
};

/** Runs a command line of the recorded program; returns its output, parsed if it is JSON. */
function svc(args: readonly string[], session?: string): unknown {
  const output = execFileSync(process.execPath, [SVC, ...args], {
    cwd: root,
    env: { ...env, ...(session === undefined ? {} : { SVC_SESSION: session }) },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
  return args.includes('--json') ? JSON.parse(output) : output;
}
const prompt = (...directives: string[]): string =>
  ['Do what it says.', ...directives.map((each) => `#agent: ${each}`)].join('\n');
const addTask = (title: string, words: readonly string[], ...directives: string[]) =>
  svc(['task', 'add', title, '--prompt', prompt(...directives), ...words, '--json']) as { task_id: string };
/** Sends a signed request from outside; returns its pending decision. */
function requestTask(directive: string): string {
  const { receivers } = svc(['status', '--json']) as { receivers: { host: string; port: number }[] };
  const address = receivers.map(({ host, port }) => `${host}:${port}`).join();
  const wish = ['--prompt', prompt(directive), '--agent', 'scripted', '--dispatch', '--addr', address];
  svc(['webhook', 'test', ...wish]);
  const decisions = svc(['decision', 'list', '--json']) as { decision_id: string }[];
  return decisions.at(-1)?.decision_id ?? '';
}

const CONFIGURATION = `# What the tests of taking over read; its comments stay.
workspace: { name: recorded }
agents:
  default_preset: scripted
  timeout_sec: 86400
  cmds: { scripted: "scripted -- {{prompt}}", claude: "claude -- {{prompt}}" }
projects: [{ id: app, path: app }]
notify: { webhooks: [{ url: "http://127.0.0.1:9/events" }] }
ui: { addr: "127.0.0.1:0" }
webhook:
  secret_env: SVC_WEBHOOK_SECRET
  templates: { tidy: { agent: scripted, prompt: "Tidy up." } }
`;
const LEDGER = `# Plan

## Clarify
- nothing is open

## Items
- [x] the first
- [ ] the second
- [ ] the third
`;

interface Facts {
  session_id: string;
  state: string;
}
const sessions = () => svc(['worker', 'list', '--all', '--json']) as Facts[];

/** Returns the input that the engine gave to a session's process. */
function readWorker(session: string): RecordedWorker & { pid: number } {
  const agents = join(root, '.svc/agents', session);
  const runId = readdirSync(agents).find((name) => /^[0-9a-f-]{36}$/.test(name));
  if (runId === undefined) throw new Error(`${session} has no run directory`);
  const pid = Number(readFileSync(join(agents, runId, 'started'), 'utf8'));
  const read = (what: string): string[] =>
    readFileSync(`/proc/${pid}/${what}`, 'utf8').replace(/\0$/, '').split('\0');
  const entries = read('environ').map((entry): [string, string] => {
    const at = entry.indexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)];
  });
  return {
    pid,
    session,
    runId,
    argv: read('cmdline'),
    env: Object.fromEntries(entries.filter(([name]) => name !== '')),
    cwd: readlinkSync(`/proc/${pid}/cwd`),
    log: join(agents, 'log'),
  };
}

repository.write('svc.yaml', CONFIGURATION);
repository.write('docs/plan.md', LEDGER);
repository.write('.gitignore', '.svc/\n');
repository.commit(
  { 'svc.yaml': CONFIGURATION, 'docs/plan.md': LEDGER, '.gitignore': '.svc/\n' },
  'workspace',
);
svc(['trust', '--yes']);

const daemon = spawn(process.execPath, [SVC, 'daemon', '--max-workers', '1'], {
  cwd: root,
  env,
  stdio: 'inherit',
});
let worker: (RecordedWorker & { pid: number }) | undefined;
try {
  await until(() => existsSync(join(root, '.svc/daemon.json')), 'the engine to answer');

  // Finished work: one promoted, one on its branch, one failed, one denied.
  addTask('The first', ['--accept', 'notes are there', '--run', '--follow'], 'edit notes.md one');
  svc(['verify', 'report', 's-1', '--met', '1', '--passed', 'true', '--summary', 'it is written']);
  svc(['worktree', 'promote', 's-1', '--json']);
  addTask('The second', ['--project', 'app', '--run', '--follow'], 'edit other.md two');
  // The session's exit code reports a failure.
  assert.throws(() => addTask('The third fails', ['--run', '--follow'], 'no-change', 'fail 3'));
  svc(['decision', 'deny', requestTask('edit from-outside.md one'), 'not now']);
  svc(['decision', 'approve', requestTask('edit from-outside.md two'), '--follow']);

  // A session that hit a limit that lasts a day.
  const dayFromNow = Math.floor(Date.now() / 1000) + 86_400;
  const say = (line: object): string => `say ${JSON.stringify(line)}`;
  addTask(
    'The paused one',
    ['--agent', 'claude', '--run'],
    'edit half.md half',
    'dirty',
    say({ type: 'system', subtype: 'init', session_id: 'c-1', model: 'a-model', cwd: '/' }),
    say({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: dayFromNow } }),
    say({
      type: 'result',
      subtype: 'success',
      is_error: true,
      api_error_status: 429,
      result: 'usage limit reached',
      session_id: 'c-1',
      usage: { input_tokens: 100, cache_read_input_tokens: 40, output_tokens: 7 },
      total_cost_usd: 0.25,
    }),
  );
  const findState = (state: string) => sessions().filter((session) => session.state === state);
  await until(() => findState('queued').length === 1, 'the limit to pause it');

  // One session runs until the gate exists, and one is queued.
  addTask('The running one', ['--run', '--priority', 'high'], 'say at the gate', `wait-for ${GATE}`);
  const running = await until(() => findState('running')[0], 'the worker to run');
  await until(
    () => readFileSync(join(root, '.svc/agents', running.session_id, 'log'), 'utf8').includes('at the gate'),
    'the worker to be at the gate',
  );
  worker = readWorker(running.session_id);
  addTask('The waiting one', ['--run'], 'edit waited.md three');

  // Pending decisions, and the agents' locks and messages.
  requestTask('edit from-outside.md three');
  const changed = requestTask('edit from-outside.md four');
  svc(['decision', 'edit', changed, '--prompt', prompt('edit from-outside.md edited')]);
  addTask('The open one', ['--ledger', 'docs/plan.md', '--priority', 'low', '--context', 'there is time']);
  svc(['ledger', 'claim', 'docs/plan.md', '2'], 'ada');
  svc(['lock', 'acquire', 'app', '--ttl', '60'], 'ada');
  svc(['lock', 'acquire', 'README.md'], 'bob');
  const send = (body: string, words: readonly string[], from: string): string =>
    String(
      (svc(['msg', 'send', body, ...words, '--json'], from) as { messages: { id: number }[] }).messages[0]
        ?.id,
    );
  const asked = send('is anybody there?', ['--to-session', 'bob', '--kind', 'alert'], 'ada');
  send('here I am', ['--to-session', 'ada', '--reply-to', asked], 'bob');
  send('whoever takes it', ['--to-agent', 'claude', '--payload', 'docs/plan.md'], 'bob');
  svc(['msg', 'ack', asked], 'bob');
  svc(
    ['ask', 'open', 'Left or right?', '-o', 'left', '-o', 'right', '--no-wait', '--timeout', '3600'],
    'ada',
  );
  svc(['ask', 'open', 'Which port?', '--no-wait', '--timeout', '3600'], 'bob');
  svc(['ask', 'answer', '1', '2']);
  // A key that no one has consented to.
  writeFileSync(
    join(root, 'svc.yaml'),
    CONFIGURATION.replace('claude: "claude', 'later: "later -- {{prompt}}", claude: "claude'),
  );

  const questions = [
    'task list',
    'decision list --state all',
    'worker list --all',
    'ask list',
    'ask show 1',
    'msg list',
    'lock list',
    'ledger show docs/plan.md',
    'notify deliveries',
    'verify show s-1',
    'worktree list',
    'project list',
    'config show',
    ...sessions().map(({ session_id }) => `worker log ${session_id}`),
  ];
  const answers = Object.fromEntries(
    questions.map((line) => [line, svc([...line.split(' '), '--json'])] as const),
  );
  const at = Date.now();
  daemon.kill('SIGKILL');
  await until(() => !isRunning(daemon.pid ?? 0), 'the engine to be gone');
  process.kill(-worker.pid, 'SIGKILL');
  await until(() => !isRunning(worker?.pid ?? 0), 'the worker to be gone');

  // A test since this boot would take itself for a process that the killed engine left behind.
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const words = [
    [folder, '@FOLDER@'],
    [process.execPath, '@NODE@'],
    [PROGRAM, '@PROGRAM@'],
    [bootId, '00000000-0000-4000-8000-000000000000'],
  ] as const;
  rmSync(person, { recursive: true, force: true });
  replaceInFiles(folder, words);
  replaceInDatabase(join(root, '.svc/svc.db'), words);
  const { pid: _, ...recorded } = worker;
  const recording: Recording = { version, at, answers, worker: recorded };
  mkdirSync(RECORDINGS, { recursive: true });
  const file = join(RECORDINGS, version);
  writeFileSync(`${file}.json`, `${replaceWords(JSON.stringify(recording, null, 2), words)}\n`);
  execFileSync('tar', [
    '--create',
    '--gzip',
    '--exclude=*.sock',
    '--file',
    `${file}.tar.gz`,
    '-C',
    folder,
    '.',
  ]);
  console.log(`recorded ${file}.tar.gz`);
} finally {
  daemon.kill('SIGKILL');
  if (worker !== undefined && isRunning(worker.pid)) process.kill(-worker.pid, 'SIGKILL');
  repository.remove();
}
