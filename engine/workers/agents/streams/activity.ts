import { asString, type JsonRecord, toOneLine } from './json-lines.ts';
import { cutToKeep } from './recent.ts';

/** Kinds of tools by name: agents have different names for the same few things. */
const KINDS: readonly (readonly [name: RegExp, verb: string])[] = [
  [/^(?:multi_?|notebook_?)?edit|^(?:str_?)?replace|^apply_?patch|^patch$/i, 'edit'],
  [/^write|^create_?file/i, 'write'],
  [/^(?:bash|shell|exec|run_shell|run_command|run_terminal|terminal|powershell)/i, 'run'],
  [/^web_?fetch|^fetch/i, 'fetch'],
  [/^(?:google_)?web_?search/i, 'look up'],
  [/^(?:read|view|cat)/i, 'read'],
  [/^(?:grep|glob|search|find|ls$|list_dir|ripgrep|codebase)/i, 'search'],
  [/^(?:task|agent|subagent)$/i, 'delegate'],
];

/** Fields with the subject of a tool call, the most specific first. */
const ABOUT = [
  ...['file_path', 'filePath', 'notebook_path', 'absolute_path', 'path'],
  ...['command', 'cmd', 'pattern', 'query', 'url', 'dir_path', 'description', 'title', 'name'],
];

/** The location of svc's worktrees, for agents that do not report their folder. */
const WORKTREE = /^\/.*\/worktrees\/s-\d+\//;

/** One kind for all equivalent tools. */
export const classifyTool = (tool: string): string =>
  KINDS.find(([name]) => name.test(tool))?.[1] ?? cutToKeep(tool);

/**
 * Describes a tool call for a person, such as `edit src/a.ts`, `run npm test`, `svc ask`. Paths are relative to
 * `folder`.
 */
export function describeActivity(tool: string, input: JsonRecord, folder: string): string {
  const [, server, own] = /^mcp_{1,2}(.+?)_{1,2}(.+)$/.exec(tool) ?? [];
  const verb = server === undefined || own === undefined ? classifyTool(tool) : `${server} ${own}`;
  const about = ABOUT.map((key) => asString(input[key])).find((text) => text !== '') ?? '';
  const isInside = folder !== '' && about.startsWith(`${folder}/`);
  const inside = isInside ? about.slice(folder.length + 1) : about.replace(WORKTREE, '');
  return toOneLine(`${verb} ${inside}`);
}
