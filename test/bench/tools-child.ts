/**
 * The programs of the tools' bench, each in a separate process: trivial MCP servers on the same SDK (`stdio`,
 * `http`), and `watch`, which reports when a line reached a file.
 */
import { fsyncSync, openSync, readSync, watch, writeSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';

// Our program does the same, so without it the comparison of starts would flatter the reference.
enableCompileCache();

const say = (message: unknown): void => void process.send?.(message);

/** Nanoseconds of the machine's clock, the same in every process. */
const now = (): number => Number(process.hrtime.bigint());

/** `echo` answers immediately; `replay` answers a previously given text; `append` answers once a line is on disk. */
async function trivialServer(file: string) {
  const { Server } = await import('@modelcontextprotocol/server');
  const fd = openSync(file, 'a');
  const inputSchema = { type: 'object' as const };
  const tools = ['echo', 'keep', 'replay', 'append'].map((name) => ({ name, inputSchema }));
  let kept: Record<string, unknown> = {};
  return () => {
    const server = new Server({ name: 'trivial', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', ({ params: { name, arguments: input = {} } }) => {
      if (name === 'keep') kept = input;
      if (name === 'append') {
        writeSync(fd, `${JSON.stringify(input)}\n`);
        fsyncSync(fd);
      }
      const answer = name === 'replay' ? kept : input;
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    });
    return server;
  };
}

async function stdio(file: string): Promise<void> {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  serveStdio(await trivialServer(file));
}

async function http(file: string): Promise<void> {
  const { createServer } = await import('node:http');
  const [{ createMcpHandler }, { toNodeHandler }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/node'),
  ]);
  const answer = toNodeHandler(createMcpHandler(await trivialServer(file)));
  const server = createServer((request, response) => {
    void answer(Object.assign(request, { method: request.method ?? '', url: request.url ?? '' }), response);
  });
  server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));
}

/** Records for each `mark-<n>.` in the file when it appeared, as `[n, ns]`; answers any message with its records. */
function watchFile(file: string): void {
  let seen: [number, number][] = [];
  let fd: number | null = null;
  let at = 0;
  let rest = '';
  const chunk = Buffer.alloc(1 << 20);
  function look(): void {
    try {
      fd ??= openSync(file, 'r');
    } catch {
      return;
    }
    const read = readSync(fd, chunk, 0, chunk.length, at);
    const when = now();
    at += read;
    rest += chunk.toString('latin1', 0, read);
    let end = 0;
    for (const match of rest.matchAll(/mark-(\d+)\./g)) {
      seen.push([Number(match[1]), when]);
      end = match.index + match[0].length;
    }
    rest = rest.slice(end);
  }
  watch(dirname(file), look);
  process.on('message', () => {
    say(seen);
    seen = [];
  });
  say('watching');
}

const [, , program, file = ''] = process.argv;
if (program === 'stdio') await stdio(file);
else if (program === 'http') await http(file);
else if (program === 'watch') watchFile(file);
// The parent is gone, or is done.
if (process.send) process.on('disconnect', () => process.exit(0));
