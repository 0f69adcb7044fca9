import type { TargetKind } from '../../../../engine/linked-server/database/tables.ts';
import type { LinkedEvent } from '../../../../engine/linked-server/deliveries/linked-event.ts';

import { buildSample } from '../../../../engine/linked-server/deliveries/samples.ts';
import {
  type Browser,
  openBrowser,
  PASSWORD,
  setUpServer,
  type startTestServer,
  type TestServer,
} from '../../../support/server/linked-server.ts';
import { type Catcher, catcher } from '../../notify/rig.ts';

type Answer = NonNullable<Parameters<typeof catcher>[0]>;

/** A server with a person, an account with all features, and targets that listen. */
export interface DeliveryRig {
  server: TestServer;
  ann: Browser;
  /** Creates a target with a new catcher. */
  addTarget(kind?: TargetKind, wish?: Record<string, string>, answer?: Answer): Promise<AddedTarget>;
  /** Returns events as a workspace sends them, with generated ids by default. */
  queue(
    events: (Partial<LinkedEvent> & { event: LinkedEvent['event'] })[],
    workspace?: { id: string; name: string },
  ): Promise<void>;
  /** Advances the clock and sends what is due. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface AddedTarget extends Catcher {
  id: string;
  secret: string;
}

export async function deliveryRig(
  start: typeof startTestServer,
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<DeliveryRig> {
  const server = await start({ allowTarget: ['127.0.0.1/32'], ...options });
  const ann = await setUpServer(server);
  const { plans, people, deliveries, db } = server.parts;
  const [home] = await people.listAccounts();
  await plans.assign(home!, 'team', 'a test');
  for (const addon of ['n8n', 'zapier', 'make'] as const)
    await plans.switchAddon(home!, addon, true, 'a test');
  const catchers: Catcher[] = [];
  let made = 0;
  return {
    server,
    ann,
    async addTarget(kind = 'webhook', wish = {}, answer) {
      const hook = await catcher(answer);
      catchers.push(hook);
      made += 1;
      const fields = { name: `target ${made}`, url: hook.url, 'events[]': 'sealed', ...wish };
      const page = await ann.post('/app/settings/targets', { kind, ...fields });
      const secret = /whsec_[\w+/=]{40,}/.exec(page.text)?.[0];
      const id = /\/app\/settings\/targets\/(t_[\w-]+)/.exec(page.text)?.[1];
      if (secret === undefined || id === undefined) throw new Error(`${page.status} ${page.text}`);
      return { ...hook, id, secret };
    },
    async queue(events, workspace = { id: 'w_1', name: 'web-shop' }) {
      const origin = { workspaceId: workspace.id, workspaceName: workspace.name, accountId: home!.id };
      const whole = events.map((event) => {
        made += 1;
        return { ...buildSample(event.event, { at: server.clock.now() }), id: `e-${made}`, ...event };
      });
      await db.transaction().execute((change) => deliveries.queueDeliveries(change, origin, whole));
      deliveries.wake();
    },
    async advance(ms) {
      server.clock.advance(ms);
      await server.parts.retention.clean();
      deliveries.wake();
      await deliveries.settled();
    },
    async close() {
      await server.close();
      for (const hook of catchers) await hook.close();
    },
  };
}

/** Creates another account with a signed-in admin. */
export async function addOtherAccount(ann: Browser, server: TestServer): Promise<Browser> {
  const made = await ann.post('/operator/accounts', { account: 'other', name: 'carl' });
  const carl = openBrowser(server);
  await carl.post(/\/invitation\/[\w-]+/.exec(made.text)![0], { password: PASSWORD });
  await carl.post('/sign-in', { name: 'carl', password: PASSWORD, next: '' });
  return carl;
}
