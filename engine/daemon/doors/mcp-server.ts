/** The MCP server over an engine, for bridges of a client's pipe. */
export { createLineSplitter, MAX_LINE_BYTES } from '../json-lines.ts';
export { readInstructions } from '../mcp/instructions.ts';
export { messageTooLong, readRpcMessage, rpcRefusal } from '../mcp/message.ts';
export { createMcpServer } from '../mcp/server.ts';
