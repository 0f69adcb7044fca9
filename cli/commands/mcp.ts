import { type Command, command } from '../command.ts';

/** `svc mcp`: what an agent's own configuration starts. */
export const mcpCommand: Command = command({
  name: 'mcp',
  about: 'Serve the tools over MCP on standard input and output, for an agent program to start',
  examples: ['mcp'],
  async run({ cwd, env, stdin, stdout, signal }) {
    const { serveMcp } = await import('../mcp/serve.ts');
    await serveMcp({ stdin, stdout, cwd, env, signal });
  },
});
