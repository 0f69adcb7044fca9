import type { Readable, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { version } from '../../engine/core/base/own-package.ts';
import { settleWithin } from '../../engine/core/base/settle-within.ts';
import { toPrintable } from '../../engine/core/base/text.ts';
import { connectToEngine, mcpServer } from '../../engine/index.ts';
import { createEngineLink } from '../link.ts';
import { getDaemonCommand } from '../self.ts';
import { createPipeTransport } from './pipe-transport.ts';

/** Time to answer what was read before the end of stdin. */
const LAST_ANSWERS_MS = 30_000;

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
  const over = new AbortController();
  const link = createEngineLink(
    (start) =>
      connectToEngine({
        cwd,
        env,
        via: 'tool',
        attends: true,
        daemon: getDaemonCommand(),
        afterCrash: start === 'after_crash',
        signal: over.signal,
      }),
    { attends: true },
  );
  // Errors of the workspace are reported by the first call, where the client's user sees them.
  link.sessionId().catch(() => undefined);
  // Loading the SDK blocks this process for long; the engine works, or starts, in the meantime.
  await turn();
  await turn();
  const { createMcpServer, readInstructions, ...codec } = await mcpServer();
  const transport = createPipeTransport(stdin, stdout, codec, (message) => {
    stderr.write(`svc mcp: ${toPrintable(message.slice(0, 300))}\n`);
  });
  const server = createMcpServer(link, {
    version,
    instructions: await readInstructions(link),
    onWaiting: transport.setWaiting,
  });
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    stdout.once('error', () => resolve());
  });
  await server.connect(transport);
  await Promise.race([transport.over, stopped]);
  await settleWithin(LAST_ANSWERS_MS, Promise.race([transport.settled(), stopped]));
  over.abort();
  await server.close();
  await link.close();
}
