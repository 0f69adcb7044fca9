import { type Command, defineCommand } from '../../command.ts';
import { mcpInstallCommand } from './mcp-install.ts';

/** `svc mcp`: the MCP server that an agent's configuration starts. */
const mcpCommand = defineCommand({
  name: 'mcp',
  about: 'serve the tools over MCP on standard input and output, for an agent program to start',
  examples: ['mcp'],
  async run({ cwd, env, stdin, stdout, stderr, signal }) {
    const { serveMcp } = await import('../../mcp/serve.ts');
    await serveMcp({ stdin, stdout, stderr, cwd, env, signal });
  },
});

export const mcpCommands: readonly Command[] = [mcpCommand, mcpInstallCommand];
