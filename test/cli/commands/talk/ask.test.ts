import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import type { Ask, WireValue } from '../../../../engine/index.ts';
import { settled, until } from '../../../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc ask', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
  });
  after(() => ws.close());

  interface Asking {
    child: ChildProcess;
    id: number;
    out(): string;
    err(): string;
    ended: Promise<number | null>;
  }

  /** A command that waits; resolves once it has printed what it waits for. */
  async function waits(...args: string[]): Promise<Asking> {
    const child = spawn(process.execPath, [SVC, 'ask', 'open', ...args], { cwd: ws.root, env: ws.env });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [, id] = await until(() => /^ask (\d+) waits for an answer from the Chair, until /m.exec(err));
    return { child, id: Number(id), out: () => out, err: () => err, ended };
  }
  const shown = async (id: number) =>
    (await ws.svc(['ask', 'show', String(id), '--json'])).json<WireValue<Ask>>();

  test('open waits, and prints only the answer on standard output', async () => {
    const asking = await waits('Which', 'one?', '--option', 'left', '-o', 'right', '--context', 'a fork');
    const listed = await ws.svc(['ask', 'list']);
    assert.match(listed.stdout, new RegExp(`^${asking.id}\topen\t-\tchair\t.*\tWhich one\\?$`, 'm'));
    const refused = await ws.svc(['ask', 'answer', String(asking.id), 'straight on']);
    assert.deepEqual([refused.code, /one of "left", "right"/.test(refused.stderr)], [2, true]);
    const answered = await ws.svc(['ask', 'answer', String(asking.id), '2']);
    assert.match(answered.stdout, new RegExp(`^ask ${asking.id} is answered by .+: right\n$`));
    assert.deepEqual([await settled(asking.ended), asking.out()], [0, 'right\n']);
    const late = await ws.svc(['ask', 'answer', String(asking.id), 'left', '--json']);
    assert.deepEqual([late.code, late.json<{ error: { code: string } }>().error.code], [5, 'ask_closed']);
    const text = await ws.svc(['ask', 'show', String(asking.id)]);
    assert.match(text.stdout, /^ask +\d+ answered$/m);
    assert.match(text.stdout, /^Which one\?\n\na fork\n {2}1\. left\n {2}2\. right\n\nanswer\n {2}right$/m);
    assert.match((await ws.svc(['ask', 'list'])).stderr, /no open questions/);
  });

  test('open exits with code 1 when no one answered', async () => {
    const { code, stdout, stderr } = await ws.svc(['ask', 'open', 'Anyone?', '--timeout', '1']);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^ask \d+: timeout, no answer$/m);
    const json = await ws.svc(['ask', 'open', 'Anyone?', '--timeout', '1', '--json']);
    assert.deepEqual([json.code, json.json().status, json.json().answer], [1, 'timeout', null]);
  });

  test('an interrupted open leaves the question open and prints its number', async () => {
    const asking = await waits('Do you have a moment?');
    asking.child.kill('SIGINT');
    assert.equal(await settled(asking.ended), 5);
    assert.match(
      asking.err(),
      new RegExp(`hint: ask ${asking.id} stays open until .* svc ask list shows it`),
    );
    assert.equal((await shown(asking.id)).status, 'open');
    assert.equal((await ws.svc(['ask', 'answer', String(asking.id), 'now I have'])).code, 0);
    assert.equal((await shown(asking.id)).answer, 'now I have');
  });

  test('open keeps waiting when the daemon is killed', async () => {
    const asking = await waits('Will you come back?');
    await ws.killDaemon();
    assert.equal((await ws.svc(['ask', 'answer', String(asking.id), 'I did'])).code, 0);
    assert.deepEqual([await settled(asking.ended), asking.out()], [0, 'I did\n']);
  });

  test('open with --no-wait returns immediately; a number that is itself an option chooses that option', async () => {
    const options = ['-o', '3', '-o', '2', '-o', '1'];
    const asked = await ws.svc(['ask', 'open', 'How many?', ...options, '--no-wait', '--json']);
    assert.equal(asked.code, 0, asked.stderr);
    const { id, status } = asked.json<WireValue<Ask>>();
    assert.equal(status, 'open');
    await ws.svc(['ask', 'answer', String(id), '1']);
    assert.equal((await shown(id)).answer, '1');
  });

  test('answer accepts a place in the code', async () => {
    const text = await ws.svc(['ask', 'open', 'Where?', '--no-wait']);
    const id = /^ask (\d+) waits for chair;/.exec(text.stdout)?.[1] ?? assert.fail(text.stdout);
    const answered = await ws.svc(['ask', 'answer', id, 'there', '--path', 'README.md', '--line', '1']);
    assert.match(answered.stdout, /: there \(README\.md:1\)\n$/);
  });

  test('missing asks are named, and workers cannot answer', async () => {
    assert.equal((await ws.svc(['ask', 'show', '999'])).code, 4);
    assert.equal((await ws.svc(['ask', 'show', 'nonsense'])).code, 4);
    assert.equal((await ws.svc(['ask', 'answer', '999', 'yes'])).code, 4);
    assert.equal((await ws.svc(['ask', 'open', 'Who?', '--to-session', 's-99'])).code, 4);
    assert.equal((await ws.svc(['ask', 'open', 'Who?', '--to-project', 'nope'])).code, 2);
    assert.equal((await ws.svc(['ask', 'open', ' '])).code, 2);
    const asked = (await ws.svc(['ask', 'open', 'May I?', '--no-wait', '--json'])).json<WireValue<Ask>>();
    const asWorker = { env: { SVC_RUN_ID: 'of another workspace' } };
    assert.equal((await ws.svc(['ask', 'answer', String(asked.id), 'yes'], asWorker)).code, 3);
  });
});
