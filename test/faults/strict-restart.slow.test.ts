import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Ask, WireValue } from '../../engine/index.ts';
import { impossible, logOf, makeStrict } from '../support/agents/strict.ts';
import { report } from '../support/processes/faults.ts';
import { until } from '../support/wait.ts';
import type { TestWorkspace } from '../support/workspaces/workspace.ts';

const ROUNDS = 5;

/** Calls the tool as an agent does, and prints the answer. */
const BY_TOOL = `
const { spawn } = require('node:child_process');
const child = spawn('svc', ['mcp'], { stdio: ['pipe', 'pipe', 'inherit'] });
const write = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
let text = '';
child.stdout.setEncoding('utf8').on('data', (part) => {
  text += part;
  for (const line of text.split('\\n').slice(0, -1)) {
    const { id, result } = JSON.parse(line);
    if (id === 1) {
      write({ method: 'notifications/initialized' });
      write({ id: 2, method: 'tools/call', params: { name: 'ask', arguments: { question: process.argv[2] }, _meta: { 'svc/structured': true } } });
    }
    if (id === 2) {
      console.log('TOOL ' + JSON.stringify(result.structuredContent));
      child.stdin.end();
    }
  }
  text = text.slice(text.lastIndexOf('\\n') + 1);
});
write({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } } });
`;

/** Returns the pending decisions, through a client that connects only for this call. */
const openAsks = async (ws: TestWorkspace): Promise<WireValue<Ask>[]> =>
  (await ws.svc(['ask', 'list', '--json'])).json<WireValue<Ask>[]>();

async function worker(ws: TestWorkspace, script: string): Promise<string> {
  ws.repository.commit({ 'work.sh': script, 'by-tool.cjs': BY_TOOL }, 'work');
  const prompt = 'x\n#agent: no-change\n#agent: run sh work.sh 2>&1';
  const added = await ws.svc(['task', 'add', 'w', '--prompt', prompt, '--run', '--json']);
  return added.json<{ session: { session_id: string } }>().session.session_id;
}

test(`a strict worker's question outlives its engine, ${ROUNDS} of ${ROUNDS}, by command and by tool`, {
  skip: impossible ?? false,
  timeout: 180_000,
}, async () => {
  const ws = await makeStrict();
  try {
    const rounds = Array.from({ length: ROUNDS }, (_, at) => at + 1);
    const session = await worker(
      ws,
      rounds
        .map((at) => (at % 2 === 0 ? `node by-tool.cjs "question ${at}?"` : `svc ask open "question ${at}?"`))
        .join('\n'),
    );
    for (const at of rounds) {
      const [ask] = await until(async () => {
        const asks = await openAsks(ws);
        return asks.some(({ question }) => question === `question ${at}?`) ? asks : null;
      }, `question ${at}`);
      await ws.crashDaemon();
      const [again] = await openAsks(ws);
      assert.deepEqual([again?.id, again?.status], [ask?.id, 'open']);
      assert.equal((await ws.svc(['ask', 'answer', String(at), `answer ${at}`])).code, 0);
    }
    await until(async () => (await ws.svc(['task', 'list', '--json'])).stdout.includes('"done"'), 'its end');
    const log = logOf(ws, session);
    for (const at of rounds)
      assert.match(log, new RegExp(`^(?:answer ${at}$|TOOL .*"answer":"answer ${at}")`, 'm'));
    assert.doesNotMatch(log, /ENOENT|mkdir|error/, log);
    report(`kill -9 of the engine under a strict worker that asks, ${ROUNDS} times`, 'it had every answer');
  } finally {
    await ws.close();
  }
});

test("a strict worker's command says in one sentence that there is no engine, even when its run cannot reach one", {
  skip: impossible ?? false,
  timeout: 180_000,
}, async () => {
  const ws = await makeStrict();
  try {
    const go = join(ws.root, 'go');
    const svc = 'svc task list; echo "code $?"';
    const session = await worker(
      ws,
      `touch ready; until [ -e ${go} ]; do sleep 0.1; done; (${svc}) & ${svc}; wait; echo OVER`,
    );
    const folder = join(ws.root, '.svc', 'agents', session);
    const said = (): string =>
      existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '';
    const worktree = join(ws.root, '.svc', 'agents', 'worktrees', session);
    await until(() => existsSync(join(worktree, 'ready')), 'the worker');
    await ws.killDaemon();
    const records = globSync(join(folder, '*', 'seat', 'daemon.json'));
    for (const record of records) rmSync(record);
    writeFileSync(go, '');
    await until(() => /^OVER$/m.test(said()), 'its end');
    await until(() => ws.survivors().length === 0, 'the end of all of it');
    assert.equal(
      said().match(/^error: no engine is running for .*, and a worker cannot start one$/gm)?.length,
      2,
      said(),
    );
    assert.equal(said().match(/^code 4$/gm)?.length, 2, said());
    assert.doesNotMatch(said(), /ENOENT|EROFS|mkdir/, said());
  } finally {
    await ws.close();
  }
});
