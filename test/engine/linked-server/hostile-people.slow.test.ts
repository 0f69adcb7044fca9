import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { makeServerApp } from '../../../engine/linked-server/http/app.tsx';
import { KEYS } from '../../../engine/linked-server/keeping/export.ts';
import {
  type Browser,
  onBothDatabases,
  openBrowser,
  PASSWORD,
  signIn,
} from '../../support/server/linked-server.ts';
import { listPageFaults } from '../../support/server/page-faults.ts';
import {
  linkByHand,
  openAutomation,
  type WorkspaceByHand,
} from '../../support/workspaces/workspace-by-hand.ts';
import { addOtherAccount, type DeliveryRig, deliveryRig } from './deliveries/rig.ts';

/**
 * Access to a route: `anyone` needs nothing, `bearer` a token, `signature` a secret; all others must be signed in.
 */
type Seat = 'anyone' | 'bearer' | 'signature' | 'member' | 'admin' | 'operator';

/** Every route of the server. A new one must be added here and is then attacked like the others. */
const ROUTES: Readonly<Record<string, Seat>> = {
  'GET /': 'anyone',
  'GET /healthz': 'anyone',
  'GET /style.css': 'anyone',
  'GET /icon.svg': 'anyone',
  'GET /.well-known/oauth-authorization-server': 'anyone',
  'GET /setup': 'anyone',
  'POST /setup': 'anyone',
  'GET /sign-in': 'anyone',
  'POST /sign-in': 'anyone',
  'POST /sign-out': 'anyone',
  'GET /invitation/:token': 'anyone',
  'POST /invitation/:token': 'anyone',
  'POST /oauth/device_authorization': 'bearer',
  'POST /oauth/token': 'bearer',
  'POST /oauth/revoke': 'bearer',
  'GET /metrics': 'bearer',
  'GET /v1/machine': 'bearer',
  'POST /v1/workspaces': 'bearer',
  'POST /v1/workspace/token': 'bearer',
  'DELETE /v1/workspace': 'bearer',
  'GET /v1/lease': 'bearer',
  'POST /v1/events': 'bearer',
  'PUT /v1/decisions': 'bearer',
  'PUT /v1/usage/:day': 'bearer',
  'DELETE /v1/usage': 'bearer',
  'GET /v1/commands': 'bearer',
  'POST /v1/commands/:id': 'bearer',
  'ALL /v1/decisions/:workspace/:decision': 'signature',
  'ALL /v1/decisions/:workspace/:decision/approve': 'signature',
  'ALL /v1/decisions/:workspace/:decision/deny': 'signature',
  'GET /app': 'member',
  'GET /app/runs': 'member',
  'GET /app/decisions/:workspace/:decision': 'member',
  'POST /app/decisions/:workspace/:decision/approve': 'member',
  'POST /app/decisions/:workspace/:decision/deny': 'member',
  'GET /app/workspaces': 'member',
  'GET /app/workspaces/:workspace': 'member',
  'POST /app/workspaces/:workspace/revoke': 'admin',
  'GET /app/workspaces/:workspace/remove': 'admin',
  'POST /app/workspaces/:workspace/remove': 'admin',
  'GET /app/settings': 'member',
  'GET /app/settings/new': 'admin',
  'POST /app/settings/targets': 'admin',
  'GET /app/settings/targets/:id': 'member',
  'POST /app/settings/targets/:id': 'admin',
  'POST /app/settings/targets/:id/on': 'admin',
  'POST /app/settings/targets/:id/off': 'admin',
  'POST /app/settings/targets/:id/resume': 'admin',
  'GET /app/settings/targets/:id/secret': 'admin',
  'POST /app/settings/targets/:id/secret': 'admin',
  'POST /app/settings/targets/:id/test': 'admin',
  'GET /app/settings/targets/:id/workspaces': 'admin',
  'POST /app/settings/targets/:id/workspaces': 'admin',
  'GET /app/settings/targets/:id/remove': 'admin',
  'POST /app/settings/targets/:id/remove': 'admin',
  'GET /app/deliveries': 'member',
  'POST /app/deliveries/:id/again': 'admin',
  'GET /app/chats': 'member',
  'POST /app/chats/connect/:kind/code': 'member',
  'POST /app/chats/connect/:kind': 'member',
  'POST /app/chats/disconnect/:kind': 'member',
  'POST /app/chats/channels/:kind/code': 'admin',
  'POST /app/chats/channels/:kind': 'admin',
  'POST /app/chats/channels/:kind/private': 'admin',
  'GET /app/chats/channel/:id': 'member',
  'POST /app/chats/channel/:id': 'admin',
  'POST /app/chats/channel/:id/unmute': 'admin',
  'GET /app/chats/channel/:id/remove': 'admin',
  'POST /app/chats/channel/:id/remove': 'admin',
  'GET /app/usage': 'member',
  'GET /app/usage/delete': 'admin',
  'POST /app/usage/delete': 'admin',
  'GET /app/machines': 'member',
  'POST /app/machines/:id/revoke': 'admin',
  'GET /app/people': 'member',
  'POST /app/people': 'admin',
  'POST /app/people/:id/invite': 'admin',
  'POST /app/people/:id/make-admin': 'admin',
  'POST /app/people/:id/make-member': 'admin',
  'GET /app/people/:id/remove': 'admin',
  'POST /app/people/:id/remove': 'admin',
  'GET /app/sign-ins': 'member',
  'POST /app/sign-ins/:id/end': 'member',
  'POST /app/password': 'member',
  'GET /app/log': 'member',
  'GET /device': 'member',
  'POST /device': 'member',
  'POST /device/answer': 'member',
  'GET /operator': 'operator',
  'GET /operator/bots/:kind': 'operator',
  'POST /operator/bots/:kind': 'operator',
  'GET /operator/bots/:kind/remove': 'operator',
  'POST /operator/bots/:kind/remove': 'operator',
  'POST /operator/accounts': 'operator',
  'GET /operator/accounts/:id': 'operator',
  'POST /operator/accounts/:id/plan': 'operator',
  'POST /operator/accounts/:id/addons/:addon/:state{on|off}': 'operator',
  'GET /operator/accounts/:id/remove': 'operator',
  'POST /operator/accounts/:id/remove': 'operator',
};
/** Parameters that name an object of an account. */
const OF_ACCOUNT = /:(?!kind\b)/;
const SIGNED_IN: readonly Seat[] = ['member', 'admin', 'operator'];
const FORMS = Object.entries(ROUTES)
  .filter(([route, seat]) => route.startsWith('POST') && seat !== 'bearer')
  .map(([route]) => route.slice('POST '.length));

