import { createHash } from 'node:crypto';
import type { Protocol } from '../protocol.ts';

/** A tool as the caller knows it. */
export interface NamedTool {
  name: string;
  namespace: string | null;
  takesText: boolean;
}

/** The tool names of one exchange: the provider's name for each, and the caller's. */
export interface TranslatedToolNames {
  /** Returns the provider's name of a tool: the same in every exchange, and unique within this one. */
  toProvider(tool: NamedTool): string;
  /** Returns the caller's tool for a provider's name; an unknown name is kept. */
  toCaller(name: string): NamedTool;
  /** Reports whether the provider received a tool of that name. */
  isKnown(name: string): boolean;
}

const LONGEST: Record<Protocol, number> = { chat: 64, responses: 64, messages: 128, gemini: 64 };

const hashToolName = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

const joined = ({ namespace, name }: NamedTool): string => {
  // codex's names of some servers' tools already start with the namespace.
  if (namespace === null || name.startsWith(namespace)) return name;
  return namespace.endsWith('_') ? `${namespace}${name}` : `${namespace}__${name}`;
};

/** Creates the names for a provider of that protocol. */
export function createToolNames(protocol: Protocol): TranslatedToolNames {
  const told = new Map<string, string>();
  const tools = new Map<string, NamedTool>();
  const longest = LONGEST[protocol];

  function fit(tool: NamedTool, key: string): string {
    const full = joined(tool);
    let name = full.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
    if (protocol === 'gemini' && !/^[a-zA-Z_]/.test(name)) name = `_${name}`;
    const isFree = name.length > 0 && name.length <= longest && !tools.has(name);
    return isFree ? name : `${name.slice(0, longest - 9)}_${hashToolName(key)}`;
  }

  return {
    toProvider(tool) {
      const key = `${tool.namespace ?? ''}\n${tool.name}`;
      const known = told.get(key);
      if (known !== undefined) return known;
      const name = fit(tool, key);
      told.set(key, name);
      tools.set(name, tool);
      return name;
    },
    toCaller: (name) => tools.get(name) ?? { name, namespace: null, takesText: false },
    isKnown: (name) => tools.has(name),
  };
}
