import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { createMachineStarts } from '../../../engine/fleet/start-machines.ts';
import { splitCommand } from '../../../engine/workers/agents/template.ts';
import { fakeClock } from '../../support/clock.ts';
import { until } from '../../support/wait.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

/** Creates the starts of pools by scripts in a scratch folder. */
function makeStarts(commands: Record<string, string>) {
  const root = temporaryFolder('svc-starts-');
  const clock = fakeClock();
  const failed: string[] = [];
  let invited = 0;
  const starts = createMachineStarts({
    ...{ clock, log: pino({ enabled: false }), data: root, root, splitWords: splitCommand },
    prepareCommand: async (argv) => ({
      argv: [...argv],
      env: { PATH: process.env.PATH ?? '' },
      end: async () => undefined,
    }),
    findStart: (pool) => commands[pool] ?? '',
    async invite(pool) {
      if (pool === 'unjoined') throw new Error('this fleet has no broker');
      invited += 1;
      return `line-${invited}`;
    },
    onFailed: (pool, problem) => failed.push(`${pool}: ${problem}`),
  });
  const read = (name: string): string => {
    const file = join(root, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  return { root, clock, failed, starts, read };
}

test('a start command gets the pool, the number and one line for each, of which nothing is left', async (t) => {
  const { root, clock, failed, starts, read } = makeStarts({ gpu: 'sh start.sh' });
  t.after(starts.close);
  writeFileSync(
    join(root, 'start.sh'),
    'echo "$SVC_POOL $SVC_WANTED" >> out; cat "$SVC_JOIN_FILE" >> out; echo "$SVC_JOIN_FILE" > file',
  );
  starts.want('other', 1);
  starts.want('gpu', 2);
  starts.want('gpu', 2);
  await until(() => read('file') !== '' && !existsSync(read('file').trim()), 'the end of the command');
  assert.equal(read('out'), 'gpu 2\nline-1\nline-2\n');
  starts.want('gpu', 1);
  clock.advance(60_000);
  await until(() => {
    starts.want('gpu', 12);
    return read('out').includes('gpu 12');
  }, 'the second start');
  await until(() => read('out').split('\n').length === 3 + 11 + 1);
  assert.deepEqual(failed, []);
});

test('a start command that fails is reported, and run again later after each failure', async (t) => {
  const { clock, failed, starts } = makeStarts({
    gpu: 'sh -c "exit 3"',
    unjoined: 'true',
    none: 'no-such-program-here',
  });
  t.after(starts.close);
  const want = (pool: string, count: number): Promise<unknown> =>
    until(() => {
      starts.want(pool, 1);
      return failed.length === count;
    });
  await want('gpu', 1);
  clock.advance(59_000);
  starts.want('gpu', 1);
  await want('none', 2);
  await want('unjoined', 3);
  assert.deepEqual(failed, [
    'gpu: the command exited with 3',
    'none: the command could not be started: ENOENT',
    'unjoined: this fleet has no broker',
  ]);
  clock.advance(1000);
  await want('gpu', 4);
  clock.advance(60_000);
  starts.want('gpu', 1);
  assert.equal(failed.length, 4, 'the second pause is longer');
});
