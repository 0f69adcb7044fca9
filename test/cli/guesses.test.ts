import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findCommand } from '../../cli/catalogue.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

/** The first words that newcomers try. */
const GUESSES =
  'run new ls list ps logs log diff merge approve start stop version dashboard setup help work'.split(' ');

describe('the first guesses of a newcomer', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  for (const guess of GUESSES)
    test(`svc ${guess} works, or its error names a command`, async () => {
      const { code, stdout, stderr } = await ws.svc([guess]);
      if (code === 0) {
        assert.notEqual(`${stdout}${stderr}`, '');
        return;
      }
      const named = /svc (\w+(?: \w+)?)/.exec(/^hint: .*$/m.exec(stderr)?.[0] ?? '')?.[1] ?? '';
      assert.ok(await findCommand(named.split(' ')), stderr);
    });

  for (const [typed, meant] of [
    ['taks list', 'svc task?'],
    ['task lst', 'svc task list?'],
    ['worktree promot s-1', 'svc worktree promote?'],
    ['resume s-1', 'svc worker resume?'],
    ['pss', 'svc ls?'],
    ['nwe', 'svc run'],
    ['task add x --promt y', '--prompt?'],
    ['adopt --frsh', '--fresh?'],
    ['ls --helpp', '--help?'],
  ] as const)
    test(`svc ${typed} is corrected`, async () => {
      const { code, stderr } = await ws.svc(typed.split(' '));
      assert.equal(code, 2);
      assert.ok(/^hint: .*$/m.exec(stderr)?.[0].includes(meant), stderr);
    });

  test('svc rejects a word like no command with the way to the list', async () => {
    assert.match((await ws.svc(['frobnicate'])).stderr, /hint: svc help lists the commands/);
  });
});
