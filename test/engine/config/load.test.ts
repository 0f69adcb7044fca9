import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeKeys, findWorkspace, loadConfig, resolveDataPaths } from '../../../engine/config/index.ts';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { folder, load, problems } from './support.ts';

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;

test('svc.yaml is searched upwards from the current folder', (t) => {
  const root = folder(t);
  const deep = join(root, 'a', 'b');
  mkdirSync(deep, { recursive: true });
  mkdirSync(join(root, 'a', 'svc.yaml'));
  writeFileSync(join(root, 'svc.yaml'), '');
  assert.deepEqual(findWorkspace({ cwd: deep, env: {} }), { root, file: join(root, 'svc.yaml') });
});

test('SVC_CONFIG names a file or its folder, and a wrong one is an error rather than a search', (t) => {
  const root = folder(t);
  writeFileSync(join(root, 'other.yaml'), '');
  writeFileSync(join(root, 'svc.yaml'), '');
  const find = (named: string) => findWorkspace({ cwd: root, env: { SVC_CONFIG: named } }).file;
  assert.equal(find('other.yaml'), join(root, 'other.yaml'));
  assert.equal(find(root), join(root, 'svc.yaml'));
  assert.throws(() => find('missing.yaml'), code('no_workspace'));
});

test('the hint outside a workspace is svc init', (t) => {
  assert.throws(
    () => findWorkspace({ cwd: folder(t), env: {} }),
    (error: unknown) =>
      error instanceof SvcError && error.code === 'no_workspace' && error.hint === 'run svc init',
  );
});

test('flag beats environment beats workspace beats home beats default, and each source is recorded', (t) => {
  const root = folder(t);
  const home = join(root, 'home');
  mkdirSync(home);
  writeFileSync(
    join(home, 'ai.yaml'),
    'ai:\n  mode: live\n  ollama: {host: home:1, model: home}\ngateway: {addr: "127.0.0.1:1"}\n',
  );
  const file = join(root, 'svc.yaml');
  writeFileSync(file, 'ai:\n  ollama: {host: workspace:1, model: workspace}\nagents: {timeout_sec: 5}\n');
  const loaded = loadConfig({
    file,
    env: {
      SVC_HOME: home,
      SVC_OLLAMA_MODEL: 'environment',
      SVC_AGENT_TIMEOUT_SEC: '7',
      SVC_AGENT_PRESET: '',
    },
    flags: { 'agents.timeout_sec': 9, 'ui.addr': undefined },
  });
  const { config, sources } = loaded;
  assert.equal(config.agents.timeout_sec, 9);
  assert.equal(config.ai.ollama.model, 'environment');
  assert.equal(config.ai.ollama.host, 'workspace:1');
  assert.equal(config.ai.mode, 'live');
  assert.equal(config.gateway.addr, '127.0.0.1:1');
  assert.deepEqual(
    [
      'agents.timeout_sec',
      'ai.ollama.model',
      'ai.ollama.host',
      'ai.mode',
      'ui.addr',
      'agents.default_preset',
    ].map((key) => sources.get(key)),
    ['flag', 'environment', 'workspace', 'home', 'default', 'default'],
  );
  assert.deepEqual(
    [...sources.keys()],
    describeKeys().map(({ key }) => key),
  );
});

test('an unknown key names file, line, column, path and the nearest key', (t) => {
  assert.deepEqual(problems(t, 'agents:\n  # a comment\n  timout_sec: 5\n'), [
    'svc.yaml:3:3 agents.timout_sec: unknown key, did you mean timeout_sec?',
  ]);
  assert.deepEqual(problems(t, 'timeout_sec: 5\n'), [
    'svc.yaml:1:1 timeout_sec: unknown key, did you mean agents.timeout_sec?',
  ]);
  assert.deepEqual(problems(t, 'qqqqqqqq: 5\n'), ['svc.yaml:1:1 qqqqqqqq: unknown key']);
});

test('every problem is reported together, in the order of the file, also as data', (t) => {
  const text =
    'ui: {addr: nowhere}\nagents:\n  timeout_sec: soon\n  cmds:\n    mine: mine {{promt}}\nai: {mode: lve}\n';
  const lines = problems(t, text);
  assert.deepEqual(
    lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
    [
      'svc.yaml:1:12 ui.addr:',
      'svc.yaml:3:16 agents.timeout_sec:',
      'svc.yaml:5:11 agents.cmds.mine:',
      'svc.yaml:6:12 ai.mode:',
    ],
  );
  assert.match(lines[1]!, /expected a whole number, got a string$/);
  assert.match(
    lines[2]!,
    /unknown placeholder \{\{promt\}\}, allowed: \{\{prompt\}\} \{\{prompt_file\}\} \{\{name\}\}$/,
  );
  assert.match(lines[3]!, /expected one of off, stub, live; did you mean live\?$/);
  try {
    load(t, text);
    assert.fail();
  } catch (error) {
    const [first] = (error as SvcError).data.problems as Record<string, unknown>[];
    assert.equal(first?.line, 1);
    assert.equal(first?.column, 12);
    assert.equal(first?.path, 'ui.addr');
    assert.match(String(first?.file), /svc\.yaml$/);
  }
});

