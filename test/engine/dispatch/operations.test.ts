import assert from 'node:assert/strict';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openForwarded } from '../../../engine/gateway/live-zone/forwarded.ts';
import type { ListedSession, WireValue } from '../../../engine/index.ts';
import { readCorpus } from '../../support/gateway/corpus.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('the list of sessions', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    // A custom command that runs a known agent.
    ws = await makeWorkspace({ commands: { wrapped: 'copilot --prompt={{prompt}}' } });
    const bin = join(ws.repository.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'copilot'), '#!/bin/sh\n', { mode: 0o755 });
    ws.env.PATH = `${bin}:${ws.env.PATH}`;
    // No worker starts: the sessions stay queued, and the test writes their logs.
    here = await engineHere(ws, { workerCap: 0 });
    for (let count = 1; count <= 4; count += 1) {
      const agent = count === 4 ? 'wrapped' : 'scripted';
      await here.call('task.add', { title: `number ${count}`, agent });
      await here.call('task.run', { id: `t-${count}` });
    }
    await here.call('task.cancel', { id: 't-2' });
    for (const session of ['s-1', 's-2']) {
      const folder = join(ws.root, '.svc', 'agents', session);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'log'), 'a line\n');
      utimesSync(join(folder, 'log'), 1_700_000_000, 1_700_000_000);
    }
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  const list = (input: object): Promise<WireValue<ListedSession>[]> => here.call('session.list', input);
  const ids = async (input: object): Promise<string[]> =>
    (await list(input)).map((session) => session.session_id);

  test('the list returns the named sessions, newest first; an unknown one is left out', async () => {
    assert.deepEqual(await ids({ ids: ['s-1', 's-2', 's-4', 's-99', 't-3'] }), ['s-4', 's-2', 's-1']);
    assert.deepEqual(await ids({ ids: ['s-1', 's-2'], live: true }), ['s-1']);
    assert.deepEqual(await ids({ ids: [] }), []);
    assert.deepEqual(await ids({}), ['s-4', 's-3', 's-2', 's-1']);
    assert.deepEqual(await ids({ live: true }), ['s-1', 's-3', 's-4']);
  });

  test('the list shows the saving of each session, in the engine and in the gateway, as usage_status does for all', async () => {
    const noise = readCorpus('noise').find(({ name }) => name === 'apt-install')?.text ?? '';
    const { bytes_in, bytes_out } = await here.call(
      'context.crush',
      { text: noise },
      { seat: 'worker', sessionId: 's-1' },
    );
    const forwarded = openForwarded(here.engine.paths.data, Date.now);
    const saving = { conversation: 's-3', holder: 't-3', session: 's-3', text: null, bytes: 9, token: '""' };
    forwarded.save({ ...saving, call: '0 c1', hash: 'one', bytesIn: 4000, bytesOut: 400 });
    forwarded.close();
    const spared = Object.fromEntries((await list({})).map((each) => [each.session_id, each.saved_tokens]));
    assert.deepEqual(spared, {
      's-1': Math.ceil((bytes_in - bytes_out) / 4),
      's-2': 0,
      's-3': 900,
      's-4': 0,
    });
    const { kept_out } = (await here.call('usage.status', {})) as {
      kept_out: { total: { calls: number; bytes_in: number }; savings: { session: string; tool: string }[] };
    };
    assert.deepEqual([kept_out.total.calls, kept_out.total.bytes_in], [2, bytes_in + 4000]);
    assert.deepEqual(kept_out.savings.map(({ session, tool }) => `${session} ${tool}`).sort(), [
      's-1 context_crush',
      's-3 gateway',
    ]);
  });

  test('the list shows when the log of a live session was last written', async () => {
    const written = new Map((await list({})).map((each) => [each.session_id, each.log_written_at]));
    assert.deepEqual(Object.fromEntries(written), {
      's-1': '2023-11-14T22:13:20.000Z',
      's-2': null,
      's-3': null,
      's-4': null,
    });
  });

  test('the list shows what the agent of each does not report, for any name of its command', async () => {
    const untold = new Map((await list({})).map((each) => [each.session_id, each.untold]));
    assert.deepEqual(untold.get('s-1'), []);
    assert.deepEqual(untold.get('s-4'), [
      'what it spent',
      'when its model declines',
      'when an answer was cut off',
    ]);
  });
});
