import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SvcError } from '../../../../engine/core/base/errors.ts';
import type { EngineHost, Verification, WireValue } from '../../../../engine/index.ts';
import {
  commandLines,
  ended,
  impossible,
  logOf,
  makeStrict,
  openHere,
  started,
} from '../../../support/agents/strict.ts';
import { until } from '../../../support/wait.ts';
import type { EngineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

type Shown = WireValue<Verification>;
interface Letter {
  kind: string;
  body: string;
  from_session: string | null;
}

const COMMIT = 'echo made by $SVC_SESSION > made.txt && git add made.txt && git commit -qm made';

/** The commands of a worker that commits and then reports these commands as passed. */
const prompt = (commands: string[], before: string[] = []): string =>
  [
    'work',
    ...before.map((each) => `#agent: run ${each}`),
    `#agent: run ${COMMIT}`,
    `#agent: run svc verify report ${commands.map((each) => `--passed '${each}'`).join(' ')}`,
    '#agent: no-change',
  ].join('\n');

describe('under a strict guard', { skip: impossible ?? false }, () => {
  let ws: Awaited<ReturnType<typeof makeStrict>>;
  let here: EngineHere;
  let host: EngineHost;
  before(async () => {
    const carries = { id: 'own', path: '.', setup: ['sh setup.sh'] };
    ws = await makeStrict(`projects: [${JSON.stringify(carries)}]\n`);
    ws.repository.commit(
      { '.gitignore': '.svc/\n*.out\n', 'setup.sh': 'echo ready > setup.out\n' },
      'a setup',
    );
    ({ here, host } = await openHere(ws));
    const { digest } = await here.call('project.show', { id: 'own' });
    await here.call('project.trust', { id: 'own', digest });
  });
  after(async () => {
    await here?.end();
    await ws?.close();
  });

  const show = (session: string): Promise<Shown> => here.call('verify.status', { session });
  const settled = (session: string): Promise<Shown> =>
    until(async () => {
      const shown = await show(session);
      return shown.rerun_state === null && shown;
    });
  async function worked(text: string): Promise<string> {
    const session = await started(here, text);
    const { failure } = await ended(here, session);
    assert.equal(failure, null, logOf(ws, session));
    return session;
  }
  const lettersOf = async (session: string): Promise<Letter[]> =>
    (await here.call('msg.inbox')).messages.filter(({ from_session: from }) => from === session);
  const leftOf = (session: string): string[] =>
    readdirSync(join(ws.root, '.svc', 'agents', session)).filter((name) => name.startsWith('verify-'));

  test("svc reruns a worker's report by itself after a good end, and only then is it verified", async () => {
    const honest = await worked(prompt(['test -f made.txt', 'test -f setup.out']));
    const shown = await settled(honest);
    assert.deepEqual([shown.state, shown.reasons, shown.rerun?.by], ['verified', [], 'svc']);
    assert.equal(shown.rerun?.head, ws.repository.git('rev-parse', `svc/${honest}`));
    const letters = await until(async () => {
      const all = await lettersOf(honest);
      return all.length === 2 && all;
    });
    const bodies = letters.map(({ kind, body }) => `${kind}\n${body}`).sort();
    assert.match(
      bodies[0] ?? '',
      /^handoff\n[\s\S]*- verification: reported \(by the worker only; svc now reruns the tests/,
    );
    assert.match(bodies[1] ?? '', new RegExp(`^note\n# ${honest} verified: .*worktree_promote`, 's'));
    assert.deepEqual(leftOf(honest), []);
    assert.doesNotMatch(ws.repository.git('worktree', 'list'), /verify-/);
    const { warnings } = await here.call('worktree.promote', { session: honest });
    assert.deepEqual(
      warnings.filter((each) => /verified/.test(each)),
      [],
    );
  });

  test('a command that was never run, or passes only with uncommitted files, is detected and not promoted', async () => {
    const lies: [claim: string, before: string[]][] = [
      ['test -f never-made.txt', []],
      ['test -f ignored.out', ['echo x > ignored.out']],
      ['test "$(cat made.txt)" = changed', []],
    ];
    for (const [claim, preparing] of lies) {
      const session = await worked(prompt([claim], preparing));
      const shown = await settled(session);
      assert.equal(shown.state, 'disagrees', claim);
      await assert.rejects(here.call('worktree.promote', { session }), {
        code: 'unverified',
        message: /is not verified \(disagrees: the rerun ended with exit code 1/,
      });
    }
  });

  test('uncommitted work ties the report to another commit', async () => {
    const left = prompt(['test -f made.txt']).replace(
      '#agent: no-change',
      '#agent: run echo x > left.txt\n#agent: no-change',
    );
    const shown = await settled(await worked(left));
    assert.deepEqual([shown.state, shown.rerun?.agrees], ['stale', true]);
    assert.match(shown.reasons.join(), /it was reported at/);
    await assert.rejects(here.call('worktree.promote', { session: shown.session_id }), {
      code: 'unverified',
    });
  });

  test('a report without a test, or of a failed run, is not rerun, and the reason is shown', async () => {
    const none = await worked(`work\n#agent: run svc verify report --summary fine\n#agent: no-change`);
    assert.deepEqual([(await show(none)).rerun_state, (await show(none)).state], [null, 'reported']);
    const failing = await started(here, prompt(['true']).replace('#agent: no-change', '#agent: fail 3'));
    await ended(here, failing);
    assert.deepEqual([(await show(failing)).rerun_state, (await show(failing)).rerun], [null, null]);
    const broken = await worked(prompt(['true'], ['echo "exit 9" > setup.sh && git add setup.sh']));
    const shown = await settled(broken);
    assert.equal(shown.state, 'reported');
    assert.match(
      shown.reasons.join(),
      /^the tests could not be rerun: setup of the project own: .*exit code 9/,
    );
  });

  test('a worker can neither request nor give verification, and moving the branch afterwards undoes it', async () => {
    const tries = ['svc verify rerun s-1', 'svc verify rerun $SVC_SESSION'];
    const session = await worked(
      prompt(
        ['true'],
        tries.map((each) => `${each}; echo code $?`),
      ),
    );
    const log = logOf(ws, session);
    assert.deepEqual(log.match(/^code \d/gm), ['code 3', 'code 3']);
    assert.equal((await settled(session)).state, 'verified');
    const next = ws.repository.git(
      'commit-tree',
      '-p',
      `svc/${session}`,
      '-m',
      'more',
      `svc/${session}^{tree}`,
    );
    ws.repository.git('update-ref', `refs/heads/svc/${session}`, next);
    assert.equal((await show(session)).state, 'stale');
    await assert.rejects(here.call('worktree.promote', { session }), { code: 'unverified' });
  });

  test('one rerun runs at a time; the end of the engine leaves nothing of it, and the next engine runs it', async () => {
    const go = join(ws.root, 'go-on');
    const waits = `test -e ${go} || sleep 98775`;
    const [first, second] = [await worked(prompt([waits])), await worked(prompt([waits]))];
    const sleeping = () => commandLines().filter((line) => /^sleep 98775/.test(line));
    await until(() => sleeping().length > 0);
    await until(async () => (await show(second)).rerun_state === 'waiting');
    assert.deepEqual([(await show(first)).rerun_state, sleeping().length], ['running', 1]);
    assert.match((await show(first)).reasons.join(), /svc is rerunning the reported tests/);
    await assert.rejects(
      here.call('worktree.promote', { session: first }),
      ({ code, hint }: SvcError) =>
        code === 'unverified' && String(hint).includes('once its tests have been rerun'),
    );
    await assert.rejects(here.call('verify.rerun', { session: first }), { code: 'conflict' });
    await host.close();
    assert.deepEqual([sleeping(), leftOf(first)], [[], []]);
    writeFileSync(go, '');
    ({ here, host } = await openHere(ws));
    assert.equal((await settled(first)).state, 'verified');
    assert.equal((await settled(second)).state, 'verified');
  });
});

describe('under a lite guard', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    ({ here } = await openHere(ws));
  });
  after(async () => {
    await here?.end();
    await ws?.close();
  });

  test("nothing is rerun by itself, and a promotion warns that the evidence is only the worker's word", async () => {
    const session = await started(here, prompt(['test -f made.txt']));
    await ended(here, session);
    const shown = await here.call('verify.status', { session });
    assert.deepEqual(
      [shown.state, shown.rerun_state, shown.reasons],
      ['reported', null, ['svc has not rerun the reported tests']],
    );
    const other = await started(here, prompt(['test -f made.txt']).replaceAll('made', 'other'));
    await ended(here, other);
    assert.equal((await here.call('verify.rerun', { session: other })).state, 'verified');
    const promoted = async (id: string): Promise<string[]> =>
      (await here.call('worktree.promote', { session: id })).warnings;
    assert.deepEqual(await promoted(other), []);
    assert.deepEqual(await promoted(session), [
      `${session} is not verified (reported: svc has not rerun the reported tests)`,
    ]);
  });
});
