import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { report } from '../support/processes/faults.ts';
import { awaitEvent } from '../support/workspaces/events.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

describe('svc.yaml changed while the engine runs', () => {
  let ws: TestWorkspace;
  let good: string;
  const file = () => join(ws.root, 'svc.yaml');
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
    good = readFileSync(file(), 'utf8');
  });
  after(() => ws.close());

  const status = async () =>
    (await ws.svc(['status', '--json'])).json<{
      config_problem: string | null;
      restart_needed: string[];
    }>();

  test('a broken svc.yaml leaves the earlier one in use, and the error is shown with its line', async () => {
    const client = await ws.connect();
    const { last_seq: seq } = client.welcome;
    writeFileSync(file(), `${good}agents_typo: { x: 1 }\n`);
    await awaitEvent(client, (event) => event.kind === 'alert', seq);
    const { config_problem: problem } = await status();
    assert.match(problem ?? '', /svc\.yaml:\d+:\d+ agents_typo: unknown key/);
    assert.equal((await ws.svc(['task', 'add', 'still works', '-a', 'scripted', '--run', '-f'])).code, 0);
    report(
      'svc.yaml broken while the engine runs',
      'the earlier one stayed in use; file, line and key were shown',
    );
  });

  test('a repaired svc.yaml is loaded, and keys that need a restart are named', async () => {
    const client = await ws.connect();
    const { last_seq: seq } = client.welcome;
    writeFileSync(file(), `${good}daemon: { addr: "127.0.0.1:0", reap_interval_sec: 5 }\n`);
    await awaitEvent(client, (event) => event.kind === 'config_reloaded', seq);
    const { config_problem: problem, restart_needed: restart } = await status();
    assert.equal(problem, null);
    assert.deepEqual(restart, ['daemon']);
  });
});
