import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { findCommand, loadCommands } from '../../cli/catalogue.ts';
import { HELP_GROUPS } from '../../cli/help-groups.ts';
import { parseArguments } from '../../cli/parse.ts';
import { type Ran, runHere } from '../support/workspaces/command-line.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

/** Splits an example's line as a shell does, up to the part that only the shell uses. */
function splitExample(line: string): string[] {
  const words = line.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? [];
  const shell = words.findIndex((word) => /^[<>|]$/.test(word));
  return words.slice(0, shell === -1 ? undefined : shell).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
}

describe('help', () => {
  const cwd = temporaryFolder();
  after(() => rmSync(cwd, { recursive: true, force: true }));
  const run = (args: readonly string[]): Promise<Ran> => runHere(args, { cwd, env: {}, input: '' });

  test('the version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    assert.equal((await run(['--version'])).stdout, `${version}\n`);
  });

  test('help lists every command once, under the title of its group', async () => {
    const { code, stdout } = await run(['help', '--all']);
    assert.equal(code, 0);
    const titles = stdout.match(/^\w[\w ]*(?=:$)/gm);
    assert.deepEqual(titles, [...HELP_GROUPS]);
    const listed = stdout.split('\n').flatMap((line) => /^ {2}(\S+(?: \S+)?) {2,}\S/.exec(line)?.[1] ?? []);
    const shown = (await loadCommands()).filter(({ hidden }) => !hidden).map(({ name }) => name);
    assert.deepEqual(listed, shown);
  });

  test('help fits a screen: the daily commands, and every other first word under its group', async () => {
    const { code, stdout } = await run(['--help']);
    assert.equal(code, 0);
    assert.equal((await run(['help'])).stdout, stdout);
    const lines = stdout.split('\n');
    assert.ok(lines.length <= 45, `${lines.length} lines`);
    assert.ok(Math.max(...lines.map((line) => line.length)) <= 80);
    const shown = (await loadCommands()).filter(({ hidden }) => !hidden).map(({ name }) => name);
    for (const name of shown) assert.match(stdout, new RegExp(`\\b${name.split(' ')[0]}\\b`));
    for (const group of HELP_GROUPS) {
      const listed = await run(['help', group]);
      assert.equal(listed.code, 0, group);
      assert.match(listed.stdout, new RegExp(`^${group}:\n {2}svc `));
    }
  });

  test('options of another program are passed to it, with or without -- before them', async () => {
    const { command, taken } = (await findCommand(['gateway', 'run'])) ?? assert.fail();
    assert.equal(taken, 2);
    const read = async (...words: string[]) => {
      const { args, json } = await parseArguments(command, words);
      return [json, ...args];
    };
    assert.deepEqual(await read('claude', '-p', 'hi', '--json'), [false, 'claude', '-p', 'hi', '--json']);
    assert.deepEqual(await read('claude', '--', '-p', '--'), [false, 'claude', '-p', '--']);
    assert.deepEqual(await read('codex', 'exec', '--', '-x'), [false, 'codex', 'exec', '--', '-x']);
    assert.deepEqual(await read('--json', 'claude'), [true, 'claude']);
    await assert.rejects(read('--model', 'claude'), { code: 'usage' });
    // Before the dashes, --help and the error format belong to svc.
    const theirs = await run(['gateway', 'run', 'claude', '--', '--help', '--json']);
    assert.deepEqual([theirs.code === 0, theirs.stdout], [false, '']);
    assert.match((await run(['gateway', 'run', 'claude', '--help'])).stdout, /usage: svc gateway run/);
  });

  test('every command has an example', async () => {
    const usual = (await loadCommands()).filter(({ name }) => name !== 'tool call');
    for (const { name } of usual) {
      const { stdout } = await run([...name.split(' '), '--help']);
      assert.match(stdout, /\n\nexamples:\n {2}svc /, name);
    }
  });

  test('the command line accepts every example', async () => {
    for (const { name, examples } of await loadCommands()) {
      assert.ok(examples.length > 0, name);
      for (const example of examples) {
        const words = splitExample(example);
        const found = await findCommand(words.slice(0, 2).filter((word) => !word.startsWith('-')));
        assert.equal(found?.command.name, name, example);
        await assert.doesNotReject(parseArguments(found!.command, words.slice(found!.taken)), example);
      }
    }
  });
});

describe('svc alone without a terminal', () => {
  const cwd = temporaryFolder();
  after(() => rmSync(cwd, { recursive: true, force: true }));
  const run = (args: readonly string[]): Promise<Ran> => runHere(args, { cwd, env: {}, input: '' });

  test('svc without arguments fits one screen: its purpose, the first steps and the way to help', async () => {
    const { code, stdout, stderr } = await run([]);
    assert.deepEqual([code, stderr], [0, '']);
    const lines = stdout.trimEnd().split('\n');
    const height = lines.reduce((sum, line) => sum + Math.ceil(Math.max(1, line.length) / 80), 0);
    assert.ok(height <= 24, `${height} lines:\n${lines.join('\n')}`);
    assert.ok(Math.max(...stdout.split('\n').map((line) => line.length)) <= 80);
    for (const word of ['svc init', 'svc demo', 'svc approve', 'svc --help', 'svc <command> --help'])
      assert.ok(stdout.includes(word), word);
  });

  test('svc without arguments names existing commands, with their options', async () => {
    const { stdout } = await run([]);
    const lines = stdout.split('\n').flatMap((line) => /^ {2}svc (.+?)(?: {2,}|$)/.exec(line)?.[1] ?? []);
    assert.ok(lines.length >= 8);
    for (const line of lines) {
      const words = splitExample(line);
      const found = await findCommand(words.slice(0, 2));
      assert.ok(found, line);
      await assert.doesNotReject(parseArguments(found.command, words.slice(found.taken)), line);
    }
  });

  test('svc without arguments prints only the error when the dashboard or JSON was requested', async () => {
    for (const args of [['dash'], ['--bell']]) {
      const { code, stdout } = await run(args);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    }
    const { code, json } = await run(['--json']);
    assert.equal(code, 2);
    assert.equal(json<{ error: { code: string } }>().error.code, 'usage');
  });
});
