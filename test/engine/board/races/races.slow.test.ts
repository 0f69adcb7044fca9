import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type EngineClient, nameTaskState } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

/** Writes and commits its own file; its prompt says who fails and who waits for a file. */
const RACER = `#!/bin/sh
case "$2" in *"fail-$1"*) exit 3;; esac
case "$2" in *"wait-$1 "*) file=\${2#*wait-$1 }; file=\${file%% *}; while [ ! -e "$file" ]; do sleep 0.05; done;; esac
case "$2" in *"done-$1"*) svc task done "$SVC_TASK";; esac
case "$2" in *"hold "*)
  file=\${2#*hold }; case "$2" in *"relock "*) file=\${2#*relock };; esac; file=\${file%% *}
  svc lock acquire shared > "$file-$1" 2>&1 && svc ledger claim plan.md 1 >> "$file-$1" 2>&1; echo "exit $?" >> "$file-$1"
  while [ ! -e "$file" ]; do sleep 0.05; done;;
esac
echo "$1" > "$1.txt"
git add -A && git commit -qm "by $1"
`;

describe('races', () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  let folder: string;
  before(async () => {
    folder = temporaryFolder();
    const script = join(folder, 'racer.sh');
    writeFileSync(script, RACER);
    const of = (name: string): string => `sh '${script}' ${name} {{prompt}}`;
    ws = await makeWorkspace({ commands: { red: of('red'), green: of('green'), blue: of('blue') } });
    client = await ws.connect();
  });
  after(async () => {
    await ws.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const compare = (task: string) => client.call('task.compare', { id: task });
  const kinds = async (task: string): Promise<string[]> =>
    (await client.call('task.show', { id: task })).timeline.map(({ kind }) => kind);
  const fails = (code: string, message: RegExp) => (error: unknown) => {
    const { code: found, message: text } = error as { code: string; message: string };
    assert.deepEqual([found, message.test(text)], [code, true], text);
    return true;
  };
  async function race(prompt: string, agents = ['red', 'green', 'blue']) {
    const { task_id: id } = await client.call('task.add', { title: 'A race', body: prompt });
    const begun = await client.call('task.race', { id, agents });
    return { id, sessions: begun.sessions.map((each) => each.session_id) };
  }
  const hasEnded = (task: string) =>
    until(async () => (await compare(task)).sessions.every(({ state }) => state === 'ended'));
  const hasBranch = (session: string) =>
    ws.repository.git('for-each-ref', `refs/heads/svc/${session}`) !== '';

  test('rivals start from one commit under one decision, one is promoted, and the others are kept', async () => {
    const file = join(folder, 'go');
    const { id, sessions } = await race(`wait-blue ${file} `, ['red', 'blue']);
    await until(async () => (await compare(id)).race.base_commit !== null);
    ws.repository.commit({ 'moved.txt': 'the base has moved on\n' }, 'moved');
    const joined = await client.call('task.run', { id, agent: 'green' });
    assert.equal(joined.task_id, id);
    await assert.rejects(
      client.call('task.run', { id, agent: 'green', name: 'w', inplace: true }),
      fails('fields_invalid', /omit name, inplace/),
    );
    writeFileSync(file, '');
    await hasEnded(id);
    const { race: ready, sessions: rows, task } = await compare(id);
    assert.deepEqual([ready.state, task.status, task.session_id], ['open', 'running', null]);
    const { tasks: listed } = await client.call('task.list', { ids: [id] });
    assert.deepEqual(
      listed.map((each) => nameTaskState(each)),
      ['pick one'],
    );
    assert.equal(new Set(rows.map((each) => each.base_commit)).size, 1);
    assert.equal(new Set(rows.map((each) => each.decision_id)).size, 1);
    assert.deepEqual(
      rows.map((each) => [each.agent, each.files, each.insertions, each.failure]),
      [
        ['red', 1, 1, null],
        ['blue', 1, 1, null],
        ['green', 1, 1, null],
      ],
    );
    const { decision } = await client.call('decision.show', { id: rows[0]?.decision_id ?? '' });
    assert.deepEqual(decision.race, ['red', 'blue', 'green']);

    // During a race the task cannot be marked, dispatched or assigned otherwise.
    await assert.rejects(client.call('task.done', { id }), fails('conflict', /being raced/));
    await assert.rejects(client.call('task.run', { id }), fails('conflict', /being raced/));
    await assert.rejects(client.call('task.assign', { id, agent: 'red' }), fails('conflict', /being raced/));
    const [red = '', blue = ''] = sessions;
    const promoted = await Promise.allSettled([
      client.call('worktree.promote', { session: red }),
      client.call('worktree.promote', { session: blue }),
    ]);
    assert.deepEqual(promoted.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const winner = promoted[0]?.status === 'fulfilled' ? red : blue;
    const others = rows.map((each) => each.session_id).filter((each) => each !== winner);
    const after = await compare(id);
    assert.deepEqual(
      [after.race.state, after.race.winner, after.task.status, after.task.session_id],
      ['promoted', winner, 'done', winner],
    );
    for (const each of others) {
      assert.equal(hasBranch(each), false);
      const refs = ws.repository.git('for-each-ref', `refs/svc/pruned/svc/${each}`);
      assert.notEqual(refs, '');
    }

    await client.call('worktree.undo', { session: winner });
    const reopened = await compare(id);
    assert.deepEqual([reopened.race.state, reopened.task.status], ['open', 'running']);
    const [second = ''] = others;
    await client.call('worktree.restore', { session: second });
    await client.call('worktree.promote', { session: second });
    const end = await compare(id);
    assert.deepEqual([end.race.winner, end.task.status], [second, 'done']);
    assert.equal(hasBranch(winner), false);
  });

  test('a failed rival leaves the race to the others; when all fail the race is lost and can run again', async () => {
    const first = await race('fail-red', ['red', 'green']);
    await hasEnded(first.id);
    assert.deepEqual(
      (await compare(first.id)).sessions.map(({ failure }) => failure?.code ?? null),
      ['exit_code', null],
    );
    assert.equal((await compare(first.id)).race.state, 'open');

    const second = await race('fail-red fail-green', ['red', 'green']);
    await until(async () => (await compare(second.id)).race.state === 'lost');
    const { task } = await compare(second.id);
    assert.deepEqual([task.status, task.failure?.code], ['failed', 'race_lost']);
    const again = await client.call('task.race', { id: second.id, agents: ['red', 'red'] });
    assert.deepEqual([again.task.attempt, again.sessions.map(({ agent }) => agent)], [2, ['red', 'red']]);
    await client.call('task.cancel', { id: second.id });
    await hasEnded(second.id);
    const cancelled = await compare(second.id);
    assert.deepEqual([cancelled.race.state, cancelled.task.failure?.code], ['cancelled', 'cancelled']);
  });

  test('a worker that marks the task marks only its own work', async () => {
    const { id } = await race('done-red', ['red', 'green']);
    await hasEnded(id);
    const { race: open, task, sessions: rows } = await compare(id);
    assert.deepEqual(
      rows.map((each) => each.own_word),
      ['done', null],
    );
    assert.deepEqual([open.state, task.status], ['open', 'running']);
    await client.call('task.cancel', { id });
  });

  test('a race does not start with an unknown agent, or in one folder', async () => {
    const { task_id: id } = await client.call('task.add', { title: 'Never raced' });
    await assert.rejects(
      client.call('task.race', { id, agents: ['red', 'nobody'] }),
      fails('unknown_agent', /nobody/),
    );
    await assert.rejects(compare(id), fails('not_found', /never raced/));
    const running = await client.call('task.add', { title: 'wait-red /nowhere ', agent: 'red' });
    await client.call('task.run', { id: running.task_id });
    await assert.rejects(
      client.call('task.race', { id: running.task_id, agents: ['red', 'green'] }),
      fails('conflict', /cannot be/),
    );
    await client.call('task.cancel', { id: running.task_id });
  });

  test('rivals hold the same path and item, each for its own copy, and no one else does', async () => {
    const file = join(folder, 'held');
    ws.repository.write('plan.md', '- [ ] the only item\n');
    const { id, sessions } = await race(`hold ${file} `, ['red', 'green']);
    const words = (name: string): string =>
      existsSync(`${file}-${name}`) ? readFileSync(`${file}-${name}`, 'utf8') : '';
    await until(() => ['red', 'green'].every((name) => words(name).includes('exit')));
    for (const name of ['red', 'green']) assert.match(words(name), /holds shared until[\s\S]*exit 0\n$/);
    const holders = async (): Promise<string[]> =>
      (await client.call('lock.status', { path: 'shared' })).locks.map(({ holder }) => holder);
    assert.deepEqual(await holders(), sessions);
    const { items } = await client.call('ledger.show', { ledger: 'plan.md' });
    assert.deepEqual([...(items[0]?.holder ?? '').split(', ')].sort(), [...sessions].sort());
    await assert.rejects(
      client.call('lock.acquire', { holder: 'me', path: 'shared/x' }),
      fails('lock_held', /holds shared until/),
    );
    await assert.rejects(
      client.call('task.claim', { holder: 'me', ledger: 'plan.md', item: 1 }),
      fails('item_held', /is held by s-/),
    );
    const [red = '', green = ''] = sessions;
    await client.call('worker.kill', { session: red });
    await until(async () => (await holders()).length === 1);
    assert.deepEqual(await holders(), [green]);
    await assert.rejects(
      client.call('worker.resume', { session: red }),
      fails('conflict', /^s-\d+ is part of a race for t-\d+, and cannot be run again$/),
    );
    writeFileSync(file, '');
    await hasEnded(id);
    assert.deepEqual(await holders(), []);

    // A follow-up continues the race, including its locks.
    for (const session of sessions)
      await client.call('worker.follow_up', { session, prompt: `hold relock ${file}-again now` });
    await until(async () => (await holders()).length === 2);
    const next = (await holders()).at(-1) ?? '';
    writeFileSync(`${file}-again`, '');
    await until(async () => (await holders()).length === 0);
    await until(async () => (await client.call('session.show', { session: next })).state === 'ended');
    await client.call('worktree.promote', { session: next });
    assert.equal((await compare(id)).task.status, 'done');
  });

  test('a race can wait for a decision, which covers every agent', async () => {
    const { task_id: id } = await client.call('task.add', { title: 'Held', body: 'held' });
    const held = await client.call('task.race', { id, agents: ['red', 'green'], hold: true });
    const first = held.decision?.decision_id ?? '';
    assert.deepEqual(
      [held.sessions, held.decision?.state, held.decision?.race],
      [[], 'pending', ['red', 'green']],
    );
    await client.call('decision.deny', { id: first, reason: 'no' });
    assert.equal((await client.call('task.show', { id })).task.failure?.code, 'denied');

    const again = await client.call('task.race', { id, agents: ['red', 'blue'], hold: true });
    assert.notEqual(again.decision?.hash, held.decision?.hash);
    const shown = await client.call('decision.show', { id: again.decision?.decision_id ?? '' });
    assert.deepEqual(
      shown.plan?.race?.map(({ agent }) => agent),
      ['red', 'blue'],
    );
    await client.call('decision.approve', { id: again.decision?.decision_id ?? '' });
    assert.deepEqual(
      (await compare(id)).sessions.map(({ agent }) => agent),
      ['red', 'blue'],
    );
    await hasEnded(id);
    assert.ok((await kinds(id)).includes('race_changed'));
  });

  test('a race survives kill -9: while it runs, and between the promotion and the end of the others', async () => {
    const file = join(folder, 'later');
    const { id, sessions } = await race(`wait-green ${file} `, ['red', 'green']);
    const [red = '', green = ''] = sessions;
    await until(async () => (await compare(id)).sessions[0]?.state === 'ended');
    await ws.killDaemon();
    client = await ws.connect();
    assert.deepEqual((await compare(id)).sessions[0]?.state, 'ended');
    const promoted = await client.call('worktree.promote', { session: red });
    assert.deepEqual(promoted.discarded, [green]);
    await ws.killDaemon();
    client = await ws.connect();
    await until(async () => (await compare(id)).sessions[1]?.branch_state === 'discarded');
    const { race: over, task, sessions: rows } = await compare(id);
    assert.deepEqual([over.state, over.winner, task.status], ['promoted', red, 'done']);
    assert.equal(rows[1]?.stop_reason, 'cancelled');
    assert.equal(existsSync(file), false);
  });
});
