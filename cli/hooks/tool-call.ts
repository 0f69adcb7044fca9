import { resolve } from 'node:path';
import {
  asFields,
  asText,
  readFileWrite,
  readPatchWrites,
  type ToolCallFields,
  type ToolWrite,
} from './tool-writes.ts';

/** The tool call that a hook is about, as the agent reports it. */
export interface HookToolCall {
  tool: string | null;
  /** The agent's current folder, absolute. */
  cwd: string;
  /** The files that the call names, absolute. */
  paths: string[];
  /** True if the call changes them. */
  writes: boolean;
  /** The input of the tool. */
  given: unknown;
  /** Everything the agent has sent. */
  sent: ToolCallFields;
  /** The intended contents, as far as they are reported. */
  planned: ToolWrite[];
}

const PATH_KEYS = ['file_path', 'path', 'filePath', 'notebook_path'];
/** The field with the patch, in tools that take one. */
const PATCH_KEYS = ['command', 'input', 'patch', 'patchText', 'patch_text'];

/** Words in the names of tools that change files. A tool without any of them is never refused. */
const WRITES =
  /(?:^|_)(?:write|edit|multiedit|create|replace|patch|insert|append|delete|remove|move|rename|update|save)(?:_|$)/;

// Programs that apply patches accept spaces before the keywords.
const PATCH_BEGINS = /^[ \t]*\*\*\* Begin Patch/m;
const PATCH_NAMES = /^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)[ \t\r]*$/gm;
const PATCHES = /(?:^|[;&|]\s*|\/)apply_patch\s*<</m;

/** Reads a tool call from the JSON that the agent has sent. Throws for anything but an object. */
export function readCall(text: string, here: string): HookToolCall {
  const sent = asFields(JSON.parse(text));
  if (sent === null) throw new Error('not an object');
  const tool = asText(sent.tool_name) ?? asText(sent.toolName);
  const cwd = resolve(here, asText(sent.cwd) ?? '');
  const given = sent.tool_input ?? sent.toolInput ?? sent.toolArgs;
  const inner = typeof given === 'string' ? (parseFields(given) ?? given) : given;
  const isName = (path: string): boolean => path !== '' && !path.includes('\0');
  const named = findNames(inner).filter(isName);
  return {
    tool,
    cwd,
    paths: [...new Set(named.map((path) => resolve(cwd, path)))],
    writes:
      tool === null ||
      (WRITES.test(splitToolName(tool)) && asFields(inner)?.command !== 'view') ||
      appliesPatch(inner),
    given,
    sent,
    planned: planWrites(inner)
      .filter(({ path }) => isName(path))
      .map((write) => ({ ...write, path: resolve(cwd, write.path) })),
  };
}

function findNames(input: unknown): string[] {
  if (typeof input === 'string') return findPatchNames(input);
  const fields = asFields(input) ?? {};
  const plain = PATH_KEYS.flatMap((key) => asText(fields[key]) ?? []);
  // Both: a path next to a patch says nothing about the files in it.
  return [...plain, ...PATCH_KEYS.flatMap((key) => findPatchNames(fields[key]))];
}

function planWrites(input: unknown): ToolWrite[] {
  if (typeof input === 'string') return PATCH_BEGINS.test(input) ? readPatchWrites(input) : [];
  const fields = asFields(input) ?? {};
  const [path] = PATH_KEYS.flatMap((key) => asText(fields[key]) ?? []);
  const patches = PATCH_KEYS.map((key) => takePatch(fields[key])).filter((text) => text !== null);
  if (patches.length > 0) return patches.flatMap(readPatchWrites);
  const write = path === undefined ? null : readFileWrite(path, fields);
  return write === null ? [] : [write];
}

function takePatch(value: unknown): string | null {
  const text = Array.isArray(value) ? value.at(-1) : value;
  return typeof text === 'string' && PATCH_BEGINS.test(text) ? text : null;
}

/** Finds a patch in the form of `apply_patch`, also as the last word of a command line that is a list. */
function findPatchNames(value: unknown): string[] {
  const patch = takePatch(value);
  return patch === null ? [] : [...patch.matchAll(PATCH_NAMES)].map(([, path = '']) => path);
}

/** Matches a shell command that passes a patch to `apply_patch`, which some agents treat as a call of that tool. */
function appliesPatch(input: unknown): boolean {
  const command = asFields(input)?.command;
  return typeof command === 'string' && PATCHES.test(command) && findPatchNames(command).length > 0;
}

/** Splits `WriteFile` and `mcp__files__write-file` into words: `write_file`, `mcp__files__write_file`. */
const splitToolName = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .toLowerCase();

function parseFields(text: string): ToolCallFields | null {
  try {
    return asFields(JSON.parse(text));
  } catch {
    return null;
  }
}
