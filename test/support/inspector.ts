import { type ExecFileException, execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENTS_BIN } from './agents.ts';

/** A server to start, or one that is there. */
export type Target =
  | { command: string[]; cwd: string; env?: Record<string, string> }
  | { url: string; token: string };

export interface Inspected<T> {
  /** 0; 5 when the tool refused; 6 when a schema does not fit every client. */
  code: number;
  result: T;
  stderr: string;
}

/** A file, because the arguments of a program are for everybody to read. */
function configFile({ url, token }: { url: string; token: string }, home: string): string {
  const file = join(home, 'inspector.json');
  const svc = { type: 'streamable-http', url, headers: { Authorization: `Bearer ${token}` } };
  writeFileSync(file, JSON.stringify({ mcpServers: { svc } }), { mode: 0o600 });
  return file;
}

/** Asks a server one thing with the command line of the official inspector. */
export function inspect<T>(target: Target, home: string, words: readonly string[]): Promise<Inspected<T>> {
  const where =
    'url' in target
      ? ['--config', configFile(target, home), '--server', 'svc']
      : [
          ...target.command,
          ...['--cwd', target.cwd],
          ...Object.entries(target.env ?? {}).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
        ];
  return new Promise((resolve) => {
    execFile(
      join(AGENTS_BIN, 'mcp-inspector'),
      ['--cli', ...where, ...words],
      {
        // No keychain of whoever runs the tests.
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
