import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../../engine/config/index.ts';
import { folder, load, problems } from './support.ts';

test('a syntax error has its place and never quotes the line', (t) => {
  assert.deepEqual(problems(t, 'a: 1\na: 2\n'), ['svc.yaml:2:1: map keys must be unique']);
  const lines = problems(t, 'ai:\n  passthrough: {anthropic: {api_key: "topsecret}}\n');
  assert.match(lines[0]!, /^svc\.yaml:\d+:\d+: /);
  assert.doesNotMatch(lines.join('\n'), /topsecret/);
});

test('a file that is not a mapping of sections is refused', (t) => {
  for (const text of ['- a\n', 'hello\n', '42\n']) {
    assert.deepEqual(problems(t, text), ['svc.yaml:1:1: expected a mapping of sections']);
  }
  assert.match(problems(t, 'ai: {}\n---\nbus: {}\n')[0]!, /multiple documents/);
});

test('aliases work, and alias bombs and cycles are refused', (t) => {
  const { config } = load(t, 'webhook:\n  templates:\n    a: &a {prompt: hi}\n    b: *a\n');
  assert.equal(config.webhook.templates.b?.prompt, 'hi');
  const ten = (name: string): string => `[${Array(10).fill(`*${name}`).join(',')}]`;
  assert.match(
    problems(t, `a: &a [1]\nb: &b ${ten('a')}\nc: &c ${ten('b')}\nd: &d ${ten('c')}\ne: ${ten('d')}\n`)[0]!,
    /aliases/,
  );
  assert.match(problems(t, 'x: &x [*x]\n')[0]!, /alias/);
  assert.match(problems(t, 'x: *nowhere\n')[0]!, /alias/);
  assert.match(problems(t, '['.repeat(50_000))[0]!, /nested too deeply/);
});

test('names of JavaScript itself are treated as unknown keys', (t) => {
  assert.match(problems(t, 'agents: {__proto__: {timeout_sec: 1}}\n')[0]!, /__proto__: unknown key/);
  assert.match(problems(t, 'constructor: {}\n')[0]!, /constructor: unknown key/);
  assert.match(problems(t, 'agents: {toString: 1}\n')[0]!, /toString: unknown key/);
  assert.equal(({} as Record<string, unknown>).timeout_sec, undefined);
});

test('control characters in a name do not reach the terminal', (t) => {
  assert.deepEqual(problems(t, '"a\\e[31m": 1\n'), ['svc.yaml:1:1 a?[31m: unknown key']);
});

test('a byte order mark and CRLF do not move the place', (t) => {
  assert.match(problems(t, '\uFEFFagents:\r\n  nope: 1\r\n')[0]!, /^svc\.yaml:2:3 /);
});

test('a file that is huge, binary, not a file or missing is refused', (t) => {
  const root = folder(t);
  const file = join(root, 'svc.yaml');
  const message = (): string => {
    try {
      loadConfig({ file, env: { SVC_HOME: root } });
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };
  assert.equal(message(), 'svc.yaml: cannot be read (ENOENT)');
  writeFileSync(file, '#'.repeat(1024 * 1024 + 1));
  assert.equal(message(), 'svc.yaml: is larger than 1 MiB');
  writeFileSync(file, Buffer.from([0x61, 0x3a, 0xff, 0xfe]));
  assert.equal(message(), 'svc.yaml: is not UTF-8 text');
  mkdirSync(join(root, 'folder'));
  assert.throws(
    () => loadConfig({ file: join(root, 'folder'), env: { SVC_HOME: root } }),
    /folder: is not a file/,
  );
});
