import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

/** jscpd as an MCP server that has read a folder and reports which parts of a text repeat it. */
export interface JscpdPeer {
  /** Number of places that it names. */
  count(code: string, format: string): Promise<number>;
  close(): Promise<void>;
}

/** Returns null, with a note on stderr, if it is not installed. */
export async function openJscpd(folder: string): Promise<JscpdPeer | null> {
  const peers = process.env.SVC_BENCH_PEERS ?? '';
  const command = join(peers, 'node_modules', '.bin', 'jscpd');
  if (peers === '' || !existsSync(command)) {
    console.error(
      'nothing beside the guard: npm install --prefix <folder> jscpd@5.3.3, then SVC_BENCH_PEERS=<folder>',
    );
    return null;
  }
  const client = new Client({ name: 'bench', version: '1' });
  const args = ['--mcp', '--min-tokens', '60', '.'];
  await client.connect(new StdioClientTransport({ command, args, cwd: folder, stderr: 'ignore' }));
  return {
    async count(code, format) {
      // The guard's targets: copies with changed names and with small edits.
      const asked = { code, format, similarity: 0.85 };
      const { content, isError } = await client.callTool({ name: 'check_duplication', arguments: asked });
      const [first] = content as { text: string }[];
      if (isError === true) throw new Error(`jscpd: ${first?.text}`);
      const { count = 0, similarCount = 0 } = JSON.parse(first?.text ?? '{}') as Record<string, number>;
      return count + similarCount;
    },
    close: () => client.close(),
  };
}
