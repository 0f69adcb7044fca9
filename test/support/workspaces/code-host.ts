import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Reader } from '../terminals/reader.ts';

interface Hook {
  events: string[];
  config: { url: string; content_type: string; secret: string };
}

export interface CodeHost {
  hooks: Hook[];
  /** Sends a signed event to the hook as GitHub does; returns the receiver's answer. */
  deliver(event: string, payload: object): Promise<{ status: number; body: Record<string, unknown> }>;
  close(): Promise<void>;
}

const NODE = `#!${process.execPath}\n`;

/** Forwards connections to the address in --url; ends with the shell that started it. */
const CLOUDFLARED = `${NODE}
const { createServer, connect } = require('node:net');
const words = process.argv.slice(2);
if (words[0] !== 'tunnel' || words[1] !== '--url') process.exit(2);
const { hostname, port } = new URL(words[2]);
const server = createServer((from) => {
  const to = connect(Number(port), hostname);
  from.pipe(to).pipe(from);
  for (const each of [from, to]) each.on('error', () => { from.destroy(); to.destroy(); });
});
server.listen(0, '127.0.0.1', () =>
  console.error('INF |  https://port-' + server.address().port + '.trycloudflare.com  |'));
`;

/** Implements `gh api` for the one call that the recipes make. */
const gh = (url: string): string => `${NODE}
const [api, path, input, file] = process.argv.slice(2);
if (api !== 'api' || path !== 'repos/{owner}/{repo}/hooks' || input !== '--input' || file !== '-') process.exit(2);
let body = '';
process.stdin.on('data', (text) => { body += text; }).on('end', async () => {
  const answer = await fetch('${url}/repos/octo/workshop/hooks', { method: 'POST', body });
  console.log(await answer.text());
  process.exitCode = answer.ok ? 0 : 1;
});
`;

/**
 * A fake of the part of GitHub that the recipes use: they create hooks with `gh`, and events arrive through a
 * tunnel. Both programs are installed for the reader.
 */
export async function startCodeHost(reader: Reader): Promise<CodeHost> {
  const hooks: Hook[] = [];

  const deliver: CodeHost['deliver'] = async (event, payload) => {
    const hook = hooks.at(-1);
    if (hook === undefined || (event !== 'ping' && !hook.events.includes(event)))
      throw new Error(`no hook is for ${event}`);
    const { hostname, pathname } = new URL(hook.config.url);
    // The address that a tunnel's name resolves to.
    const port = /^port-(\d+)\.trycloudflare\.com$/.exec(hostname)?.[1];
    const body = JSON.stringify(payload);
    const response = await fetch(`http://127.0.0.1:${port}${pathname}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': event,
        'x-hub-signature-256': `sha256=${createHmac('sha256', hook.config.secret).update(body).digest('hex')}`,
      },
      body,
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    hooks.push(JSON.parse(text) as Hook);
    const { status } = await deliver('ping', { zen: 'Design for failure.', hook_id: hooks.length });
    response.writeHead(status === 200 ? 201 : 422).end(JSON.stringify({ id: hooks.length, ping: status }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  reader.install('cloudflared', CLOUDFLARED);
  reader.install('gh', gh(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  return {
    hooks,
    deliver,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
