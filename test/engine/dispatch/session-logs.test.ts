import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { createSessionLogs } from '../../../engine/dispatch/session-logs.ts';
import { createAcpReader } from '../../../engine/workers/agents/streams/acp.ts';
import { listSessionLogTimes, readSessionLog } from '../../../engine/workers/runner/runs/read-log.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

test('a log that is followed before its session starts is read in the form of its later run', async (t) => {
  const root = temporaryFolder();
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const deps = { paths: { agents: join(root, 'agents'), worktrees: root } };
  const runner = {
    readLog: async (order: Parameters<typeof readSessionLog>[1]) => readSessionLog(deps, order),
    listLogTimes: async (ids: readonly string[]) => listSessionLogTimes(deps, ids),
  };
  let isAcp = false;
  const logs = createSessionLogs(runner, () => (isAcp ? createAcpReader() : null));
  const read = logs.open('s-1', 'readable');
  const part = { from: 0, maxBytes: 1000, ended: false };
  assert.equal((await read(part)).text, '');
  assert.deepEqual(await logs.listTimes(['s-1']), {});
  isAcp = true;
  const file = join(root, 'agents', 's-1', 'log');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{"acp":"message","text":"Hello."}\n{"acp":"mess');
  const { text, next } = await read(part);
  assert.equal(text, 'Hello.\n');
  assert.equal(next, 34, 'an incomplete line waits for its end');
  assert.equal(await logs.findTail('s-1', 1), 34);
  assert.deepEqual(Object.keys(await logs.listTimes(['s-1', 's-2'])), ['s-1']);
});
