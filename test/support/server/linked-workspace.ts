import { systemClock } from '../../../engine/core/base/clock.ts';
import type { OpenOptions } from '../../../engine/index.ts';
import { until } from '../wait.ts';
import { type EngineHere, engineHere } from '../workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace, type WorkspaceOptions } from '../workspaces/workspace.ts';
import {
  type Browser,
  logMachineIn,
  type Read,
  setUpServer,
  startTestServer,
  type TestServer,
} from './linked-server.ts';

/** A workspace that is linked to its own server, and the person who set it up. */
export interface LinkedWorkspace {
  server: TestServer;
  /** A browser that is signed in as ann, the operator. */
  ann: Browser;
  ws: TestWorkspace;
  here: EngineHere;
  /** The workspace's id on the server. */
  id: string;
  /** The link as the engine stores it. */
  token(): string;
  setDecide(decide: Record<string, string[]>): Promise<void>;
  /** Waits until the server shows the workspace's data. */
  waits(decision: string): Promise<Read>;
  /** Presses a button on the decision's current page. */
  press(verb: 'approve' | 'deny', decision: string, fields?: Record<string, string>): Promise<Read>;
  close(): Promise<void>;
}

export async function linkWorkspace({
  start = startTestServer,
  workspace = {},
  engine = {},
}: {
  start?: typeof startTestServer;
  workspace?: WorkspaceOptions;
  engine?: Omit<OpenOptions, 'file' | 'env'>;
} = {}): Promise<LinkedWorkspace> {
  const server = await start({ clock: systemClock });
  const ann = await setUpServer(server);
  const ws = await makeWorkspace(workspace);
  const here = await engineHere(ws, engine);
  const machine = await logMachineIn(server, ann);
  await here.call('link.start', { server: server.url, token: machine });
  await until(async () => (await here.call('link.status', {})).state === 'connected', 'the link');
  const listed = await ann.get('/app/workspaces');
  const id = /\/app\/workspaces\/(w_[\w-]+)"/.exec(listed.text)?.[1] ?? '';
  const { readFileSync } = await import('node:fs');
  const { token_file } = await here.call('link.status', {});
  const place = (decision: string): string => `/app/decisions/${id}/${decision}`;
  const waits = (decision: string): Promise<Read> =>
    until(async () => {
      const page = await ann.get(place(decision));
      return page.status === 200 && page.text.includes('name="hash"') ? page : null;
    }, `${decision} on the server's page`);
  const linked: LinkedWorkspace = {
    server,
    ann,
    ws,
    here,
    id,
    token: () => readFileSync(token_file, 'utf8').trim(),
    async setDecide(decide) {
      await here.call('config.set', { key: 'server.decide', value: JSON.stringify(decide) });
    },
    waits,
    async press(verb, decision, fields = {}) {
      const page = await waits(decision);
      const hash = /name="hash" value="([0-9a-f]{64})"/.exec(page.text)?.[1] ?? '';
      const sent = await ann.post(`${place(decision)}/${verb}`, { hash, ...fields });
      return sent.status === 303 ? ann.get(place(decision)) : sent;
    },
    async close() {
      await linked.here.end();
      await linked.server.close();
      await ws.close();
    },
  };
  return linked;
}
