import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { after, before, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AUTHORITY, CERTIFICATE, KEY } from '../../../fixtures/tls/certificate.ts';
import { assertReadsNoProxy } from '../../support/gateway/no-proxy-cases.ts';
import { type AskedCalls, type CallOutcome, TOKEN } from '../../support/server/link-calls-child.ts';
import { until } from '../../support/wait.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const CHILD = fileURLToPath(new URL('../../support/server/link-calls-child.js', import.meta.url));

describe('the connection of a linked workspace to its server', () => {
  /** Requests to the proxy; a tunnel by its target. */
  let asked: { target: string; headers: IncomingHttpHeaders }[] = [];
  /** The proxy's answer to CONNECT; null opens the tunnel, '' sends nothing. */
  let refusal: string | null = null;
  const proxy = createServer((request, response) => {
    asked.push({ target: request.url ?? '', headers: request.headers });
    response.end('{"by":"the proxy"}');
  });
  const answer: Parameters<typeof createServer>[1] = ({ headers }, response) =>
    void response.end(JSON.stringify({ authorization: headers.authorization }));
  const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, answer);
  const plain = createServer(answer);
  let child: CallingChild;
  let secure = '';
  let way = '';

  before(async () => {
    proxy.on('connect', (request, socket: Socket) => {
      socket.on('error', () => undefined);
      asked.push({ target: request.url ?? '', headers: request.headers });
      if (refusal !== null) {
        socket.resume().on('end', () => socket.end());
        return refusal === '' ? undefined : void socket.end(refusal);
      }
      const through = connect(portOf(server), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        through.pipe(socket).pipe(through);
      });
      through.on('error', () => undefined);
    });
    for (const each of [proxy, server, plain]) await once(each.listen(0, '127.0.0.1'), 'listening');
    secure = `https://svc.test:${portOf(server)}`;
    way = `http://127.0.0.1:${portOf(proxy)}`;
    const authority = join(temporaryFolder(), 'authority.pem');
    writeFileSync(authority, AUTHORITY);
    child = startCalls({ NODE_EXTRA_CA_CERTS: authority });
  });
  beforeEach(() => {
    asked = [];
    refusal = null;
  });
  after(async () => {
    await child.end();
    for (const each of [proxy, server, plain]) {
      each.closeAllConnections();
      each.close();
    }
  });

  const answered = [{ answer: { authorization: `Bearer ${TOKEN}` } }];
  /** Reports whether the call to `url` goes through the proxy; it arrives in either case. */
  async function goesThrough(env: Record<string, string>, url = secure): Promise<boolean> {
    asked = [];
    assert.deepEqual(await child.call({ env, urls: [url] }), answered, JSON.stringify(env));
    return asked.length > 0;
  }

  it('the connection trusts the authority that NODE_EXTRA_CA_CERTS names, and no other', async () => {
    assert.deepEqual(await child.call({ env: {}, urls: [secure] }), answered);
    const stranger = startCalls({});
    const [refused] = await stranger.call({ env: {}, urls: [secure] });
    await stranger.end();
    assert.match(messageOf(refused), /UNABLE_TO_VERIFY_LEAF_SIGNATURE$/);
    const [other] = await child.call({ env: {}, urls: [secure.replace('svc.test', 'svc.example')] });
    assert.match(messageOf(other), /ERR_TLS_CERT_ALTNAME_INVALID$/);
  });

  it('the connection uses the tunnel of a proxy, which sees neither token nor certificate, once for several calls', async () => {
    for (const env of [
      { HTTPS_PROXY: way },
      { https_proxy: way },
      { HTTP_PROXY: way },
      { http_proxy: way },
    ]) {
      asked = [];
      assert.deepEqual(await child.call({ env, urls: [secure, secure] }), [...answered, ...answered]);
      assert.deepEqual(
        asked.map(({ target }) => target),
        [new URL(secure).host],
      );
      assert.doesNotMatch(JSON.stringify(asked), new RegExp(TOKEN));
    }
  });

  it('the connection prefers the lower-case spelling, takes a proxy without its scheme, and sends it the name and password', async () => {
    const nowhere = 'http://127.0.0.1:9';
    assert.ok(await goesThrough({ https_proxy: way, HTTPS_PROXY: nowhere }));
    assert.ok(await goesThrough({ HTTPS_PROXY: way, HTTP_PROXY: nowhere, http_proxy: nowhere }));
    assert.ok(await goesThrough({ HTTPS_PROXY: way.replace('http://', '') }));
    assert.ok(await goesThrough({ HTTPS_PROXY: way.replace('//', '//me:p%40ss@') }));
    const [{ headers } = { headers: {} as IncomingHttpHeaders }] = asked;
    assert.equal(headers['proxy-authorization'], `Basic ${Buffer.from('me:p@ss').toString('base64')}`);
  });

  it('the connection bypasses the proxy where NO_PROXY names the server', async () => {
    refusal = 'HTTP/1.1 403 Forbidden\r\n\r\n';
    await assertReadsNoProxy(async (address, except, patienceMs) => {
      asked = [];
      await child.call({ env: { HTTPS_PROXY: way, NO_PROXY: except }, urls: [address], patienceMs });
      return asked.length > 0;
    });
    refusal = null;
    for (const name of ['NO_PROXY', 'no_proxy']) {
      assert.equal(await goesThrough({ HTTPS_PROXY: way, [name]: 'svc.test' }), false);
      assert.ok(await goesThrough({ HTTPS_PROXY: way, [name]: 'other.test' }));
    }
  });

  it('the connection uses no proxy to this machine, the only host for http, so that no proxy sees a token', async () => {
    const env = { HTTPS_PROXY: way, HTTP_PROXY: way };
    for (const host of ['127.0.0.1', 'localhost']) {
      assert.equal(await goesThrough(env, `http://${host}:${portOf(plain)}`), false);
      assert.equal(await goesThrough(env, `https://${host}:${portOf(server)}`), false);
    }
  });

  it('the connection leaves no socket to a proxy that never answers, or refuses', async () => {
    const env = { HTTPS_PROXY: way };
    for (const said of ['', 'HTTP/1.1 403 Forbidden\r\n\r\n']) {
      refusal = said;
      await child.call({ env, urls: [secure, secure], patienceMs: 200 });
      await until(async () => (await countConnections(proxy)) === 0, 'the end of the connections');
    }
  });

  it("the connection explains a proxy's fault, and never its password", async () => {
    const through = async (address: string, patienceMs = 15_000): Promise<string> => {
      const [outcome] = await child.call({ env: { HTTPS_PROXY: address }, urls: [secure], patienceMs });
      const message = messageOf(outcome);
      assert.doesNotMatch(message, /hunter2/);
      return message;
    };
    const secret = way.replace('//', '//me:hunter2@');
    refusal = 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n';
    assert.match(await through(secret), /the proxy of HTTPS_PROXY or HTTP_PROXY refuses the connection$/);
    refusal = '';
    assert.match(await through(secret, 200), /no answer within 0\.2 s$/);
    assert.match(await through('http://me:hunter2@127.0.0.1:1'), /ECONNREFUSED$/);
    assert.match(await through('http://me:hunter2@ho st'), /HTTPS_PROXY is not an address$/);
    assert.match(await through('socks5://me:hunter2@127.0.0.1:1'), /HTTPS_PROXY .* http:\/\/ or https:\/\/$/);
  });
});

const portOf = (listening: Pick<Server, 'address'>): number => (listening.address() as AddressInfo).port;

const countConnections = (listening: Server): Promise<number> =>
  new Promise((resolve, reject) =>
    listening.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

const messageOf = (outcome: CallOutcome | undefined): string =>
  outcome !== undefined && 'message' in outcome ? outcome.message : `answered: ${JSON.stringify(outcome)}`;

interface CallingChild {
  call(asked: AskedCalls): Promise<CallOutcome[]>;
  end(): Promise<void>;
}

/** A process that calls servers, because trust settings are read at the start of a process. */
function startCalls(env: NodeJS.ProcessEnv): CallingChild {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child: ChildProcess = spawn(process.execPath, [CHILD], {
    env: { PATH, HOME, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: Interface = createInterface({ input: child.stdout! });
  return {
    async call(asked) {
      const line = once(lines, 'line');
      child.stdin!.write(`${JSON.stringify(asked)}\n`);
      return JSON.parse((await line)[0] as string) as CallOutcome[];
    },
    async end() {
      const ended = once(child, 'exit');
      child.stdin!.end();
      await ended;
    },
  };
}
