import assert from 'node:assert/strict';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { renderUnicodeCompact } from 'uqr';
import { SVC } from '../../cli/self.ts';
import { listenOn } from '../../engine/core/http/listen.ts';
import { startTestServer } from '../support/server/linked-server.ts';
import { openTerminal, withTmux } from '../support/terminals/terminal.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

describe('a server on a terminal', withTmux, () => {
  it('a new server says in one sentence which page to open and which code to type', async (t) => {
    const folder = temporaryFolder('server-');
    const terminal = await openTerminal({
      command: [process.execPath, SVC, 'server', 'serve', '--data', folder, '--addr', '127.0.0.1:0'],
      cwd: folder,
      env: { HOME: folder },
      columns: 200,
    });
    t.after(() => terminal.close());
    const sentence =
      /^open (http:\/\/127\.0\.0\.1:\d+\/setup) in a browser and type in the code ([A-Z-]{19})$/m;
    const screen = await terminal.shows(sentence);
    const [, page = '', code] = sentence.exec(screen) ?? [];
    assert.match(await (await fetch(page)).text(), /Set up this server/);
    assert.ok(screen.includes(`"setup_code":"${code}"`), 'the log has it too');
    terminal.keys('C-c');
    assert.equal((await terminal.exited()).status, 0);
  });

  it('svc login shows a QR code of the page only where there is room, and none of an address that a phone cannot open', async (t) => {
    const server = await startTestServer({ publicUrl: 'https://svc.example.org' });
    const own = await startTestServer();
    const proxy = createProxy(server.port, 'svc.example.org');
    await listenOn(proxy, { host: '127.0.0.1', port: 0 });
    t.after(async () => {
      proxy.close();
      await Promise.all([server.close(), own.close()]);
    });
    const proxied = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    async function logIn(url: string, columns: number): Promise<string> {
      const home = temporaryFolder('machine-home-');
      const terminal = await openTerminal({
        command: [process.execPath, SVC, 'login', url, '--no-browser'],
        cwd: home,
        env: { HOME: home, SVC_HOME: home },
        columns,
        rows: 50,
      });
      t.after(() => terminal.close());
      return terminal.shows('it expires at');
    }
    const screen = await logIn(proxied, 100);
    const [drawn = '', rest = ''] = screen.split('scan it with a phone, or');
    const [, code = ''] = /type in the code ([A-Z-]{9})/.exec(rest) ?? [];
    const expected = renderUnicodeCompact(`https://svc.example.org/device?user_code=${code}`, { border: 2 });
    assert.deepEqual(trimLines(drawn), trimLines(expected));
    assert.doesNotMatch(await logIn(proxied, 30), /█/);
    assert.doesNotMatch(await logIn(own.url, 100), /█/);
  });
});

const trimLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');

/** Creates a proxy that reaches a server under its public name. */
const createProxy = (port: number, host: string): Server =>
  createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const asked = forward({ port, method, path: url, headers: { ...headers, host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(asked);
  });
