/** An MCP server on stdio whose text and structured answers differ. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const server = new Server({ name: 'two-faces', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: ['answer', 'refusal'].map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object' as const, properties: {} },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params: { name } }) => ({
  isError: name === 'refusal',
  content: [{ type: 'text', text: `text of ${name}` }],
  structuredContent: { face: `structure of ${name}` },
}));
await server.connect(new StdioServerTransport());
