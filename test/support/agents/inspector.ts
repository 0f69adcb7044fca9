import { type ExecFileException, execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENTS_BIN } from './agents.ts';

/** A server: either a command to start or a URL. */
export type Target = (
  | { command: string[]; cwd: string; env?: Record<string, string> }
  | { url: string; token: string }
) & {
  /** The era of the protocol that it proposes; by default the earlier one. */
  era?: 'legacy' | 'modern';
  /** The session whose seat it takes. */
  session?: string | undefined;
};

export interface Inspected<T> {
  /** 0 for success, 5 if the tool refused, 6 if some client cannot use a schema. */
  code: number;
  result: T;
  stderr: string;
}

/** A file, because every user can read a program's arguments. */
function configFile({ url, token, session }: Extract<Target, { url: string }>, home: string): string {
  const file = join(home, `inspector-${session ?? 'chair'}.json`);
  const seat = session === undefined ? {} : { 'X-Svc-Session': session };
  const svc = { type: 'streamable-http', url, headers: { Authorization: `Bearer ${token}`, ...seat } };
  writeFileSync(file, JSON.stringify({ mcpServers: { svc } }), { mode: 0o600 });
  return file;
}

/** Sends one request to a server with the official inspector's command line. */
export function inspect<T>(target: Target, home: string, words: readonly string[]): Promise<Inspected<T>> {
  const { era = 'legacy', session } = target;
  const where =
    'url' in target
      ? ['--config', configFile(target, home), '--server', 'svc']
      : [
          ...target.command,
          ...['--cwd', target.cwd],
          ...Object.entries({
            ...target.env,
            ...(session === undefined ? {} : { SVC_SESSION: session }),
          }).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
        ];
  return new Promise((resolve) => {
    execFile(
      join(AGENTS_BIN, 'mcp-inspector'),
      ['--cli', ...where, '--protocol-era', era, ...words],
      {
        // Keeps it off the user's keychain.
        env: { PATH: process.env.PATH, HOME: home, MCP_INSPECTOR_SECRET_STORE: 'memory' },
        timeout: 60_000,
        maxBuffer: 16 * 1024 * 1024,
      },
      (error: ExecFileException | null, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 128;
        resolve({ code, result: stdout === '' ? ({} as T) : JSON.parse(stdout), stderr });
      },
    );
  });
}
