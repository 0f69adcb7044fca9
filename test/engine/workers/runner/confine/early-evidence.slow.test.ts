import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ended,
  impossible,
  logOf,
  makeStrict,
  openHere,
  started,
} from '../../../../support/agents/strict.ts';
import { until } from '../../../../support/wait.ts';

test('the evidence of a strict worker is about the commit that it saw, although the repository has that only at the end', {
  skip: impossible ?? false,
}, async (t) => {
  const ws = await makeStrict();
  t.after(ws.close);
  const { here } = await openHere(ws);
  t.after(here.end);
  const pipe = '"$(git rev-parse --git-path objects)/pipe"';
  const script = [
    'echo x > early.txt && git add early.txt && git commit -qm early',
    // Nothing is taken over from a folder with a pipe.
    `mkfifo ${pipe} && svc verify report --passed 'test -f early.txt'; rm ${pipe}`,
  ].map((command) => `#agent: run ${command}`);
  const session = await started(here, ['reports', ...script, '#agent: no-change'].join('\n'));
  assert.equal((await ended(here, session)).failure, null);
  const judged = () => here.call('verify.status', { session });
  await until(
    async () => (await judged()).rerun !== null,
    () => `the rerun: ${logOf(ws, session)}`,
  );
  const { state, head_commit: head } = await judged();
  assert.deepEqual([state, head], ['verified', ws.repository.git('rev-parse', `svc/${session}`)]);
});
