import { SvcError } from '../../core/base/errors.ts';

/** Kinds of tool calls that an agent may request, in the terms of the agent client protocol. */
export const TOOL_KINDS = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** Allowed without a person: calls that stay in the worktree, lose nothing and send nothing off the machine. */
export const DEFAULT_PERMISSIONS: readonly string[] = [
  'read',
  'edit',
  'move',
  'delete',
  'search',
  'think',
  'switch_mode',
];

/** Kinds that change the files they name: without a name the location of the change is unknown. */
const CHANGES: ReadonlySet<string> = new Set(['edit', 'delete', 'move']);
/** Kinds that an entry may restrict to some paths. */
const NARROWED: ReadonlySet<string> = new Set([...CHANGES, 'read', 'search']);

interface Entry {
  kind: ToolKind;
  /** Null for everywhere in the worktree. */
  pattern: string | null;
}

/** Reads an entry of `agents.permissions`: a kind, or `kind:folder-or-glob`. Throws `config_invalid`. */
export function parsePermission(text: string): Entry {
  const at = text.indexOf(':');
  const kind = at === -1 ? text : text.slice(0, at);
  const pattern =
    at === -1
      ? null
      : text
          .slice(at + 1)
          .replace(/^\.\//, '')
          .replace(/\/+$/, '');
  const invalidEntry = (why: string): SvcError => new SvcError('config_invalid', why);
  if (!isKind(kind))
    throw invalidEntry(`expected one of ${TOOL_KINDS.join(', ')}, or one of them with :path`);
  if (pattern === null) return { kind, pattern };
  if (!NARROWED.has(kind)) throw invalidEntry(`${kind} takes no path: its effect is not known in advance`);
  if (pattern === '' || pattern.startsWith('/') || pattern.split('/').includes('..')) {
    throw invalidEntry('a path must be relative to the worktree and inside it');
  }
  return { kind, pattern };
}

/**
 * Reports whether a request needs no person. `paths` are all paths that it names, relative to the worktree; null for
 * one outside.
 */
export function isPermitted(
  entries: readonly string[],
  { kind, paths }: { kind: string; paths: readonly (string | null)[] },
): boolean {
  const mine = entries.map(parsePermission).filter((entry) => entry.kind === kind);
  if (mine.length === 0) return false;
  // A command can access anything: the paths that an agent names for it mean nothing.
  if (kind === 'execute') return true;
  if (paths.length === 0) return !CHANGES.has(kind) && mine.some(({ pattern }) => pattern === null);
  return paths.every(
    (path) => path !== null && mine.some(({ pattern }) => pattern === null || matchesPattern(pattern, path)),
  );
}

const isKind = (word: string): word is ToolKind => (TOOL_KINDS as readonly string[]).includes(word);

/** Matches a folder and everything in it, or a glob: `*` and `?` within a name, `**` across names; hidden names count. */
function matchesPattern(pattern: string, path: string): boolean {
  const source = pattern.replace(/[.+^$(){}|[\]\\]/g, '\\$&').replace(/\*\*\/|\*\*|\*|\?/g, (wild) => {
    if (wild === '**/') return '(?:[^/]+/)*';
    return wild === '**' ? '.*' : wild === '*' ? '[^/]*' : '[^/]';
  });
  return new RegExp(`^${source}(?:/.*)?$`, 's').test(path);
}
