import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SVC, type TestWorkspace } from '../workspaces/workspace.ts';
import type { RawMessage } from './mcp-raw.ts';

export interface McpRecorder {
  /** A program that is svc, and keeps the lines of its MCP clients. */
  program: string;
  /** Returns the revisions of the clients of a session; without one, of those without `SVC_SESSION`. */
  readRevisions(session?: string): string[];
}

const NO_SESSION = 'none';

/** Creates a program that is svc, and keeps what is said over `svc mcp` in files of the folder. */
export function createMcpRecorder(folder: string): McpRecorder {
  const program = join(folder, 'svc');
  mkdirSync(folder, { recursive: true });
  const svc = `'${process.execPath}' '${SVC}'`;
  const kept = `'${folder}'/"\${SVC_SESSION:-${NO_SESSION}}"`;
  const text = `#!/bin/sh
[ "$1" = mcp ] || exec ${svc} "$@"
tee -a ${kept}.in | ${svc} "$@" | tee -a ${kept}.out
`;
  writeFileSync(program, text, { mode: 0o755 });
  const readMessages = (name: string): RawMessage[] =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return {
    program,
    readRevisions: (session = NO_SESSION) =>
      findRevisions(readMessages(`${session}.in`), readMessages(`${session}.out`)),
  };
}

/** Finds the revisions of clients: each call names its own, or all have that of the handshake. */
function findRevisions(said: readonly RawMessage[], answered: readonly RawMessage[]): string[] {
  const own = said.map(({ method, params }) => {
    const meta = params?._meta as Record<string, string> | undefined;
    return method === 'tools/list' ? meta?.['io.modelcontextprotocol/protocolVersion'] : undefined;
  });
  const agreed = answered.map(({ result }) => result?.protocolVersion as string | undefined);
  return [...new Set([...agreed, ...own].filter((revision) => revision !== undefined))];
}

/** Has engines of the workspace that start from now on keep the revision that requests to `/mcp` name. */
export function recordHttpRevisions({ env, repository: { folder } }: TestWorkspace): () => string[] {
  const program = join(folder, 'record.mjs');
  const kept = join(folder, 'revisions');
  const text = `import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
subscribe('http.server.request.start', ({ request: { url, headers } }) => {
  const revision = headers['mcp-protocol-version'];
  if (url === '/mcp' && revision) appendFileSync(${JSON.stringify(kept)}, revision + '\\n');
});
`;
  writeFileSync(program, text);
  // A variable that workers do not inherit.
  env.NODE_OPTIONS = `--import=${program}`;
  return () => (existsSync(kept) ? [...new Set(readFileSync(kept, 'utf8').trim().split('\n'))] : []);
}
