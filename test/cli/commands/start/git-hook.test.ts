import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findLastingFile } from '../../../../cli/commands/start/git-hook.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

const folder = temporaryFolder();
after(() => rmSync(folder, { recursive: true }));

test('the hook of a worktree names the svc.yaml of the main checkout', () => {
  const [top, mainTop] = [join(folder, 'worktree'), join(folder, 'main')];
  const place = { hook: join(mainTop, '.git/hooks/pre-commit'), top, mainTop };
  for (const name of ['svc.yaml', '..team/svc.yaml']) {
    mkdirSync(join(mainTop, name, '..'), { recursive: true });
    writeFileSync(join(mainTop, name), '');
    assert.equal(findLastingFile(join(top, name), place), join(mainTop, name));
  }
  assert.equal(findLastingFile(join(top, 'none.yaml'), place), join(top, 'none.yaml'));
  assert.equal(findLastingFile(join(folder, 'svc.yaml'), place), join(folder, 'svc.yaml'));
});
