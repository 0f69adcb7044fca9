import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../../engine/core/base/clock.ts';
import { formatLocalTime } from '../../../../engine/core/base/text.ts';
import { logMachineIn, setUpServer, startTestServer } from '../../../support/server/linked-server.ts';
import { until } from '../../../support/wait.ts';
import { makeWorkspace } from '../../../support/workspaces/workspace.ts';

test("the account's entitlements are shown with and without a link, in the person's time zone", async (t) => {
  const server = await startTestServer({ clock: systemClock });
  const ws = await makeWorkspace({ hosted: true });
  t.after(async () => {
    await ws.close();
    await server.close();
  });
  const show = async (): Promise<string> => (await ws.svc(['entitlements'])).stdout;
  const readLease = async () => {
    const { stdout } = await ws.svc(['entitlements', '--json']);
    return (JSON.parse(stdout) as { lease: { state: string; ends_at: string | null } }).lease;
  };
  assert.match(await show(), /^linked\s+no, and nothing is metered$/m);
  const token = await logMachineIn(server, await setUpServer(server));
  const linked = await ws.svc(['link', '--server', server.url, '--token', '-'], { input: token });
  assert.equal(linked.code, 0, linked.stderr);
  const ends = await until(async () => (await readLease()).ends_at);
  const shown = await show();
  assert.match(shown, new RegExp(`^linked\\s+${server.url}, account home$`, 'm'));
  assert.match(shown, new RegExp(`^lease\\s+valid until ${formatLocalTime(ends)}$`, 'm'));
});