const NASTY = '</td><script>alert(1)</script>"\'>&\u202e\u2066 <@all> [x](http://evil.example)';

onBothDatabases((start) => {
  describe('hostile people', () => {
    let rig: DeliveryRig;
    /** The admin of another account, a member of ours, and an anonymous visitor. */
    let carl: Browser;
    let bob: Browser;
    let shop: WorkspaceByHand;
    /** The values in addresses of our account, by the route's prefix and the parameter's name. */
    let ids: [prefix: string, name: string, id: string][];

    before(async () => {
      rig = await deliveryRig(start);
      const { server, ann } = rig;
      carl = await addOtherAccount(ann, server);
      const invited = await ann.post('/app/people', { name: 'bob', role: 'member' });
      await openBrowser(server).post(/\/invitation\/[\w-]+/.exec(invited.text)![0], { password: PASSWORD });
      bob = await signIn(server, 'bob');
      shop = await linkByHand(server, ann, { name: NASTY, machine: NASTY, key: 'shop' });
      const texts = { title: NASTY, project: NASTY, agent: NASTY, author: NASTY, why: NASTY };
      const approvals = ['yes', 'code', 'untrusted', 'off'] as const;
      await shop.tellPending(
        approvals.map((approval, index) => ({ ...texts, approval, decision_id: `d-${index + 17}` })),
      );
      const hook = await rig.addTarget('n8n', {
        'events[]': 'needs_approval',
        scope: 'ticked',
        'workspaces[]': shop.id,
      });
      await shop.tellEvents([{ title: NASTY, project: NASTY, agent: NASTY, reason: NASTY }]);
      await hook.atLeast(1);
      await server.parts.deliveries.settled();
      await ann.post(
        '/sign-in',
        { name: 'ann', password: PASSWORD },
        { 'user-agent': NASTY.replace(/[^ -~]/g, '') },
      );
      await ann.post(`/app/decisions/${shop.id}/d-17/deny`, { hash: 'ab'.repeat(32) });
      const home = await server.parts.people.findAccount('home');
      const person = await server.parts.people.find('bob');
      const [machine] = (await server.parts.machines.list(home.id)).rows;
      const { id: annId } = await server.parts.people.find('ann');
      const [session] = (await server.parts.people.listSessions(annId)).rows;
      const [delivery] = (await server.parts.deliveries.list(home.id)).rows;
      await server.parts.chats.channels.add(
        home.id,
        'telegram',
        { channel: '-100', name: NASTY, isPrivate: false },
        'ann',
      );
      const [channel] = await server.parts.chats.channels.list(home.id);
      ids = [
        ['', ':workspace', shop.id],
        ['', ':decision', 'd-17'],
        ['', ':addon', 'n8n'],
        ['', ':state{on|off}', 'off'],
        ['', ':token', 'none'],
        ['', ':kind', 'telegram'],
        ['', ':day', '2026-01-02'],
        ['/v1/commands', ':id', 'k_nothing-here'],
        ['/app/settings', ':id', hook.id],
        ['/app/deliveries', ':id', String(delivery!.id)],
        ['/app/chats', ':id', channel!.id],
        ['/app/machines', ':id', machine!.id],
        ['/app/people', ':id', person.id],
        ['/app/sign-ins', ':id', session!.id],
        ['/operator', ':id', home.id],
      ];
    });
    after(() => rig?.close());

    const fill = (route: string): string => {
      const path = route.replace(/^[A-Z]+ /, '');
      return ids.reduce(
        (filled, [prefix, name, id]) => (path.startsWith(prefix) ? filled.replace(name, id) : filled),
        path,
      );
    };
    const send = (browser: Browser, route: string, path = fill(route)) =>
      route.startsWith('GET ') ? browser.get(path) : browser.post(path, { hash: 'ab'.repeat(32) });

    /** Returns all stored data, except traces of reads and failed attempts. */
    async function readAll(): Promise<Record<string, unknown>> {
      const tables = Object.keys(KEYS).filter((table) => !['failures', 'browser_sessions'].includes(table));
      const all: Record<string, unknown> = {};
      for (const table of tables)
        all[table] = (
          await sql`SELECT * FROM ${sql.table(table)} ORDER BY 1, 2`.execute(rig.server.parts.db)
        ).rows;
      return all;
    }

    it('every route of the server is in this table', () => {
      const found = makeServerApp(rig.server.parts)
        .routes.map(({ method, path }) => `${method} ${path}`)
        .filter((route) => !route.endsWith('/*'));
      assert.deepEqual([...new Set(found)].sort(), Object.keys(ROUTES).sort());
      for (const route of Object.keys(ROUTES)) assert.doesNotMatch(fill(route), /:/, `an id for ${route}`);
    });

    it('people of another account, and without an account, see and change nothing', async () => {
      const before = await readAll();
      const nobody = openBrowser(rig.server);
      for (const [route, seat] of Object.entries(ROUTES)) {
        if (!SIGNED_IN.includes(seat)) continue;
        const signedOut = await send(nobody, route);
        assert.deepEqual(
          [signedOut.status, signedOut.location?.startsWith('/sign-in')],
          [303, true],
          `${route}, signed out`,
        );
        const stranger = await send(carl, route);
        if (seat === 'operator' || OF_ACCOUNT.test(route))
          assert.equal(stranger.status, 404, `${route}, of another account`);
        else assert.ok(stranger.status < 500, route);
        for (const { text } of [signedOut, stranger])
          for (const [, name, id] of ids)
            assert.ok(
              /:(?:decision|kind|day)/.test(name) || id.length < 5 || !text.includes(id),
              `${route} tells ${id}`,
            );
      }
      assert.deepEqual(await readAll(), before);
    });

    it('members change nothing that is for admins, and admins nothing that is for operators', async () => {
      const before = await readAll();
      for (const [route, seat] of Object.entries(ROUTES))
        if (seat === 'admin' || seat === 'operator')
          assert.equal((await send(bob, route)).status, 404, `${route} as a member`);
      assert.deepEqual(await readAll(), before);
    });

    it('a form from another site is refused', async () => {
      const before = await readAll();
      const { ann, server } = rig;
      const port = Number(new URL(server.url).port);
      for (const form of FORMS)
        for (const headers of [
          { origin: '' },
          { origin: 'null' },
          { origin: 'https://evil.example' },
          { origin: `http://127.0.0.1:${port + 1}` },
          { origin: `${server.url}.evil.example` },
          { 'sec-fetch-site': 'same-site' },
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'none' },
          { 'sec-fetch-site': 'same-site', 'content-type': 'text/plain' },
        ] as Record<string, string>[]) {
          const answer = await ann.post(fill(form), {}, headers);
          assert.equal(answer.status, 403, `${form} with ${JSON.stringify(headers)}`);
        }
      assert.deepEqual(await readAll(), before);
      const ours = await ann.post('/app/password', {}, { origin: '', 'sec-fetch-site': 'same-origin' });
      assert.notEqual(ours.text, 'this did not come from a page of this server\n');
    });

    it('routes for programs ignore cookies', async () => {
      const before = await readAll();
      const { cookies } = rig.ann;
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const { request } = await import('undici');
      for (const [route, seat] of Object.entries(ROUTES)) {
        if (seat !== 'bearer' && seat !== 'signature') continue;
        const [given = ''] = route.split(' ');
        const method = given === 'ALL' ? (/approve|deny/.test(route) ? 'POST' : 'GET') : given;
        const answer = await request(`http://127.0.0.1:${rig.server.port}${fill(route)}`, {
          method: method as 'GET',
          headers: {
            host: new URL(rig.server.url).host,
            cookie,
            origin: rig.server.url,
            'svc-protocol': '1',
            'content-type': 'application/json',
          },
          body: method === 'GET' ? null : '{}',
        });
        await answer.body.text();
        assert.ok([400, 401].includes(answer.statusCode), `${route}: ${answer.statusCode}`);
      }
      assert.deepEqual(await readAll(), before);
    });

    it("no text is taken for the page's own, and no mark reverses it", async () => {
      const places = Object.entries(ROUTES)
        .filter(([route, seat]) => route.startsWith('GET') && SIGNED_IN.includes(seat))
        .map(([route]) => fill(route).replace('/settings/new', '/settings/new?kind=webhook'));
      for (const decision of ['d-18', 'd-19', 'd-20']) places.push(`/app/decisions/${shop.id}/${decision}`);
      for (const place of places) {
        const { status, text } = await rig.ann.get(place);
        assert.equal(status, 200, place);
        assert.deepEqual(await listPageFaults(text), [], place);
        assert.doesNotMatch(text, /<script|[\u202a-\u202e\u2066-\u2069]/, place);
      }
      const seen = await Promise.all(places.map(async (place) => (await rig.ann.get(place)).text));
      assert.ok(
        seen.filter((text) => text.includes('&lt;script&gt;alert(1)')).length >= 8,
        'it is shown as text',
      );
    });

    it('a page shows only its own messages', async () => {
      for (const path of [
        'machines',
        'people',
        'sign-ins',
        'settings',
        'deliveries',
        'workspaces',
        'chats',
      ]) {
        const plain = (await rig.ann.get(`/app/${path}`)).text;
        for (const word of ['constructor', '__proto__', 'toString', '<b>'])
          assert.equal((await rig.ann.get(`/app/${path}?said=${word}`)).text, plain, `${path} ${word}`);
      }
    });

    it('a text that no database can hold breaks nothing, in an address or a form', async () => {
      const { ann, server } = rig;
      for (const route of Object.keys(ROUTES).filter((each) => !each.endsWith('/sign-out'))) {
        const path = route.replace(/^[A-Z]+ /, '').replace(/:\w+(\{.*?\})?/g, '%00');
        const answer = await send(ann, route.includes('POST') ? route : 'GET ', path);
        assert.ok(answer.status < 500, `${route}: ${answer.status}`);
      }
      for (const query of [
        'target=%00',
        'before=%00',
        'after=%00',
        'said=%00',
        'kind=%00',
        'user_code=%00',
        'next=%00',
      ])
        for (const place of ['/app/deliveries', '/app/settings', '/app/settings/new', '/device', '/sign-in'])
          assert.ok((await ann.get(`${place}?${query}`)).status < 500, `${place}?${query}`);
      const names = [
        ...['name', 'url', 'events[]', 'scope', 'workspaces[]', 'shown[]', 'find', 'what', 'kind'],
        ...['password', 'old', 'role', 'account'],
      ];
      const fields = {
        ...Object.fromEntries(names.map((name) => [name, 'a\0'])),
        user_code: '\0',
        hash: '\0',
      };
      for (const form of FORMS.filter((each) => !/sign-out|remove|revoke|:id\/(?:make|end)/.test(each))) {
        const answer = await ann.post(fill(form), fields);
        assert.ok(answer.status < 500, `${form}: ${answer.status}`);
        for (const kind of ['n8n', 'webhook'])
          assert.ok(
            (await ann.post(fill(form), { ...fields, kind, name: 'x', 'events[]': 'sealed' })).status < 500,
          );
      }
      const terminal = openBrowser(server);
      const asked = await terminal.post('/oauth/device_authorization', { client_id: 'svc', machine: 'a\0b' });
      assert.ok(asked.status < 500);
      const wrong = openAutomation(server, 'whsec_wrong');
      assert.ok((await wrong.get('/v1/decisions/%00/%00')).status < 500);
    });

    it("a session cannot be fixed: signing in replaces the browser's session", async () => {
      const name = [...rig.ann.cookies.keys()][0]!;
      const mallory = await signIn(rig.server, 'carl');
      const planted = mallory.cookies.get(name)!;
      for (const token of ['chosen-by-somebody', planted]) {
        const victim = openBrowser(rig.server);
        victim.cookies.set(name, token);
        const answer = await victim.post('/sign-in', { name: 'bob', password: PASSWORD, next: '' });
        assert.equal(answer.status, 303, answer.text);
        assert.notEqual(victim.cookies.get(name), token);
        assert.match((await victim.get('/app')).text, /bob, home/);
        const thief = openBrowser(rig.server);
        thief.cookies.set(name, token);
        const seen = await thief.get('/app');
        assert.doesNotMatch(seen.text, /bob, home/);
      }
    });
  });
});
