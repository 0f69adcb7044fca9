import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { METADATA } from '../../../../engine/core/http/metadata-addresses.ts';
import { NO_PROXIES } from '../../../../engine/core/http/proxies.ts';
import {
  createUpstreams,
  keepAllowed,
  type UpstreamListener,
} from '../../../../engine/gateway/server/upstream.ts';
import { MODEL, startUpstream, type Upstream, WORDS } from '../../../../fixtures/upstream/upstream.ts';
import { startConnectProxy } from '../../../support/gateway/connect-proxy.ts';
import { CLOSED_PORT, makeGateway, makeProvider, REAL_KEY } from '../../../support/gateway/gateway.ts';
import { assertReadsNoProxy } from '../../../support/gateway/no-proxy-cases.ts';
import { startSilentTarget } from '../../../support/gateway/silent-target.ts';
import { until } from '../../../support/wait.ts';

const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'Hello' }] };
const chat = '/v1/chat/completions';

test('a public name cannot lead to this machine or to cloud metadata, and a local name can', () => {
  const near = [
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    'fe80::1',
    'fd00:ec2::254',
    '64:ff9b::7f00:1',
    '::ffff:168.63.129.16',
    '64:ff9b::6464:64c8',
    ...METADATA,
  ];
  const far = ['93.184.216.34', '10.1.2.3', '192.168.1.9', '2606:2800::1'];
  const keep = (host: string, list: string[]): string[] =>
    keepAllowed(
      host,
      list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    ).map(({ address }) => address);
  assert.deepEqual(keep('models.example.com', [...near, ...far]), far);
  for (const host of ['localhost', 'gpu', 'gpu.lan', 'models.internal'])
    assert.deepEqual(keep(host, near), near, host);
});

test('a call after an unanswered one uses another connection, also with HTTP/2', async () => {
  const target = await startSilentTarget();
  const upstreams = createUpstreams({ connectMs: 5000, proxies: NO_PROXIES });
  const limits = { connectMs: 5000, firstByteMs: 5000, idleMs: 5000 };
  const request = { method: 'GET', path: '/', headers: {}, body: null, limits } as const;
  const send = (listener: Partial<UpstreamListener>) => {
    const unheard = () => undefined;
    const whole = { onHead: unheard, onData: unheard, onEnd: unheard, onFault: unheard, ...listener };
    return upstreams.send(`https://127.0.0.1:${target.port}`, request, whole);
  };
  try {
    const first = send({});
    await target.asked;
    first.abort();
    const status = await new Promise((onHead, onFault) => send({ onHead, onFault }));
    assert.equal(status, 200);
  } finally {
    await upstreams.close();
    target.close();
  }
});

