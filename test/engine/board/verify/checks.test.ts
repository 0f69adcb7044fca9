import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Verification, WireValue } from '../../../../engine/index.ts';
import { ended, openHere, started } from '../../../support/agents/strict.ts';
import { until } from '../../../support/wait.ts';
import type { EngineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

type Shown = WireValue<Verification>;

const MAKES = 'echo made by $SVC_SESSION > made.txt && git add made.txt && git commit -qm made';
const work = (...lines: string[]): string =>
  ['work', ...lines.map((each) => `#agent: run ${each}`), '#agent: no-change'].join('\n');

describe("the repository's own checks", () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace({ yaml: 'guard: { profile: bring, checks: ["sh check.sh"] }\n' });
    ws.repository.commit({ 'check.sh': 'test -f made.txt && ! test -f bad.txt\n' }, 'a check');
    ({ here } = await openHere(ws));
  });
  after(async () => {
    await here.end();
    await ws.close();
  });
  const show = (session: string): Promise<Shown> => here.call('verify.status', { session });
  const settled = (session: string): Promise<Shown> =>
    until(async () => {
      const shown = await show(session);
      return shown.rerun_state === null && shown;
    });
  async function worked(text: string): Promise<string> {
    const session = await started(here, text);
    await ended(here, session);
    return session;
  }
  const configure = async (guard: string, agrees = true): Promise<void> => {
    const file = join(ws.root, 'svc.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^guard: .*$/m, `guard: ${guard}`));
    if (agrees) await ws.agree();
    await here.call('engine.reload');
  };

  test('the checks run after a run that reported nothing, in a clean checkout, and are its evidence', async () => {
    const session = await worked(work(MAKES));
    const shown = await settled(session);
    assert.deepEqual([shown.state, shown.reasons, shown.reported_at], ['verified', [], null]);
    assert.deepEqual(
      shown.rerun?.results.map(({ command, exit_code, agrees }) => [command, exit_code, agrees]),
      [['sh check.sh', 0, true]],
    );
    assert.deepEqual((await here.call('worktree.promote', { session })).warnings, []);
  });

  test("failing checks disagree, next to the worker's report, which is run once", async () => {
    const session = await worked(
      work(
        `${MAKES} && touch bad.txt && git add . && git commit -qm bad`,
        "svc verify report --passed 'true'",
      ),
    );
    const shown = await settled(session);
    assert.equal(shown.state, 'disagrees');
    assert.deepEqual(shown.reasons, ["the repository's own check ended with exit code 1: sh check.sh"]);
    assert.deepEqual(
      shown.rerun?.results.map(({ command, agrees }) => [command, agrees]),
      [
        ['true', true],
        ['sh check.sh', false],
      ],
    );
  });

  test('the checks do not run for a run that changed nothing, nor before a person has agreed to them', async () => {
    const idle = await show(await worked(work('true')));
    assert.deepEqual([idle.state, idle.rerun_state, idle.rerun], ['none', null, null]);
    await configure('{ profile: bring, checks: ["touch /nowhere/to/be/made"] }', false);
    assert.deepEqual((await show(idle.session_id)).checks, ['sh check.sh']);
    await configure('{ profile: bring, checks: ["sh check.sh"] }');
  });

  test('the checks run under another profile on request', async () => {
    await configure('{ profile: lite, checks: ["sh check.sh"] }');
    const session = await worked(work(MAKES));
    assert.deepEqual([(await show(session)).state, (await show(session)).rerun_state], ['none', null]);
    const { rerun_hash: hash } = await show(session);
    await configure('{ profile: lite, checks: ["sh check.sh", "true"] }');
    await assert.rejects(here.call('verify.rerun', { session, hash: hash! }), { code: 'conflict' });
    await configure('{ profile: lite, checks: ["sh check.sh"] }');
    assert.equal((await here.call('verify.rerun', { session, hash: hash! })).state, 'verified');
    await configure('{ profile: lite, checks: [] }');
    const other = await worked(work('echo x > x.txt && git add x.txt && git commit -qm x'));
    await assert.rejects(here.call('verify.rerun', { session: other }), { code: 'not_found' });
  });
});
