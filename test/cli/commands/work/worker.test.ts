import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Ask, Task, Verification, WireValue } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

/** Runs what an agent runs from its own shell in a worktree, without any setup. */
describe('a worker at its own command line', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
    ws.repository.write('plan.md', '## Clarify\n- [x] which\n## Steps\n- [ ] build it\n');
  });
  after(() => ws.close());

  const run = (prompt: string, ...more: string[]) =>
    ws.svc(['task', 'add', '-p', '-', '--run', '-f', ...more], { input: `${prompt}\n#agent: no-change` });

  test('a worker finds svc although it is not on the path', async () => {
    const { code, stdout, stderr } = await run('#agent: run svc lock acquire shared.txt && svc --version');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^s-1 holds shared\.txt until/m);
    const plain = await run(
      '#agent: run PATH=/usr/bin:/bin; $(sed -n "s/.*it is .\\(.*svc\\).\\.$/\\1/p" .svc/TASK_BRIEF.md) msg peers',
    );
    assert.equal(plain.code, 0, plain.stderr);
    assert.match(plain.stdout, /^s-2\tworker/m);
  });

  test('progress is shown as a terminal leaves it, and whole with --raw', async () => {
    const { code, stdout } = await run(
      String.raw`#agent: run printf '\033[32mbegin\033[0m\n 1%%\r\033[K 50%%\r100%%\r\nx\033]0;words\007\n'`,
    );
    assert.equal(code, 0);
    const shown = /^begin\n100%\nx\\x1b\]0;words\\x07\n/m;
    assert.match(stdout, shown);
    assert.match((await ws.svc(['worker', 'log', 's-3'])).stdout, shown);
    const raw = /\u001b\[32mbegin\u001b\[0m\n 1%\r\u001b\[K 50%\r100%\r\nx\u001b\]0;words\u0007\n/;
    assert.match((await ws.svc(['worker', 'log', 's-3', '--raw'])).stdout, raw);
  });

  test('a worker asks, claims and reports with the commands of its brief', async () => {
    const running = run(
      [
        'Build it.',
        '#agent: run svc ask open "Keep the name?" -o yes -o no',
        '#agent: run svc ledger claim plan.md 2 && svc ledger show plan.md && svc ledger release plan.md 2',
        '#agent: run svc verify report --met 1 --unmet "has docs" --passed "test -f plan.md" --place svc.yaml -s "built"',
        '#agent: run cat .svc/TASK_BRIEF.md',
      ].join('\n'),
      '--accept=it builds',
      '--accept=has docs',
      '--ledger=plan.md',
    );
    const asks = async () => (await ws.svc(['ask', 'list', '--json'])).json<WireValue<Ask>[]>();
    await until(async () => (await asks()).length === 1);
    const [ask] = await asks();
    assert.equal((await ws.svc(['ask', 'answer', String(ask?.id), '2'])).code, 0);
    const { code, stdout, stderr } = await running;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^no$/m);
    assert.match(stdout, /^s-4 has item 2 until .*: build it$/m);
    assert.match(stdout, /^2\t-\ts-4\t/m);
    assert.match(stdout, /^item 2 of plan\.md is free: build it$/m);
    assert.match(stdout, /^the evidence of s-4 is reported: by the worker only\n {2}not met: has docs$/m);
    const view = (await ws.svc(['verify', 'show', 's-4', '--json'])).json<WireValue<Verification>>();
    assert.deepEqual(
      view.criteria.map(({ criterion, status }) => [criterion, status]),
      [
        ['it builds', 'met'],
        ['has docs', 'not_met'],
      ],
    );
    assert.deepEqual([view.summary, view.tests[0]?.command], ['built', 'test -f plan.md']);
    // The brief describes the same steps.
    assert.match(stdout, /^You are the session s-4\./m);
    assert.match(stdout, /svc ledger claim plan\.md <item>/);
    assert.match(stdout, /svc verify report --met 1 --met 2 /);
    assert.match(stdout, /^1\. it builds\n2\. has docs$/m);
  });

  test('ledgers and criteria appear only where there are some', async () => {
    const { stdout } = await run('#agent: run cat .svc/TASK_BRIEF.md');
    assert.match(stdout, /svc ask open/);
    assert.doesNotMatch(stdout, /ledger|--met|Acceptance/);
    const task = (await ws.svc(['task', 'show', 't-5', '--json'])).json<{ task: WireValue<Task> }>().task;
    assert.equal(task.prompt, '#agent: run cat .svc/TASK_BRIEF.md\n#agent: no-change');
  });
});
