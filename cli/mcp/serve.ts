import type { Readable, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { connect, mcpServer, printable, version } from '../../engine/index.ts';
import { createLink } from '../link.ts';
import { daemonCommand } from '../self.ts';

/** No message of ours or of a client's is larger; a line without an end must not fill the memory. */
const LONGEST_MESSAGE = 16 * 1024 * 1024;

/** Serves one MCP client on a pair of pipes, until it closes them or `signal` is aborted. */
export async function serveMcp(options: {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  cwd: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}): Promise<void> {
  const { stdin, stdout, stderr, cwd, env, signal } = options;
  const link = createLink(
    (start) =>
      connect({
        cwd,
        env,
        via: 'tool',
        attends: true,
        daemon: daemonCommand(),
        afterCrash: start === 'after_crash',
      }),
    { attends: true },
  );
  // Errors of the workspace are told by the first call, where the client's user sees them.
  link.sessionId().catch(() => undefined);
  // Loading the SDK holds this process up for long; the engine does its part meanwhile, or starts.
  await turn();
  await turn();
  const [{ createMcpServer }, { StdioServerTransport }] = await Promise.all([
    mcpServer(),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
  ]);
  const server = createMcpServer(link, { version });
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: LONGEST_MESSAGE });
  const gone = new Promise<void>((resolve) => {
    stdin
      .once('end', resolve)
      .once('close', resolve)
      .once('error', () => resolve());
    stdout.once('error', () => resolve());
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    // It closes by itself after a message that is too long; nothing after that could be read.
    transport.onclose = resolve;
    transport.onerror = ({ message }) => void stderr.write(`svc mcp: ${printable(message.slice(0, 300))}\n`);
  });
  await server.connect(transport);
  await gone;
  await server.close();
  await link.close();
}