test('a bad variable is named, with its key', (t) => {
  assert.deepEqual(problems(t, '', { env: { SVC_AGENT_TIMEOUT_SEC: 'abc' } }), [
    'SVC_AGENT_TIMEOUT_SEC agents.timeout_sec: expected a whole number, got a string',
  ]);
  assert.deepEqual(problems(t, '', { env: { SVC_AGENT_TRANSPORT: 'telnet' } }), [
    'SVC_AGENT_TRANSPORT agents.transport: expected one of subprocess, acp',
  ]);
  assert.match(
    problems(t, '', { env: { SVC_AGENT_CMD: 'agent' } })[0]!,
    /^SVC_AGENT_CMD agents\.default_cmd: .*prompt/,
  );
  assert.match(
    problems(t, '', { env: { SVC_AGENT_PRESET: 'cluade' } })[0]!,
    /^SVC_AGENT_PRESET .*did you mean claude/,
  );
});

test('a bad or unknown flag is named', (t) => {
  assert.match(problems(t, '', { flags: { 'ui.addr': 'x' } })[0]!, /^flag ui\.addr: not an address/);
  assert.throws(() => load(t, '', { flags: { 'ui.adr': 'x' } }), code('usage'));
});

test('a value that a variable overrides is still checked', (t) => {
  assert.match(
    problems(t, 'agents: {timeout_sec: no}', { env: { SVC_AGENT_TIMEOUT_SEC: '5' } })[0]!,
    /^svc\.yaml:1:23 agents\.timeout_sec/,
  );
});

test('SVC_AGENT_TRANSPORT acp applies to the presets that have an acp entry', (t) => {
  const { config, sources } = load(t, 'agents: {acp: {mine: mine serve}, transport: {codex: subprocess}}', {
    env: { SVC_AGENT_TRANSPORT: 'acp' },
  });
  assert.deepEqual(config.agents.transport, {
    codex: 'subprocess',
    opencode: 'acp',
    claude: 'acp',
    mine: 'acp',
  });
  assert.equal(sources.get('agents.transport'), 'environment');
  const back = load(t, 'agents: {transport: {claude: acp}}', { env: { SVC_AGENT_TRANSPORT: 'subprocess' } });
  assert.equal(back.config.agents.transport.claude, 'subprocess');
});

test('an entry of a preset map adds or replaces one preset', (t) => {
  const { agents } = load(
    t,
    'agents:\n  cmds:\n    claude: mine -- {{prompt}}\n    own: own {{prompt}}\n',
  ).config;
  assert.equal(agents.cmds.claude, 'mine -- {{prompt}}');
  assert.equal(agents.cmds.own, 'own {{prompt}}');
  assert.equal(Object.keys(agents.cmds).length, 10);
  assert.match(agents.cmds.codex!, /^codex exec/);
});

test('the machine home is checked as strictly, with its own file and line', (t) => {
  const root = folder(t);
  writeFileSync(join(root, 'ai.yaml'), 'ai:\n  mode: lve\nagents: {}\n');
  const lines = problems(t, '', { env: { SVC_HOME: root } });
  assert.deepEqual(lines, [
    `${join(root, 'ai.yaml')}:2:9 ai.mode: expected one of off, stub, live; did you mean live?`,
    `${join(root, 'ai.yaml')}:3:1 agents: unknown key`,
  ]);
});

test('default paths follow paths.data, and explicit paths do not', (t) => {
  const loaded = load(t, 'paths: {data: state}\ndb: {path: db/main.db}\n');
  const { root } = loaded;
  assert.equal(root, realpathSync(root));
  assert.deepEqual(resolveDataPaths(loaded), {
    data: join(root, 'state'),
    db: join(root, 'db/main.db'),
    socket: join(root, 'state/svc.sock'),
    agents: join(root, 'state/agents'),
    worktrees: join(root, 'state/agents/worktrees'),
  });
  const plain = load(t, '');
  assert.equal(resolveDataPaths(plain).db, join(plain.root, '.svc/svc.db'));
});
