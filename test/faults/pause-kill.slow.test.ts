import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EngineClient, Session, WireValue } from '../../engine/index.ts';
import { claudeSays } from '../engine/dispatch/rig.ts';
import { report } from '../support/processes/faults.ts';
import { makeMortal } from '../support/processes/mortal.ts';
import { until } from '../support/wait.ts';
import { awaitEvent, type SeenEvent } from '../support/workspaces/events.ts';
import { requireLocalPath } from '../support/workspaces/local-path.ts';
import { AGENT, makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

const DAY = 86_400_000;

/** Kills the daemon with SIGKILL at each moment of a pause: each session resumes exactly once, with its state. */
describe('a pause outlives kill -9 of the daemon at any of its moments', () => {
  let ws: TestWorkspace;
  let folder: string;
  before(async () => {
    ws = await makeWorkspace({ commands: { claude: 'claude -- {{prompt}}' } });
    ({ folder } = ws.repository);
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    // A resumed agent waits for `go-on`, so its starter can be killed first.
    writeFileSync(
      join(bin, 'claude'),
      `#!/bin/sh
printf '%s %s\\n' "$SVC_SESSION" "$*" | head -n 1 >>'${folder}/starts'
for last; do :; done
case " $* " in *' -- '*) ;; *) [ -t 0 ] || last=$(cat);; esac
case " $* " in *' --resume='*) until [ -e '${folder}/go-on' ]; do sleep 0.05; done ;; esac
exec '${process.execPath}' '${AGENT}' -- "$last"
`,
      { mode: 0o755 },
    );
    ws.env.PATH = `${bin}:${ws.env.PATH}`;
  });
  after(() => ws.close());

  const startsOf = (id: string): string[] =>
    readFileSync(join(folder, 'starts'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`${id} `));

  /** Leaves an uncommitted change, hits a limit, and ends on request. */
  async function limited(client: EngineClient, until: number): Promise<WireValue<Session>> {
    const body = [
      'do it',
      'no-change',
      'run echo half > half.txt',
      claudeSays.init('c-9'),
      claudeSays.limit(until),
      claudeSays.result({ is_error: true, api_error_status: 429, result: 'usage limit', session_id: 'c-9' }),
      `wait-for ${join(folder, 'end')}`,
    ];
    const task = await client.call('task.add', {
      body: body.join('\n#agent: '),
      agent: 'claude',
    });
    const { session } = await client.call('task.run', { id: task.task_id });
    assert.ok(session);
    return session;
  }

  test('the pause is killed between the limit and its record, when recorded or due, and before and after the new start', async () => {
    const dieAt = makeMortal(ws);
    const session = async (id: string) => (await ws.connect()).call('session.show', { session: id });
    const isPaused = (id: string) => (event: SeenEvent) =>
      event.kind === 'session_paused' && event.session_id === id;

    let client = await ws.connect();
    const long = (await limited(client, Date.now() + DAY)).session_id;
    const short = (await limited(client, Date.now())).session_id;
    const ids = [long, short];
    const said = (id: string) => readFileSync(join(ws.root, '.svc', 'agents', id, 'log'), 'utf8');
    await until(
      async () =>
        (await Promise.all(ids.map(session))).every(
          ({ state, session_id }) => state === 'running' && said(session_id).includes('usage limit'),
        ),
      'both to say their limit',
    );
    const before = new Map(
      await Promise.all(ids.map(async (id) => [id, (await session(id)).worktree] as const)),
    );

    // Reported but not recorded: the agents end while no engine runs.
    await ws.killDaemon();
    writeFileSync(join(folder, 'end'), '');
    await until(() => ws.survivors().length === 0, 'the agents to end alone');
    client = await ws.connect();
    await Promise.all(ids.map((id) => awaitEvent(client, isPaused(id))));
    const { resume_at } = await session(short);

    // Both are recorded. A person resumes the long one: its start is recorded, but its process does not exist yet.
    const unborn = dieAt('before', long);
    await client.call('worker.resume', { session: long });
    await unborn.isDead();
    assert.equal(startsOf(long).length, 1);
    // The short one becomes due while no engine runs. The long one's process exists but is not recorded.
    await until(() => Date.now() > Date.parse(resume_at ?? '1970-01-01'), 'the time of the short one');
    const orphan = dieAt('after', long);
    await ws.connect().catch(() => null);
    await orphan.isDead();

    client = await ws.connect();
    await until(
      async () => (await Promise.all(ids.map(session))).every(({ state }) => state === 'running'),
      'the orphan to be adopted, and the short one to go on',
    );
    writeFileSync(join(folder, 'go-on'), '');
    for (const id of ids) {
      const end = await awaitEvent(
        client,
        (event) => event.session_id === id && ['sealed', 'failed'].includes(event.kind),
      );
      assert.equal(end.kind, 'sealed', JSON.stringify(end.data));
      const { state, runs, worktree, branch, task_id } = await session(id);
      assert.deepEqual([state, runs, worktree], ['ended', 2, before.get(id)]);
      assert.equal(startsOf(id).length, 2, 'it resumed exactly once');
      assert.match(startsOf(id)[1] ?? '', /--resume=c-9 .*You were interrupted\. The reason: /);
      assert.deepEqual(said(id).match(/^\[svc: run .*$/gm)?.length, 1);
      assert.ok(existsSync(join(requireLocalPath(worktree), 'half.txt')));
      assert.equal(
        ws.repository.git('show', `${branch}:half.txt`),
        'half',
        "the first run's work is complete",
      );
      const { task } = await client.call('task.show', { id: task_id });
      assert.deepEqual([task.status, task.resume_at], ['done', null]);
      const kinds = (await client.call('event.list', { limit: 500 })).filter(
        (event) => event.session_id === id,
      );
      for (const kind of ['session_paused', 'sealed'])
        assert.equal(kinds.filter((event) => event.kind === kind).length, 1, kind);
    }
    assert.deepEqual(ws.survivors(), []);
    report(
      'kill -9 of the daemon at four moments of a pause',
      'each session went on once, in its worktree; its task is done, no process is left',
    );
  });
});
