import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { createAcpReader } from '../../../engine/agents/streams/acp.ts';
import { createSessionLogs } from '../../../engine/runner/session-logs.ts';
import { temporaryFolder } from '../../support/git.ts';

test('a log that is followed before its session begins is read in the form of the run that it then has', (t) => {
  const root = temporaryFolder();
  t.after(() => rmSync(root, { recursive: true, force: true }));
  let isAcp = false;
  const logs = createSessionLogs({ agents: join(root, 'agents'), worktrees: root }, () =>
    isAcp ? createAcpReader() : null,
  );
  const read = logs.open('s-1', 'readable');
  const part = { from: 0, maxBytes: 1000, ended: false };
  assert.equal(read(part).text, '');
  isAcp = true;
  const file = join(root, 'agents', 's-1', 'log');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{"acp":"message","text":"Hello."}\n');
  assert.equal(read(part).text, 'Hello.\n');
});
