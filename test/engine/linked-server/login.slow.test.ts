import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Browser,
  logMachineIn,
  onBothDatabases,
  openBrowser,
  setUpServer,
} from '../../support/server/linked-server.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

async function startLogin(terminal: Browser, machine = 'laptop') {
  const answer = await terminal.post('/oauth/device_authorization', { client_id: 'svc', machine });
  assert.equal(answer.status, 200);
  return JSON.parse(answer.text) as {
    device_code: string;
    user_code: string;
    verification_uri: string;
    verification_uri_complete: string;
    expires_in: number;
    interval: number;
  };
}

const poll = async (terminal: Browser, code: string) => {
  const answer = await terminal.post('/oauth/token', {
    client_id: 'svc',
    grant_type: GRANT,
    device_code: code,
  });
  return {
    status: answer.status,
    headers: answer.headers,
    body: JSON.parse(answer.text) as Record<string, string>,
  };
};

onBothDatabases((start) => {
  describe('the device authorization grant', () => {
    it('the grant logs a machine in once a person has allowed it, and gives one token to many polls', async () => {
      const server = await start();
      try {
        const [ann, terminal] = [await setUpServer(server), openBrowser(server)];
        const begun = await startLogin(terminal);
        assert.match(begun.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
        assert.equal(begun.verification_uri, `${server.url}/device`);
        assert.equal((await poll(terminal, begun.device_code)).body.error, 'authorization_pending');
        const page = await ann.get(`/device?user_code=${begun.user_code}`);
        assert.match(page.text, new RegExp(`value="${begun.user_code}"`));
        const asked = await ann.post('/device', {
          user_code: begun.user_code.toLowerCase().replace('-', ' '),
        });
        assert.match(asked.text, /laptop/);
        await ann.post('/device/answer', { user_code: begun.user_code, answer: 'allow' });
        const polls = await Promise.all(Array.from({ length: 20 }, () => poll(terminal, begun.device_code)));
        const taken = polls.filter(({ status }) => status === 200);
        assert.equal(taken.length, 1);
        assert.equal(taken[0]?.headers.get('cache-control'), 'no-store');
        assert.deepEqual(
          [...new Set(polls.filter(({ status }) => status !== 200).map(({ body }) => body.error))],
          ['invalid_grant'],
        );
        const token = taken[0]?.body.access_token;
        const known = await terminal.get('/v1/machine', { authorization: `Bearer ${token}` });
        assert.equal(JSON.parse(known.text).person, 'ann');
        await terminal.post('/oauth/revoke', { token: token! });
        assert.equal((await terminal.get('/v1/machine', { authorization: `Bearer ${token}` })).status, 401);
      } finally {
        await server.close();
      }
    });

    it('polls that come too soon are slowed down permanently', async () => {
      const server = await start();
      try {
        await setUpServer(server);
        const terminal = openBrowser(server);
        const { device_code: code } = await startLogin(terminal);
        assert.equal((await poll(terminal, code)).body.error, 'authorization_pending');
        assert.equal((await poll(terminal, code)).body.error, 'slow_down');
        server.clock.advance(6000);
        assert.equal((await poll(terminal, code)).body.error, 'slow_down');
        server.clock.advance(15_000);
        assert.equal((await poll(terminal, code)).body.error, 'authorization_pending');
      } finally {
        await server.close();
      }
    });

    it('a refusal, an expired code and an unknown one are distinguished', async () => {
      const server = await start();
      try {
        const [ann, terminal] = [await setUpServer(server), openBrowser(server)];
        const refused = await startLogin(terminal);
        await ann.post('/device', { user_code: refused.user_code });
        await ann.post('/device/answer', { user_code: refused.user_code, answer: 'refuse' });
        assert.equal((await poll(terminal, refused.device_code)).body.error, 'access_denied');
        const late = await startLogin(terminal);
        server.clock.advance(15 * 60_000);
        assert.equal((await poll(terminal, late.device_code)).body.error, 'expired_token');
        assert.equal((await ann.post('/device', { user_code: late.user_code })).status, 404);
        assert.equal((await poll(terminal, 'unknown')).body.error, 'invalid_grant');
      } finally {
        await server.close();
      }
    });

    it('only the person who looked the code up can answer it', async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const made = await ann.post('/operator/accounts', { account: 'other', name: 'carl' });
        const carl = openBrowser(server);
        await carl.post(/\/invitation\/[\w-]+/.exec(made.text)![0], { password: 'correct horse battery' });
        const terminal = openBrowser(server);
        const { user_code: code, device_code: device } = await startLogin(terminal);
        assert.equal((await carl.post('/device/answer', { user_code: code, answer: 'allow' })).status, 404);
        assert.equal((await ann.post('/device', { user_code: code })).status, 200);
        assert.equal((await carl.post('/device', { user_code: code })).status, 404);
        assert.equal((await carl.post('/device/answer', { user_code: code, answer: 'allow' })).status, 404);
        assert.equal((await poll(terminal, device)).body.error, 'authorization_pending');
      } finally {
        await server.close();
      }
    });

    it('guesses of codes are refused after ten', async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const guesses = [];
        for (let guess = 0; guess < 11; guess += 1)
          guesses.push((await ann.post('/device', { user_code: `BBBB-BBB${guess}` })).status);
        assert.deepEqual(guesses, [...Array<number>(10).fill(404), 429]);
      } finally {
        await server.close();
      }
    });

    it('errors follow the standard', async () => {
      const server = await start();
      try {
        await setUpServer(server);
        const terminal = openBrowser(server);
        const token = async (fields: Record<string, string>, headers = {}) =>
          JSON.parse((await terminal.post('/oauth/token', fields, headers)).text).error;
        assert.equal(await token({}), 'invalid_request');
        assert.equal(await token({ grant_type: 'password' }), 'unsupported_grant_type');
        assert.equal(
          await token({ grant_type: GRANT, client_id: 'other', device_code: 'x' }),
          'invalid_client',
        );
        assert.equal(await token({ grant_type: GRANT, client_id: 'svc' }), 'invalid_request');
        assert.equal(
          await token({ grant_type: GRANT }, { 'content-type': 'application/json' }),
          'invalid_request',
        );
        const { request } = await import('undici');
        const twice = await request(`${server.url}/oauth/token`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: 'client_id=svc&client_id=svc',
        });
        assert.equal(((await twice.body.json()) as { error: string }).error, 'invalid_request');
        assert.equal((await terminal.post('/oauth/revoke', { token: 'unknown' })).status, 200);
      } finally {
        await server.close();
      }
    });

    it('the server accepts at most twenty open codes of one address', async () => {
      const server = await start();
      try {
        await setUpServer(server);
        const terminal = openBrowser(server);
        for (let started = 0; started < 20; started += 1) await startLogin(terminal);
        const more = await terminal.post('/oauth/device_authorization', { client_id: 'svc' });
        assert.equal(more.status, 429);
      } finally {
        await server.close();
      }
    });

    it('all addresses of one IPv6 network share that limit', async () => {
      const server = await start({ publicUrl: 'https://svc.example.org', trustProxy: ['127.0.0.1'] });
      try {
        await setUpServer(server);
        const ask = async (address: string): Promise<number> => {
          const headers = { 'x-forwarded-for': address };
          const { status } = await openBrowser(server).post(
            '/oauth/device_authorization',
            { client_id: 'svc' },
            headers,
          );
          return status;
        };
        for (let host = 1; host <= 20; host += 1) assert.equal(await ask(`2001:db8::${host}`), 200);
        assert.equal(await ask('2001:db8:0:0:ffff::1'), 429);
        assert.equal(await ask('2001:db8:0:1::1'), 200);
      } finally {
        await server.close();
      }
    });

    it('a client that knows only the standards finds the grant', async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const client = await import('openid-client');
        const found = await client.discovery(new URL(server.url), 'svc', undefined, client.None(), {
          algorithm: 'oauth2',
          execute: [client.allowInsecureRequests],
        });
        const begun = await client.initiateDeviceAuthorization(found, {});
        await ann.post('/device', { user_code: begun.user_code });
        await ann.post('/device/answer', { user_code: begun.user_code, answer: 'allow' });
        const tokens = await client.pollDeviceAuthorizationGrant(found, { ...begun, interval: 0 });
        assert.match(tokens.access_token, /^svcm_/);
        await client.tokenRevocation(found, tokens.access_token);
        const answer = await openBrowser(server).get('/v1/machine', {
          authorization: `Bearer ${tokens.access_token}`,
        });
        assert.equal(answer.status, 401);
      } finally {
        await server.close();
      }
    });
  });

  it('a machine or workspace with an invisible name gets a readable one', async () => {
    const server = await start();
    try {
      const ann = await setUpServer(server);
      const token = await logMachineIn(server, ann, ' \u200b\u202e\u2060 ');
      assert.match((await ann.get('/app/machines')).text, /aria-label="Revoke unnamed"/);
      const body = { key: 'a'.repeat(32), name: '\u200b\ufeff', version: '1.0.0' };
      const headers = { authorization: `Bearer ${token}`, 'svc-protocol': '1' };
      const linked = await openBrowser(server).postJson('/v1/workspaces', body, headers);
      assert.equal(linked.status, 200, linked.text);
      assert.match((await ann.get('/app/workspaces')).text, />unnamed</);
    } finally {
      await server.close();
    }
  });

  it("the page shows a machine's own words as text, and is the only place to revoke it", async () => {
    const server = await start();
    try {
      const ann = await setUpServer(server);
      const token = await logMachineIn(server, ann, '<script>alert(1)</script>\u202e\u001b[31m@all');
      const page = (await ann.get('/app/machines')).text;
      assert.doesNotMatch(page, /<script|\u001b|\u202e/);
      assert.match(page, /&lt;script&gt;/);
      const id = /\/app\/machines\/(m_[\w-]+)\/revoke/.exec(page)![1];
      const made = await ann.post('/operator/accounts', { account: 'other', name: 'carl' });
      const carl = openBrowser(server);
      await carl.post(/\/invitation\/[\w-]+/.exec(made.text)![0], { password: 'correct horse battery' });
      assert.equal((await carl.post(`/app/machines/${id}/revoke`)).status, 404);
      assert.equal((await ann.post(`/app/machines/${id}/revoke`)).status, 303);
      const answer = await openBrowser(server).get('/v1/machine', { authorization: `Bearer ${token}` });
      assert.equal(answer.status, 401);
    } finally {
      await server.close();
    }
  });
});
