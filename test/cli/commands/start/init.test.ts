import assert from 'node:assert/strict';
import { chownSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeWorkspace } from '../../../support/workspaces/workspace.ts';

test('svc init in a repository whose git folder is partly of another user finishes, and notes what git does not ignore', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can give a folder to another user');
  const ws = await makeWorkspace();
  t.after(() => ws.close());
  rmSync(join(ws.root, 'svc.yaml'));
  rmSync(join(ws.root, '.git/info/exclude'), { force: true });
  chownSync(join(ws.root, '.git/info'), 65_534, 65_534);
  const made = await ws.svc(['init']);
  assert.equal(made.code, 0, made.stderr);
  assert.match(
    made.stderr,
    /\.svc\/ is not excluded from git: .* belongs to another user; add it to \.gitignore/,
  );
  assert.doesNotMatch(made.stdout, /is excluded from git/);
});