describe('the targets of calls', () => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  test('a redirect is not followed, so that a key reaches no other host', async () => {
    const reached: IncomingHttpHeaders[] = [];
    const elsewhere = createServer((request, response) => {
      reached.push(request.headers);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/v1/chat/completions`;
    for (const status of [301, 302, 303, 307, 308]) {
      const redirecting = createServer((request, response) => {
        request.resume();
        response.writeHead(status, { location: target }).end();
      }).listen(0, '127.0.0.1');
      await once(redirecting, 'listening');
      const rig = await makeGateway({
        settings: {
          providers: [makeProvider(`http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/v1`)],
        },
      });
      const answer = await rig.post(chat, CHAT);
      assert.equal(answer.status, 502);
      assert.match(await answer.text(), /redirects to another address/);
      assert.equal(answer.headers.get('location'), null);
      await rig.close();
      redirecting.closeAllConnections();
      redirecting.close();
    }
    assert.equal(reached.length, 0);
    elsewhere.close();
  });

  test('lists of models are read once or repeatedly, and never in a tight loop for an overlong interval', async () => {
    let looks = 0;
    const listing = createServer((request, response) => {
      request.resume();
      looks += 1;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: [{ id: `model-${looks}` }] }));
    }).listen(0, '127.0.0.1');
    await once(listing, 'listening');
    const { port } = listing.address() as AddressInfo;
    const providers = [makeProvider(`http://127.0.0.1:${port}/v1`)];
    const rig = await makeGateway({ settings: { providers, probeIntervalSec: 9_999_999 } });
    const list = async (): Promise<string> =>
      (await fetch(`${rig.url}/v1/models`, { headers: { authorization: `Bearer ${rig.runKey}` } })).text();
    try {
      await until(async () => (await list()).includes('"model-1"'), 'the first look');
      assert.equal(looks, 1);
      await rig.configure({ providers, probeIntervalSec: 1 });
      await until(async () => (await list()).includes('"model-3"'), 'a look of its own accord');
      await rig.configure({ providers, probeIntervalSec: 0 });
    } finally {
      await rig.close();
      listing.closeAllConnections();
      listing.close();
    }
  });

  describe('calls through a proxy', () => {
    const asked: { target: string; headers: IncomingHttpHeaders }[] = [];
    let refuses = false;
    const proxy = createServer();
    let address = '';
    before(async () => {
      proxy.on('connect', (request, socket) => {
        socket.on('error', () => undefined);
        asked.push({ target: request.url ?? '', headers: request.headers });
        if (refuses) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
        // All targets lead to the test's upstream.
        const through = connect(Number(new URL(upstream.url).port), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          through.pipe(socket).pipe(through);
        });
        through.on('error', () => undefined);
      });
      proxy.listen(0, '127.0.0.1');
      await once(proxy, 'listening');
      address = `http://me:pass@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    });
    after(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const open = (baseUrl: string, { through = address, except = '' } = {}) =>
      makeGateway({
        settings: { providers: [makeProvider(baseUrl)] },
        proxies: { http: through, https: through, except },
        limits: { attempts: 1 },
      });

    test('another machine is reached through a tunnel, and the proxy sees no key', async () => {
      const rig = await open('http://models.example:8080/v1');
      try {
        upstream.plan('none');
        for (const stream of [false, true]) {
          const answer = await rig.post(chat, { ...CHAT, stream });
          const text = await answer.text();
          assert.equal(answer.status, 200, text);
          assert.ok(stream ? text.includes('[DONE]') : text.includes(WORDS));
        }
        assert.equal(upstream.asked.at(-1)?.headers.authorization, `Bearer ${REAL_KEY}`);
        assert.equal(upstream.asked.at(-1)?.headers.host, 'models.example:8080');
        assert.ok(asked.every(({ target }) => target === 'models.example:8080'));
        assert.match(asked[0]?.headers['proxy-authorization'] ?? '', /^Basic /);
        assert.doesNotMatch(JSON.stringify(asked), new RegExp(REAL_KEY));
        refuses = true;
        const other = await open('http://other.example/v1');
        const refused = await other.post(chat, CHAT);
        assert.equal(refused.status, 502);
        assert.match(await refused.text(), /the proxy of HTTPS_PROXY or HTTP_PROXY refuses the connection/);
        await other.close();
      } finally {
        refuses = false;
        await rig.close();
      }
    });

    test('hosts in NO_PROXY are reached directly, and a missing proxy is reported', async () => {
      const before = asked.length;
      // A non-loopback address of this machine, if it has one.
      const own = Object.values(networkInterfaces())
        .flat()
        .find((each) => each?.internal === false && each.family === 'IPv4');
      if (own !== undefined) {
        const direct = await open(`http://${own.address}:${CLOSED_PORT}/v1`, {
          except: `some.example,${own.address}`,
        });
        const refused = await direct.post(chat, CHAT);
        assert.match(await refused.text(), /cannot be reached \(ECONNREFUSED\)/);
        await direct.close();
      }
      assert.equal(asked.length, before);
      const through = `http://127.0.0.1:${CLOSED_PORT}`;
      const lost = await open('http://models.example/v1', { through });
      const answer = await lost.post(chat, CHAT);
      assert.match(
        await answer.text(),
        /the upstream, or the proxy in front of it, cannot be reached \(ECONNREFUSED\)/,
      );
      assert.equal(answer.status, 502);
      await lost.close();
    });

    test('NO_PROXY is parsed as usual', async () => {
      const refusing = await startConnectProxy();
      try {
        await assertReadsNoProxy(async (address, except, patienceMs) => {
          const asked = refusing.asked.length;
          const upstreams = createUpstreams({
            connectMs: patienceMs,
            proxies: { http: '', https: refusing.url, except },
          });
          const { promise: ended, resolve: end } = Promise.withResolvers<void>();
          const limits = { connectMs: patienceMs, firstByteMs: patienceMs, idleMs: patienceMs };
          upstreams.send(
            address,
            { method: 'GET', path: '/', headers: {}, body: null, limits },
            { onHead: () => end(), onData: () => undefined, onEnd: end, onFault: () => end() },
          );
          await ended;
          await upstreams.close();
          return refusing.asked.length > asked;
        });
      } finally {
        await refusing.close();
      }
    });

    test('an unusable proxy is reported', async () => {
      const rig = await open('http://models.example/v1', { through: 'socks5://me:hunter2@127.0.0.1:1' });
      const answer = await rig.post(chat, CHAT);
      const text = await answer.text();
      await rig.close();
      assert.equal(answer.status, 502, text);
      assert.match(text, /the proxy of HTTPS_PROXY or HTTP_PROXY must be http:\/\/ or https:\/\//);
      assert.doesNotMatch(text, /hunter2/);
    });

    test('this machine is reached without the proxy', async () => {
      const before = asked.length;
      const rig = await open(`${upstream.url}/v1`);
      try {
        upstream.plan('none');
        assert.equal((await rig.post(chat, CHAT)).status, 200);
        assert.equal(asked.length, before);
      } finally {
        await rig.close();
      }
    });
  });
});
