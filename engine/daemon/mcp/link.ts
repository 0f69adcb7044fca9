import type { Wire } from '../../core/api/operation.ts';
import type { ToolAnswer } from '../../core/api/tool-operations.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { Api } from '../compose/compose.ts';

/** How an MCP server reaches its engine: the same for one in the daemon and for one that bridges a terminal's pipe. */
export interface EngineLink {
  /** Runs an operation. Rejects with SvcError. The same `key` again is the same call. */
  call<K extends keyof Api>(
    operation: K,
    input: Api[K]['input'],
    options: { key: string; signal: AbortSignal; onProgress(message: string): void },
  ): Promise<Api[K]['output']>;
  /** `call` for a tool, by the name that agents have for it. */
  callTool(
    name: string,
    input: Record<string, unknown>,
    options: { key: string; signal: AbortSignal; onProgress(message: string): void },
  ): Promise<ToolAnswer>;
  /** Everything that happens from when `begun` resolves on, until `stop` is called. */
  onEvent(listener: (event: Wire<LoggedEvent>) => void): { begun: Promise<void>; stop(): void };
  /** The session that the client takes part as, once it is connected; null for none. */
  sessionId(): Promise<string | null>;
}
