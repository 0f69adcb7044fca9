import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  describeKeys,
  loadConfig,
  renderExampleYaml,
  resolveKeyPath,
  setKey,
  setYamlValue,
} from '../../../engine/config/index.ts';
import { folder, load } from './support.ts';

const TEXT = `# the head
agents:
  # why so long
  timeout_sec: 5 # five
  cmds:
    mine: 'mine -- {{prompt}}'

policy:
  # nothing yet
`;

function workspace(t: TestContext, text: string) {
  const root = folder(t);
  const file = join(root, 'svc.yaml');
  writeFileSync(file, text);
  const env = { SVC_HOME: join(root, 'home') };
  return {
    root,
    file,
    env,
    set: (name: string, value: string) => setKey({ file, env, name, text: value }),
    read: () => readFileSync(file, 'utf8'),
  };
}

test('comments, order and quotes survive a change', (t) => {
  const { set, read } = workspace(t, TEXT);
  assert.equal(set('agents.timeout_sec', '1800').config.agents.timeout_sec, 1800);
  assert.equal(read(), TEXT.replace('5 # five', '1800 # five'));
});

test('a key in a section that is missing or empty is added', (t) => {
  const { set, read, file, env } = workspace(t, TEXT);
  set('policy.actors', '[alice, bob]');
  set('bus.retain_acked', '48h');
  set('agents.cmds.other', 'other --flag "a b" < {{prompt_file}}');
  const { config } = loadConfig({ file, env });
  assert.deepEqual(config.policy.actors, ['alice', 'bob']);
  assert.equal(config.bus.retain_acked, '48h');
  assert.equal(config.agents.cmds.other, 'other --flag "a b" < {{prompt_file}}');
  assert.match(read(), /# nothing yet/);
  assert.match(read(), /# why so long/);
});

test('a key of text takes the text literally', (t) => {
  const { set } = workspace(t, '');
  assert.equal(set('project.name', '42').config.project.name, '42');
  assert.equal(set('project.name', 'true').config.project.name, 'true');
  assert.equal(set('project.name', '"quoted"').config.project.name, 'quoted');
  assert.equal(set('project.name', '# not a comment: x').config.project.name, '# not a comment: x');
  assert.equal(set('webhook.require_approval', 'false').config.webhook.require_approval, false);
});

test('null removes a key', (t) => {
  const { set, read } = workspace(t, TEXT);
  assert.equal(set('agents.timeout_sec', 'null').config.agents.timeout_sec, 600);
  assert.doesNotMatch(read(), /timeout_sec/);
});

test('a change that the rules refuse leaves the file as it was', (t) => {
  const { set, read, root } = workspace(t, TEXT);
  for (const [key, value] of [
    ['agents.timeout_sec', 'soon'],
    ['agents.default_preset', 'nobody'],
    ['policy.mode', 'allowlist'],
    ['agents.timout_sec', '5'],
    ['agents.cmds.bad', 'bad'],
    ['agents.__proto__', '{}'],
    ['agents.cmds.__proto__', 'x {{prompt}}'],
    ['policy.actors', '[open'],
  ] as const) {
    assert.throws(() => set(key, value), { code: 'config_invalid' }, key);
  }
  assert.equal(read(), TEXT);
  assert.deepEqual(readdirSync(root), ['svc.yaml']);
});

test('an unknown key names the nearest one', () => {
  assert.throws(() => resolveKeyPath('agents.timout_sec'), /did you mean agents\.timeout_sec\?/);
  assert.deepEqual(resolveKeyPath('agents.cmds.mine'), ['agents', 'cmds', 'mine']);
  assert.deepEqual(resolveKeyPath('context.guidance'), ['context', 'guidance']);
});

test('the mode, a symbolic link and the line endings stay', { skip: process.platform === 'win32' }, (t) => {
  const { file, root, env } = workspace(t, TEXT.replaceAll('\n', '\r\n'));
  chmodSync(file, 0o640);
  const link = join(root, 'link.yaml');
  symlinkSync(file, link);
  setKey({ file: link, env, name: 'agents.timeout_sec', text: '9' });
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.equal(statSync(file).mode & 0o777, 0o640);
  assert.equal(readFileSync(file, 'utf8'), TEXT.replace('5 # five', '9 # five').replaceAll('\n', '\r\n'));
});

test('a file of comments only takes its first key', () => {
  assert.equal(
    setYamlValue('# only words\n', ['ui', 'addr'], '127.0.0.1:1'),
    '# only words\nui:\n  addr: 127.0.0.1:1\n',
  );
});

test('only the lines of the key change, in any surroundings', () => {
  const cases: [before: string, path: string, value: unknown, after: string][] = [
    ['a:\n    b:   1   # one\n    c: 2\n', 'a.b', 5, 'a:\n    b: 5   # one\n    c: 2\n'],
    ['a:\n  b: 1\n  #c: 2\n\nd: 3\n', 'a.e', 'x', 'a:\n  b: 1\n  e: x\n  #c: 2\n\nd: 3\n'],
    ['a:\n  # all\n  #b: 1\n\nd:\n', 'a.b', 2, 'a:\n  b: 2\n  # all\n  #b: 1\n\nd:\n'],
    ['a: # why\nd: 1\n', 'a.b.c', [1], 'a: # why\n  b:\n    c:\n      - 1\nd: 1\n'],
    [
      'a:\n  b:\n\n    # of b\n    #c: 1\n\n  # of d\n',
      'a.e',
      1,
      'a:\n  b:\n\n    # of b\n    #c: 1\n  e: 1\n\n  # of d\n',
    ],
    ['a: 1', 'b', 2, 'a: 1\nb: 2\n'],
    ['a:\n  b: |\n    one\n    two\n\n  c: 1\n', 'a.b', 'x', 'a:\n  b: x\n\n  c: 1\n'],
    ['a:\n  b:\n    - 1 # x\n    - 2\n# end\n', 'a.b', [3], 'a:\n  b:\n    - 3\n# end\n'],
    ['a:\n  b: {c: 1} # flow\n', 'a.b', { d: 2 }, 'a:\n  b:\n    d: 2 # flow\n'],
    ['a: {b: 1} # flow\n', 'a.c', 2, 'a: {b: 1, c: 2} # flow\n'],
    ['# head\na:\n  # of b\n  b: 1 # x\n  c: 2\n', 'a.b', null, '# head\na:\n  # of b\n  c: 2\n'],
    ['a:\n  b: 1\n', 'a.b', null, 'a:\n'],
    ['a: 1\n', 'b.c', null, 'a: 1\n'],
  ];
  for (const [before, path, value, after] of cases) {
    assert.equal(setYamlValue(before, path.split('.'), value), after, before);
  }
});

test('every key can be set in a copy of the example, and no comment is lost', (t) => {
  const example = renderExampleYaml();
  const comments = (text: string): string[] => text.split('\n').filter((line) => /^\s*#(?!#)/.test(line));
  for (const { key, type, default: standard } of describeKeys()) {
    const value =
      standard ?? (type.includes('bool') ? false : type === '*int' ? 0 : type.startsWith('[]') ? [] : {});
    const text = setYamlValue(example, key.split('.'), value);
    assert.deepEqual(comments(text), comments(example), key);
    assert.equal(load(t, text).sources.get(key), 'workspace', key);
  }
});
