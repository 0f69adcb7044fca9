import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Schedule, Task, WireValue } from '../../../../engine/index.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('schedules and the order of tasks on the command line', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  test('a schedule is added, listed and removed', async () => {
    const added = await ws.svc(['task', 'add', 'Tidy up', '--every', '0 6 * * 1', '--tz', 'europe/berlin']);
    assert.equal(added.code, 0, added.stderr);
    assert.match(
      added.stdout,
      /^schedule 1: Tidy up; its first task comes \d{4}-\d\d-\d\d 06:00 Europe\/Berlin and waits for your approval$/m,
    );
    assert.match(
      (await ws.svc(['schedule', 'list'])).stdout,
      /^1\t0 6 \* \* 1\t[\d-]+ 06:00 Europe\/Berlin\t-\tTidy up$/m,
    );
    assert.match((await ws.svc(['status'])).stdout, /^schedules +1 [\d-]+ 06:00 Europe\/Berlin$/m);
    assert.equal((await ws.svc(['schedule', 'remove', '1'])).stdout.trim(), 'schedule 1 removed: Tidy up');
    const gone = await ws.svc(['schedule', 'remove', '1', 'x']);
    assert.equal(gone.code, 4);
    assert.match(gone.stderr, /no schedule 1\n[\s\S]*no schedule "x"/);
    assert.deepEqual((await ws.svc(['schedule', 'list', '--json'])).json<WireValue<Schedule>[]>(), []);
  });

  test('a schedule without --tz has the zone of the machine', async () => {
    const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const added = await ws.svc(['task', 'add', 'Tidy up', '--every', '@daily', '--json']);
    assert.equal(added.json<WireValue<Schedule>>().tz, zone);
  });

  test('flags that contradict each other are refused, and nothing is created', async () => {
    const refused: readonly (readonly [readonly string[], RegExp])[] = [
      [
        ['--every', '@daily', '--run'],
        /--every excludes --run\nhint: each task of a schedule waits for approval/,
      ],
      [['--every', '@daily', '--after', 't-1'], /--every excludes --after\n/],
      [
        ['--every', '@daily', '--base', 'main', '--keep-worktree'],
        /--every excludes --keep-worktree, --base\n/,
      ],
      [['--tz', 'UTC'], /--tz needs --every/],
      [['--every', '0 6 * *'], /it has 4 of 5 fields\nhint: '0 6 \* \* 1' is every Monday/],
    ];
    for (const [flags, message] of refused) {
      const ran = await ws.svc(['task', 'add', 'x', ...flags]);
      assert.equal(ran.code, 2, flags.join(' '));
      assert.match(ran.stderr, message);
    }
    assert.deepEqual((await ws.svc(['task', 'list', '--json'])).json(), []);
  });

  test('lists and details name the tasks that one waits for, and the way out', async () => {
    const add = async (...words: string[]): Promise<WireValue<Task>> =>
      (await ws.svc(['task', 'add', ...words, '-a', 'scripted', '--json'])).json();
    const first = await add('First');
    const second = await add('Second', '--after', first.task_id);
    const ran = await ws.svc(['task', 'run', second.task_id]);
    const why = `waits for ${first.task_id}, which has not run yet; svc task after ${second.task_id} --none lets it start`;
    assert.ok(ran.stdout.trim().endsWith(why), ran.stdout);
    assert.match(
      (await ws.svc(['task', 'list'])).stdout,
      new RegExp(`\\(after ${first.task_id}\\) Second$`, 'm'),
    );
    const shown = (await ws.svc(['task', 'show', second.task_id])).stdout;
    assert.ok(shown.includes(why) && new RegExp(`^after +${first.task_id}$`, 'm').test(shown), shown);
    assert.ok((await ws.svc(['worker', 'list'])).stdout.includes(why));
    assert.equal((await ws.svc(['task', 'after', second.task_id])).code, 2);
    const freed = await ws.svc(['task', 'after', second.task_id, '--none']);
    assert.equal(freed.stdout.trim(), `${second.task_id} waits for no other task`);
  });
});
