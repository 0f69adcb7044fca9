import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { onBothDatabases } from '../../support/server/linked-server.ts';
import {
  HASH,
  linkByHand,
  openAutomation,
  type WorkspaceByHand,
} from '../../support/workspaces/workspace-by-hand.ts';
import { type AddedTarget, addOtherAccount, type DeliveryRig, deliveryRig } from './deliveries/rig.ts';

const MINUTE = 60_000;

interface Rig {
  rig: DeliveryRig;
  shop: WorkspaceByHand;
  n8n: AddedTarget;
  automation: ReturnType<typeof openAutomation>;
  /** The pending decision. */
  place: string;
}
const open: DeliveryRig[] = [];
afterEach(async () => {
  for (const rig of open.splice(0)) await rig.close();
});

onBothDatabases((start) => {
  async function openRig(options?: Parameters<typeof start>[0]): Promise<Rig> {
    const rig = await deliveryRig(start, options);
    open.push(rig);
    const shop = await linkByHand(rig.server, rig.ann);
    const n8n = await rig.addTarget('n8n', { 'events[]': 'needs_approval' });
    await shop.tellPending([{}]);
    const place = `/v1/decisions/${shop.id}/d-17`;
    return { rig, shop, n8n, automation: openAutomation(rig.server, n8n.secret), place };
  }

  it('an automation learns where a decision is made, queries it, and approves it', async () => {
    const { rig, shop, n8n, automation, place } = await openRig();
    await shop.tellEvents([{}]);
    const [told] = await n8n.atLeast(1);
    assert.equal(told?.json.workspace_id, shop.id);
    assert.equal(told?.json.decision_url, `${rig.server.url}${place}`);
    const waiting = await automation.get(place);
    assert.equal(waiting.status, 200, waiting.text);
    const { state, hash, prompt_length, dispatched, asked } = waiting.json;
    assert.deepEqual([state, hash, prompt_length, dispatched, asked], ['pending', HASH, 4212, false, null]);

    const obeyed = shop.obey({ outcome: 'started', session_id: 's-9', state: 'approved' });
    const fields = { decision_id: 'd-17', workspace_id: shop.id, hash: HASH };
    const approved = await automation.post(`${place}/approve`, fields);
    const command = await obeyed;
    assert.deepEqual(
      [command.verb, command.person, command.channel, command.hash, command.code],
      ['approve', 'n8n', 'automation', HASH, null],
    );
    assert.equal(approved.status, 200, approved.text);
    assert.deepEqual(
      [approved.json.state, approved.json.dispatched, approved.json.session_id, approved.json.decided_by],
      ['approved', true, 's-9', 'n8n@automation'],
    );

    // Repeating the same action returns the same answer, the opposite one is refused, and neither asks the workspace.
    await shop.tellPending([]);
    const again = await automation.post(`${place}/approve`);
    assert.deepEqual([again.status, again.json.session_id, again.json.task_id], [200, 's-9', null]);
    const denied = await automation.post(`${place}/deny`);
    assert.deepEqual(
      [denied.status, denied.json.code, denied.json.state],
      [409, 'already_decided', 'approved'],
    );
    assert.equal((await automation.get(place)).json.state, 'approved');
    assert.match((await rig.ann.get('/app/log')).text, /asked to approve by automation: d-17 in web-shop/);
  });

  it('a request waits while the workspace is offline, and a denial keeps its reason in the log of the account', async () => {
    const { rig, shop, automation, place } = await openRig();
    const first = await automation.post(`${place}/deny`, { reason: 'too <b>risky' });
    assert.equal(first.status, 202, first.text);
    assert.equal(first.json.state, 'pending');
    const { verb, by, until } = first.json.asked as Record<string, string>;
    assert.deepEqual([verb, by], ['deny', 'n8n@automation']);
    assert.equal(Date.parse(until!), rig.server.clock.now() + 60 * MINUTE);
    const again = await automation.post(`${place}/deny`);
    assert.deepEqual([again.status, again.json.asked], [202, first.json.asked]);
    const command = await shop.obey({ outcome: 'denied', state: 'denied' });
    assert.equal(JSON.stringify(command).includes('risky'), false);
    assert.equal((await automation.get(place)).json.state, 'denied');
    assert.match((await rig.ann.get('/app/log')).text, /d-17 in web-shop: too &lt;b&gt;risky/);
  });

  it("a refusal by the workspace has the receiver's words and codes", async () => {
    const { shop, automation, place } = await openRig();
    for (const [outcome, status, code] of [
      [{ outcome: 'not_allowed' }, 403, 'actor_denied'],
      [{ outcome: 'actor_denied' }, 403, 'actor_denied'],
      [{ outcome: 'remote_untrusted' }, 403, 'remote_untrusted'],
      [{ outcome: 'code_invalid' }, 403, 'approval_required'],
      [{ outcome: 'changed', state: 'expired' }, 409, 'inputs_changed'],
      [{ outcome: 'unknown_decision' }, 404, 'not_found'],
      [{ outcome: 'too_old' }, 409, 'conflict'],
      [{ outcome: 'refused', code: 'quota_exceeded' }, 403, 'quota_exceeded'],
      [{ outcome: 'refused', code: 'of_tomorrow' }, 409, 'conflict'],
      [{ outcome: 'already_decided', state: 'denied', decided_by: 'bob' }, 409, 'already_decided'],
    ] as const) {
      await shop.tellPending([{}]);
      const [answer] = await Promise.all([automation.post(`${place}/approve`), shop.obey(outcome)]);
      assert.deepEqual([answer.status, answer.json.code], [status, code], answer.text);
      assert.equal(answer.headers.get('content-type'), 'application/problem+json');
    }
  });

  it('a decision that cannot be approved from outside does not reach the workspace', async () => {
    const { shop, automation, place } = await openRig();
    for (const [decision, channels, code] of [
      [{ approval: 'off' }, [], 'actor_denied'],
      [{}, ['page'], 'actor_denied'],
      [{ approval: 'untrusted' }, ['automation'], 'remote_untrusted'],
      [{ approval: 'code' }, ['automation'], 'approval_required'],
    ] as const) {
      await shop.tellPending([decision], channels);
      const answer = await automation.post(`${place}/approve`);
      assert.deepEqual([answer.status, answer.json.code], [403, code], answer.text);
    }
    assert.equal(
      (await automation.post(`${place}/approve`, { hash: 'cd'.repeat(32) })).json.code,
      'inputs_changed',
    );
    assert.equal((await automation.post(`/v1/decisions/${shop.id}/d-18/approve`)).status, 404);
    assert.deepEqual(JSON.parse((await shop.call('GET', '/v1/commands?after=0&wait=0')).text).commands, []);
    const denied = automation.post(`${place}/deny`);
    await shop.obey({ outcome: 'denied', state: 'denied' });
    assert.equal((await denied).status, 200);
  });

  it('a bad request is refused as by the receiver, and nothing is requested', async () => {
    const { rig, shop, automation, place } = await openRig();
    const approve = `${place}/approve`;
    const codeOf = async (answer: ReturnType<typeof automation.send>) => {
      const { status, json, headers } = await answer;
      assert.equal(headers.get('content-type'), 'application/problem+json');
      return [status, json.code];
    };
    const wrong = openAutomation(rig.server, 'whsec_wrong');
    assert.deepEqual(await codeOf(wrong.post(approve)), [401, 'signature_invalid']);
    assert.match((await wrong.post(approve)).headers.get('www-authenticate') ?? '', /Svc-HMAC-SHA256/);
    const now = Math.floor(rig.server.clock.now() / 1000);
    for (const time of ['', 'soon', String(now - 301), String(now + 301)])
      assert.deepEqual(await codeOf(automation.post(approve, {}, { 'x-svc-timestamp': time })), [
        401,
        'timestamp_out_of_range',
      ]);
    const other = { 'x-svc-timestamp': String(now - 1) };
    assert.deepEqual(await codeOf(automation.post(approve, {}, other)), [401, 'signature_invalid']);
    assert.deepEqual(await codeOf(automation.send('POST', approve, 'no JSON')), [400, 'body_invalid']);
    assert.deepEqual(await codeOf(automation.send('POST', approve, '[]')), [422, 'fields_invalid']);
    for (const fields of [
      { decision_id: 'd-18' },
      { decision_id: 17 },
      { workspace_id: 'w_other' },
      { hash: '' },
      { reason: '\0' },
      { agent: 'claude' },
    ])
      assert.deepEqual(await codeOf(automation.post(approve, fields)), [422, 'fields_invalid']);
    assert.deepEqual(await codeOf(automation.get(approve)), [405, 'method_not_allowed']);
    assert.equal((await automation.get(approve)).headers.get('allow'), 'POST');
    assert.deepEqual(await codeOf(automation.post(place)), [405, 'method_not_allowed']);
    assert.deepEqual(await codeOf(automation.post(approve, {}, { 'content-encoding': 'gzip' })), [
      415,
      'unsupported_encoding',
    ]);
    const large = automation.post(approve, { nonce: 'x'.repeat(262_144) });
    assert.deepEqual(await codeOf(large), [413, 'body_too_large']);
    for (const path of [`${place}/start`, `/v1/decisions/${shop.id}`, '/v1/nothing'])
      assert.deepEqual(await codeOf(automation.post(path)), [404, 'not_found'], path);
    for (const id of ['d-017', 'd-0', 't-1', 'd-17%00'])
      assert.deepEqual(await codeOf(automation.post(`/v1/decisions/${shop.id}/${id}/approve`)), [
        404,
        'not_found',
      ]);
    // Callers without a workspace's secret do not learn whether it exists.
    for (const id of ['w_none', '%20', `${shop.id}x`])
      assert.deepEqual(await codeOf(automation.get(`/v1/decisions/${id}/d-17`)), [401, 'signature_invalid']);
    assert.deepEqual(JSON.parse((await shop.call('GET', '/v1/commands?after=0&wait=0')).text).commands, []);
  });

  it('a signature is valid once, also after a restart and when the clock is set back', async () => {
    const { rig, automation, place } = await openRig();
    const body = JSON.stringify({ decision_id: 'd-17' });
    const send = () => automation.send('POST', `${place}/deny`, body);
    assert.equal((await send()).status, 202);
    assert.deepEqual([(await send()).json.code, (await send()).status], ['replayed', 409]);
    const refused = () => automation.send('POST', `${place}/deny`, '{"decision_id":"d-1"}');
    assert.equal((await refused()).status, 422);
    assert.equal((await refused()).json.code, 'replayed');
    const { folder, env, clock } = rig.server;
    await rig.server.close();
    const server = await start({ folder, env, clock, addr: `127.0.0.1:${rig.server.port}` });
    try {
      assert.equal((await send()).json.code, 'replayed');
      // Reads may be repeated.
      for (const _ of [1, 2]) assert.equal((await automation.get(place)).status, 200);
      clock.advance(11 * MINUTE);
      await server.parts.retention.clean();
      clock.advance(-11 * MINUTE);
      const { status, json } = await send();
      assert.deepEqual([status, json.code], [401, 'timestamp_out_of_range']);
      assert.match(String(json.detail), /set back/);
    } finally {
      await server.close();
    }
  });

  it('an event that was sent cannot be sent back as a request', async () => {
    const { shop, n8n, automation, place } = await openRig();
    await shop.tellEvents([{}]);
    const [told] = await n8n.atLeast(1);
    const headers = told?.headers as Record<string, string>;
    const back = await automation.send('POST', `${place}/approve`, told?.body ?? '', {
      'x-svc-timestamp': headers['x-svc-timestamp']!,
      'x-svc-signature': headers['x-svc-signature']!,
    });
    assert.deepEqual([back.status, back.json.code], [422, 'fields_invalid']);
    assert.match(String(back.json.detail), /event/);
  });

  it('the old secret decides during a rotation, and not after it', async () => {
    const { rig, n8n, automation, place } = await openRig();
    const page = await rig.ann.post(`/app/settings/targets/${n8n.id}/secret`);
    const fresh = openAutomation(rig.server, /whsec_[\w+/=]{40,}/.exec(page.text)![0]);
    for (const each of [automation, fresh]) assert.equal((await each.get(place)).status, 200);
    rig.server.clock.advance(24 * 60 * MINUTE + 1);
    assert.equal((await automation.get(place)).status, 401);
    assert.equal((await fresh.get(place)).status, 200);
  });

  it('a catch URL decides only while it is open, for its own workspaces and its own account', async () => {
    const { rig, shop, n8n, automation, place } = await openRig();
    const { plans, people } = rig.server.parts;
    const [home] = await people.listAccounts();
    const change = `/app/settings/targets/${n8n.id}`;
    await rig.ann.post(`${change}/off`);
    assert.equal((await automation.post(`${place}/deny`)).json.code, 'actor_denied');
    await rig.ann.post(`${change}/on`);
    await plans.switchAddon(home!, 'n8n', false, 'a test');
    assert.equal((await automation.post(`${place}/deny`)).json.code, 'capability_locked');
    await plans.switchAddon(home!, 'n8n', true, 'a test');
    const api = await linkByHand(rig.server, rig.ann, { name: 'api' });
    const wish = { name: 'n8n', url: '', 'events[]': 'sealed', scope: 'ticked', 'workspaces[]': api.id };
    assert.equal((await rig.ann.post(change, wish)).status, 303);
    assert.equal((await automation.get(place)).json.code, 'not_found');
    await api.tellPending([{}]);
    assert.equal((await automation.get(`/v1/decisions/${api.id}/d-17`)).status, 200);
    // A workspace of another account, and the secret of a hosted webhook.
    const carl = await addOtherAccount(rig.ann, rig.server);
    const foreign = await linkByHand(rig.server, carl, { name: 'foreign' });
    await foreign.tellPending([{}]);
    assert.equal((await automation.get(`/v1/decisions/${foreign.id}/d-17`)).json.code, 'signature_invalid');
    const webhook = await rig.addTarget('webhook');
    const other = openAutomation(rig.server, webhook.secret);
    assert.equal((await other.get(place)).json.code, 'signature_invalid');
    // An unlinked one.
    await rig.ann.post(change, { ...wish, 'workspaces[]': shop.id });
    assert.equal((await automation.get(place)).status, 200);
    await rig.ann.post(`/app/workspaces/${shop.id}/revoke`);
    assert.equal((await automation.get(place)).json.code, 'signature_invalid');
  });

  it('a guesser of signatures has to wait, and the holder of the secret does not', async () => {
    const { rig, automation, place } = await openRig();
    const wrong = openAutomation(rig.server, 'whsec_wrong');
    for (let tries = 0; tries < 50; tries += 1) assert.equal((await wrong.get(place)).status, 401);
    const { status, json, headers } = await wrong.get(place);
    assert.deepEqual([status, json.code], [429, 'too_many_failures']);
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
    assert.equal((await automation.get(place)).status, 200);
  });
});
