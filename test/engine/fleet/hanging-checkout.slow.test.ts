import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { awaitEnd, dispatch, makeFleet, writeScript } from '../../support/fleet.ts';
import { isRunning } from '../../support/processes/processes.ts';
import { until } from '../../support/wait.ts';

it('svc stop ends a checkout that hangs on another machine, and leaves nothing of it there or here', async (t) => {
  const fleet = await makeFleet({ hosted: false }, { flags: ['--share', 'workspace'] });
  t.after(fleet.close);
  const { ws, box } = fleet;
  const pids = join(box.home, 'pids');
  const listFilters = (): number[] =>
    existsSync(pids)
      ? readFileSync(pids, 'utf8').split('\n').filter(Boolean).map(Number).filter(isRunning)
      : [];
  ws.repository.commit({ '.gitattributes': '*.bin filter=slow\n', 'a.bin': 'x\n' }, 'a file with a filter');
  writeFileSync(
    join(box.home, '.gitconfig'),
    `[filter "slow"]\n\tsmudge = "echo $$ >> '${pids}'; exec sleep 3600"\n\tclean = cat\n`,
  );
  const client = await ws.connect();
  const { session } = await dispatch(client, { body: writeScript('no-change'), on: 'box2' });
  await until(() => listFilters().length > 0, 'the filter');
  assert.equal((await ws.svc(['stop', session])).code, 0);
  const { failure } = await awaitEnd(client, session);
  assert.equal(failure?.code, 'cancelled');
  await until(() => listFilters().length === 0, 'the end of the filter');
  await until(() => box.listWorktrees().length === 0, 'the end of the worktree');
  assert.equal(ws.repository.git('branch', '--list', 'svc/*'), '');
});
