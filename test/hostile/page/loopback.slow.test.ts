import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before } from 'node:test';
import { readDaemonRecord } from '../../../engine/index.ts';
import { hostile } from '../../support/hostile.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

let ws: TestWorkspace;
before(async () => {
  ws = await makeWorkspace();
  (await ws.connect()).close();
});
after(() => ws.close());

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends the request that a browser sends for a page; `Host` is the host of the page's address. */
const ask = (port: number, method: string, path: string, headers: Record<string, string>, body = '') =>
  new Promise<Answer>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        text += piece;
      });
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });

const record = () => {
  const found = readDaemonRecord(`${ws.root}/.svc`);
  assert.ok(found);
  return found;
};

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'page', version: '1' } },
});
const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

hostile(
  {
    attacker: 'page',
    tries: 'call /mcp under its own name that resolves to 127.0.0.1',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    const { http, token } = record();
    // Refused even with the token: the host alone is enough.
    for (const host of [
      'attacker.example',
      `attacker.example:${http.port}`,
      '127.0.0.1.attacker.example',
      'x@attacker.example',
    ])
      for (const authorization of [{}, { authorization: `Bearer ${token}` }]) {
        const answer = await ask(
          http.port,
          'POST',
          '/mcp',
          { ...JSON_HEADERS, ...authorization, host },
          INITIALIZE,
        );
        assert.ok([400, 401, 403].includes(answer.status), `${host}: ${answer.status} ${answer.body}`);
      }
  },
);

hostile(
  {
    attacker: 'page',
    tries: 'call /mcp at 127.0.0.1 across origins, with or without a preflight',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    const { http, token } = record();
    const host = `127.0.0.1:${http.port}`;
    for (const origin of [
      'https://attacker.example',
      'null',
      `http://127.0.0.1:${http.port}.attacker.example`,
    ]) {
      const asked = await ask(http.port, 'OPTIONS', '/mcp', {
        host,
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type',
      });
      assert.equal(asked.headers['access-control-allow-origin'], undefined);
      // A request without a preflight: plain text and no custom header.
      const simple = await ask(
        http.port,
        'POST',
        '/mcp',
        { host, origin, 'content-type': 'text/plain' },
        INITIALIZE,
      );
      assert.ok([401, 403].includes(simple.status), String(simple.status));
      const headers = { ...JSON_HEADERS, host, origin, authorization: `Bearer ${token}` };
      assert.equal((await ask(http.port, 'POST', '/mcp', headers, INITIALIZE)).status, 403);
    }
  },
);

hostile(
  {
    attacker: 'page',
    tries: 'guess or omit the token of /mcp, or send it in the address',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    const { http, token } = record();
    const host = `127.0.0.1:${http.port}`;
    const shown: [string, Record<string, string>][] = [
      ['/mcp', {}],
      ['/mcp', { authorization: 'Bearer ' }],
      ['/mcp', { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` }],
      ['/mcp', { authorization: `Bearer ${token.slice(0, -1)}` }],
      ['/mcp', { cookie: `token=${token}` }],
      [`/mcp?token=${token}`, {}],
      [`/mcp?access_token=${token}`, {}],
    ];
    for (const [path, headers] of shown) {
      const answer = await ask(http.port, 'POST', path, { ...JSON_HEADERS, host, ...headers }, INITIALIZE);
      assert.ok([401, 404].includes(answer.status), `${path}: ${answer.status}`);
      assert.ok(!answer.body.includes(token));
    }
  },
);

hostile(
  {
    attacker: 'page',
    tries: 'post a form to the receiver and have it taken for a signed request',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    const [, port] = (await ws.receiver()).split(':');
    const form = 'prompt=rm+-rf&agent=scripted&approve=true&dispatch=true';
    for (const path of ['/task', '/chat', '/codehost', '/decisions/d-1/approve'])
      for (const type of [
        'application/x-www-form-urlencoded',
        'text/plain',
        'multipart/form-data; boundary=x',
      ]) {
        const headers = {
          host: `127.0.0.1:${port}`,
          origin: 'https://attacker.example',
          'content-type': type,
        };
        const answer = await ask(Number(port), 'POST', path, headers, form);
        assert.equal(answer.status, 401, `${path} ${type}: ${answer.status} ${answer.body}`);
      }
    assert.deepEqual((await ws.svc(['task', 'list', '--json'])).json(), []);
  },
);
