/** The MCP server over an engine, for what bridges a client's pipe to it. */
export { createLineSplitter, MAX_LINE_BYTES } from '../json-lines.ts';
export { readInstructions } from '../mcp/instructions.ts';
export { messageTooLong, readRpcMessage, rpcRefusal } from '../mcp/message.ts';
export { createMcpServer } from '../mcp/server.ts';
