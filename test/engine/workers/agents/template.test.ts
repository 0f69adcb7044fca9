import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACP, HEADLESS, INTERACTIVE, NOTIFY } from '../../../../engine/workers/agents/presets/index.ts';
import {
  checkCommand,
  checkHeadlessCommand,
  checkNotifyCommand,
  INTERACTIVE_PLACEHOLDERS,
  renderCommand,
  splitCommand,
} from '../../../../engine/workers/agents/template.ts';

test('words are split with quotes and backslashes and nothing is expanded', () => {
  const cases: [string, string[]][] = [
    ['a b  c', ['a', 'b', 'c']],
    [' a\tb\nc ', ['a', 'b', 'c']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`a''b "" ''`, ['ab', '', '']],
    [`--x="a b"'c'd`, ['--x=a bcd']],
    [`'a\\b' "a\\"b" "a\\nb" a\\ b`, ['a\\b', 'a"b', 'a\\nb', 'a b']],
    ['$HOME `id` $(id) * ~ {a,b} #x', ['$HOME', '`id`', '$(id)', '*', '~', '{a,b}', '#x']],
    ['a\\\nb', ['ab']],
    ['', []],
  ];
  for (const [template, expected] of cases) assert.deepEqual(splitCommand(template), expected, template);
});

test('an open quote or a lone backslash is an error', () => {
  for (const template of [`a 'b`, `a "b`, `"a\\"`, 'a\\']) {
    assert.throws(() => splitCommand(template), { code: 'config_invalid' }, template);
  }
});

const HOSTILE = [
  '--help',
  '-p',
  'two words',
  `"quoted" 'single' \\back\\`,
  '$(touch /tmp/x) `id` $HOME ; rm -rf / | cat && true > out < in',
  'line\nbreak\r\n\ttab',
  '{{name}} {{prompt}} {{prompt_file}} {{nope}}',
  "$& $1 $$ $` $'",
  '',
  '<',
  'ünïcödé \u{1F600} \u202E',
  'x'.repeat(100_000),
];

test('a prompt with any content stays one argument, byte for byte', () => {
  for (const prompt of HOSTILE) {
    const values = { prompt, name: 'w-1', prompt_file: '/f' };
    assert.deepEqual(renderCommand('agent -p --name={{name}} -- {{prompt}}', values), {
      argv: ['agent', '-p', '--name=w-1', '--', prompt],
    });
    assert.deepEqual(renderCommand('agent --prompt={{prompt}}', values).argv, [
      'agent',
      `--prompt=${prompt}`,
    ]);
    assert.deepEqual(renderCommand(`agent "a {{prompt}} {{name}}"`, values).argv, [
      'agent',
      `a ${prompt} w-1`,
    ]);
  }
});

test('the sign < opens a file as standard input and is not an argument', () => {
  const values = { prompt: 'p', name: 'n', prompt_file: '/a folder/{{name}}' };
  assert.deepEqual(renderCommand('agent run < {{prompt_file}} --last', values), {
    argv: ['agent', 'run', '--last'],
    stdinFile: '/a folder/{{name}}',
  });
  assert.deepEqual(renderCommand(`agent '<' {{prompt_file}}`, values).argv, [
    'agent',
    '<',
    '/a folder/{{name}}',
  ]);
  assert.throws(() => renderCommand('agent <', values), /must be followed/);
  assert.throws(() => renderCommand('agent < a < b', values), /once/);
  assert.throws(() => renderCommand('< a', values), /empty/);
});

test('an unknown or unset placeholder is an error', () => {
  assert.throws(
    () => renderCommand('a {{nope}}', { prompt: 'p' }),
    /unknown placeholder \{\{nope\}\}, allowed: \{\{prompt\}\}/,
  );
  assert.throws(() => renderCommand('a {{prompt}}', {}), { code: 'config_invalid' });
  assert.throws(() => renderCommand('a {{toString}}', { prompt: 'p' }), { code: 'config_invalid' });
  assert.deepEqual(renderCommand(`a '{"x":{"y":1}}' {x}`, {}).argv, ['a', '{"x":{"y":1}}', '{x}']);
});

test('a zero byte is refused before anything is started', () => {
  assert.throws(() => renderCommand('a {{prompt}}', { prompt: 'a\0b' }), { code: 'spawn_failed' });
});

test('a command that would surprise its author is refused', () => {
  const refused: [string, RegExp][] = [
    ['agent', /must contain/],
    ['agent {{ prompt }}', /unknown placeholder/],
    ['agent {{promt}}', /unknown placeholder/],
    ['{{prompt}}', /program itself/],
    ['agent {{prompt}} | tee log', /no shell runs/],
    ['agent {{prompt}} 2>&1', /no shell runs/],
    ['agent {{prompt}} && true', /no shell runs/],
    ['agent <{{prompt_file}}', /space after the </],
    [`sh -c "agent '{{prompt}}'"`, /shell code/],
    [`env X=1 /bin/bash -lc "agent {{prompt}}"`, /shell code/],
    ['  ', /empty/],
  ];
  for (const [template, expected] of refused)
    assert.throws(() => checkHeadlessCommand(template), expected, template);
  for (const template of [
    `sh -c 'agent "$1"' sh {{prompt}}`,
    `agent '|' {{prompt}}`,
    'agent < {{prompt_file}}',
    `sh -c 'agent < {{prompt_file}}'`,
  ]) {
    checkHeadlessCommand(template);
  }
});

test('the built-in presets are nine headless, eleven interactive and two protocol presets', () => {
  assert.equal(Object.keys(HEADLESS).length, 9);
  assert.equal(Object.keys(INTERACTIVE).length, 11);
  assert.equal(Object.keys(ACP).length, 2);
  for (const template of Object.values(HEADLESS)) checkHeadlessCommand(template);
  for (const template of Object.values(INTERACTIVE)) checkCommand(template, INTERACTIVE_PLACEHOLDERS);
  for (const template of Object.values(ACP)) checkCommand(template, []);
  assert.deepEqual(Object.keys(NOTIFY), Object.keys(INTERACTIVE));
  assert.deepEqual(
    Object.entries(NOTIFY)
      .filter(([, { mode }]) => mode !== 'file')
      .map(([preset, { mode, steps }]) => [preset, mode, steps?.length]),
    [['opencode', 'http', 2]],
  );
});

test('a bus delivery command that would run a message as code is refused', () => {
  const refused: [string, RegExp][] = [
    ['sh -c "notify-send {{body}}"', /shell code/],
    ['env X=1 bash -c "echo {{from_agent}}"', /shell code/],
    ['{{body}}', /program itself/],
    ['notify {{prompt}}', /unknown placeholder/],
    [`notify 'open`, /unbalanced/],
    ['  ', /empty/],
  ];
  for (const [template, expected] of refused)
    assert.throws(() => checkNotifyCommand(template), expected, template);
  for (const template of [`sh -c 'notify "$1"' sh {{body}}`, 'notify {{body}}', 'sh -c "beep {{msg_id}}"']) {
    checkNotifyCommand(template);
  }
});
