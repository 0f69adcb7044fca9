import { MANIFEST } from '../../core/api/manifest.ts';

/**
 * Tools whose outputs are an agent's working material: file contents and locations. Names are compared in words:
 * `ReadFile` and `read-file` are `read_file`.
 */
const CODING_TOOLS: readonly string[] = [
  'apply_patch',
  'create',
  'edit',
  'edit_file',
  'find_files',
  'glob',
  'grep',
  'grep_search',
  'list',
  'list_directory',
  'ls',
  'multi_edit',
  'multiedit',
  'notebook_edit',
  'patch',
  'read',
  'read_file',
  'read_many_files',
  'replace',
  'search_file_content',
  'str_replace_based_edit_tool',
  'update_plan',
  'view',
  'view_image',
  'write',
  'write_file',
];

const OWN_TOOL = new RegExp(`(?:^|_)(?:svc(?:_|$)|(?:${MANIFEST.join('|')})$)`);

/** The separators between two words of a command in JSON, also in a list, in quotes and over several lines. */
const BETWEEN_WORDS = /\\+[nrt]|[\s'",\\]+/g;
/** `svc context get` with options, `context_retrieve` as an argument of another tool, and the id of a stored text. */
const READS_STORED = [
  /\bcontext(?: \S+){0,4} (?:get|search)\b/i,
  /context[-_./ ]?(?:retrieve|search)/i,
  /(?<![0-9a-z])c-[0-9a-f]{10,64}(?![0-9a-z])/i,
];

/** Reports whether a tool's output is passed on unchanged. `named` is `context.guidance.protect_tools`. */
export function isProtectedTool(tool: string, named: readonly string[]): boolean {
  const words = splitWords(tool);
  const list = named.length === 0 ? CODING_TOOLS : named.map(splitWords);
  return list.includes(words) || OWN_TOOL.test(words);
}

/** Reports whether a tool belongs to svc, with any client prefix. */
export const isOwnTool = (tool: string): boolean => OWN_TOOL.test(splitWords(tool));

/** Reports whether a tool returns a stored text. */
export const isRetrieval = (tool: string): boolean => /(?:^|_)context_retrieve$/.test(splitWords(tool));

/** Reports whether a call, as JSON, requests a stored text, which must not be shortened again. */
export function readsStoredText(call: string): boolean {
  if (!/context|c-[0-9a-f]{10}/i.test(call)) return false;
  const words = call.replace(BETWEEN_WORDS, ' ');
  return READS_STORED.some((pattern) => pattern.test(words));
}

const splitWords = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .toLowerCase();
