import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import { findProgram } from '../../../../engine/core/base/find-program.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { openBrowser, setUpServer } from '../../../support/server/linked-server.ts';
import { startLoginProgram } from '../../../support/server/login-program.ts';
import { startServerProgram } from '../../../support/server/server-program.ts';
import { until } from '../../../support/wait.ts';
import { runHere } from '../../../support/workspaces/command-line.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { makeWorkspace } from '../../../support/workspaces/workspace.ts';

const HOST = 'svc.example.org';
const URL_OF_IT = `https://${HOST}`;
const CADDY = findProgram('caddy', { cwd: '/', path: process.env.PATH });
const withCaddy = { skip: CADDY === undefined ? 'caddy is not installed' : false };

async function listen(t: TestContext, server: Server): Promise<number> {
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Runs the server with the flags of the printed unit, and Caddy with the printed Caddyfile on other ports. */
async function startBoth(t: TestContext) {
  const folder = temporaryFolder('server-');
  const printed = await runHere(['server', 'install', '--host', HOST, '--user', 'root', '--json'], {
    cwd: folder,
    env: { HOME: folder, PATH: process.env.PATH },
    input: '',
  });
  const { unit, caddyfile } = printed.json<{ unit: string; caddyfile: string }>();
  const [, flags = ''] = /"serve" "--data" "[^"]*" (.*)/.exec(unit) ?? [];
  const args = flags.split(' ').map((word) => JSON.parse(word) as string);
  assert.deepEqual(args, ['--public-url', URL_OF_IT, '--trust-proxy', '127.0.0.1']);
  const server = await startServerProgram(folder, { args });
  t.after(() => server.stop());

  const [http, https] = [await findFreePort(), await findFreePort()];
  const main = join(folder, 'Caddyfile');
  assert.ok(caddyfile.includes('127.0.0.1:8791'));
  const text = caddyfile.replace('127.0.0.1:8791', `127.0.0.1:${server.port}`);
  writeFileSync(
    main,
    `{\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${https}\n\tlocal_certs\n\tskip_install_trust\n}\n${text}`,
  );
  const caddy = spawn(CADDY!, ['run', '--adapter', 'caddyfile', '--config', main], {
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(caddy, 'exit');
  t.after(async () => {
    caddy.kill();
    await ended;
  });
  let said = '';
  caddy.stderr.on('data', (part: Buffer) => {
    said += part;
  });
  const authority = join(folder, 'caddy/pki/authorities/local/root.crt');
  await until(() => {
    assert.equal(caddy.exitCode, null, said);
    return existsSync(authority) && said.includes('certificate obtained successfully');
  }, 'the certificate');
  const ca = readFileSync(authority);

  /** Opens a browser whose connections come from an address of this machine. */
  async function browseFrom(localAddress: string) {
    const entry = createServer((socket) => {
      const socketOut = connect({ port: https, host: '127.0.0.1', localAddress });
      const through = connectSecurely({ socket: socketOut, servername: HOST, ca });
      through.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.on('error', () => through.destroy()).on('close', () => through.destroy());
      through.pipe(socket).pipe(through);
    });
    return { url: URL_OF_IT, port: await listen(t, entry) };
  }
  const place = await browseFrom('127.0.0.1');
  await until(async () => {
    const answer = await openBrowser(place)
      .get('/healthz')
      .catch(() => null);
    return answer?.status === 200;
  }, 'the server behind caddy');
  return { server, https, authority, browseFrom };
}

it(
  'a server behind the printed Caddyfile logs a machine in, links it, and starts what a page approves',
  withCaddy,
  async (t) => {
    const { server, https, authority, browseFrom } = await startBoth(t);
    // The name exists in no DNS here, so the machine's programs reach it by a tunnel.
    const tunnel = createProxy().on('connect', (_request, socket) => {
      const through = connect(https, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        through.pipe(socket).pipe(through);
      });
      through.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.on('error', () => through.destroy()).on('close', () => through.destroy());
    });
    const env = {
      HTTPS_PROXY: `http://127.0.0.1:${await listen(t, tunnel)}`,
      NODE_EXTRA_CA_CERTS: authority,
    };
    const ws = await makeWorkspace({ env });
    t.after(() => ws.close());
    const run = async (...words: string[]): Promise<void> => {
      const { code, stderr } = await ws.program(words);
      assert.equal(code, 0, stderr);
    };
    const place = await browseFrom('127.0.0.1');
    const ann = await setUpServer({ ...place, codes: [server.setupCode ?? ''] });
    const login = startLoginProgram(URL_OF_IT, ws.env);
    t.after(() => login.child.kill());
    const code = await login.code;
    await ann.post('/device', { user_code: code });
    await ann.post('/device/answer', { user_code: code, answer: 'allow' });
    assert.equal(await login.ended, 0);
    await run('link');
    await run('config', 'set', 'server.decide', '{ann: [page]}');
    assert.equal((await ws.post('say hello')).status, 201);
    const page = await until(async () => {
      const list = await ann.get('/app');
      const path = /\/app\/decisions\/w_[\w-]+\/d-\d+/.exec(list.text)?.[0];
      if (path === undefined) return null;
      const one = await ann.get(path);
      return one.text.includes('name="hash"') ? { path, text: one.text } : null;
    }, 'the decision on the page');
    const [, hash = ''] = /name="hash" value="([0-9a-f]{64})"/.exec(page.text) ?? [];
    const pressed = await ann.post(`${page.path}/approve`, { hash });
    assert.equal(pressed.status, 303, pressed.text);
    await until(async () => /s-\d+ has started/.test((await ann.get(page.path)).text), 'the started session');
  },
);

it(
  'guesses from one address behind the printed Caddyfile do not lock out another one, whatever it claims',
  withCaddy,
  async (t) => {
    const { server, browseFrom } = await startBoth(t);
    await setUpServer({ ...(await browseFrom('127.0.0.1')), codes: [server.setupCode ?? ''] });
    const guesser = openBrowser(await browseFrom('127.0.0.2'));
    const guess = (browser: typeof guesser, claimed: string) =>
      browser.post('/sign-in', { name: 'ann', password: 'wrong wrong' }, { 'x-forwarded-for': claimed });
    for (let tries = 0; tries < 5; tries += 1)
      assert.equal((await guess(guesser, `9.9.9.${tries}`)).status, 403);
    assert.equal((await guess(guesser, '9.9.9.99')).status, 429);
    const other = openBrowser(await browseFrom('127.0.0.3'));
    assert.equal((await guess(other, '127.0.0.2')).status, 403);
  },
);
