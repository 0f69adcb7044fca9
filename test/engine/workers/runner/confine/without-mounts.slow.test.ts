import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '../../../../../engine/core/platform/index.ts';
import {
  attempts,
  ended,
  impossible,
  logOf,
  makeStrict,
  openHere,
  said,
  started,
} from '../../../../support/agents/strict.ts';
import { until } from '../../../../support/wait.ts';
import { SVC } from '../../../../support/workspaces/workspace.ts';

test('a strict worker whose sandbox has no mounts, as on macOS, works in its files and the engine commits them', {
  skip: impossible ?? false,
}, async (t) => {
  // bubblewrap enforces the rules that seatbelt would get: none of them shows one path in the place of another.
  t.mock.property(platform, 'sandbox', { ...platform.sandbox, canMount: false });
  const ws = await makeStrict();
  t.after(ws.close);
  const tries = {
    'write its worktree': 'echo x > made.txt',
    'read git': 'git log -1 && git status --short && git diff HEAD',
    'write its home and temporary files': 'echo x > "$HOME/x" && echo x > "$TMPDIR/x"',
    'have the identity of its person': 'test "$(git config user.name)" = "A Person"',
    'reach the engine': `${process.execPath} ${SVC} task list`,
    commit: 'git add made.txt && git commit -qm x',
    'write an object': `echo x > "$(git rev-parse --git-common-dir)/objects/x"`,
    'write a hook': `echo x > "$(git rev-parse --git-common-dir)/hooks/pre-commit"`,
    "read the person's key": `cat ${ws.home}/.ssh/id_ed25519`,
    'read the database': `cat ${ws.root}/.svc/svc.db`,
    'write the checkout': `echo x > ${ws.root}/README.md`,
  };
  ws.repository.commit({ 'tries.sh': attempts(tries) }, 'tries');
  const { here } = await openHere(ws);
  t.after(here.end);
  const script = [
    'sh tries.sh',
    `svc verify report --passed 'grep -q x made.txt' --passed 'touch "$HOME/y" made.txt'`,
  ].map((command) => `#agent: run ${command}`);
  const session = await started(here, ['work', ...script, '#agent: no-change'].join('\n'));
  const end = await ended(here, session);
  const log = logOf(ws, session);
  assert.equal(end.failure, null, log);
  const names = Object.keys(tries);
  assert.deepEqual(said(log, 'CAN'), names.slice(0, 5), log);
  assert.deepEqual(said(log, 'CANNOT'), names.slice(5), log);
  assert.equal(ws.repository.git('show', `svc/${session}:made.txt`), 'x');
  // Its tests are run again on the commit that the engine made.
  const judged = () => here.call('verify.status', { session });
  await until(async () => (await judged()).state === 'verified', 'the rerun');
});
