import { MANIFEST } from '../../core/api/manifest.ts';

/**
 * Tools whose answers are what an agent works on: files as they are, and where to find them. Names as the agents have them,
 * in words: `ReadFile` and `read-file` are `read_file`.
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

/** What stands between two words of a command in JSON, also as a list, within quotes and over several lines. */
const BETWEEN_WORDS = /\\+[nrt]|[\s'",\\]+/g;
/** `svc context get` with options, `context_retrieve` as an argument of another tool, and the id of a stored text. */
const READS_STORED = [
  /\bcontext(?: \S+){0,4} (?:get|search)\b/i,
  /context[-_./ ]?(?:retrieve|search)/i,
  /(?<![0-9a-z])c-[0-9a-f]{10,64}(?![0-9a-z])/i,
];

/** Whether what a tool answers is passed on to the last byte. `named` is `context.guidance.protect_tools`. */
export function isProtectedTool(tool: string, named: readonly string[]): boolean {
  const words = splitWords(tool);
  const list = named.length === 0 ? CODING_TOOLS : named.map(splitWords);
  return list.includes(words) || OWN_TOOL.test(words);
}

/** Whether a tool is svc's own, whatever a client puts before its name. */
export const isOwnTool = (tool: string): boolean => OWN_TOOL.test(splitWords(tool));

/** Whether a tool gives a stored text back. */
export const isRetrieval = (tool: string): boolean => /(?:^|_)context_retrieve$/.test(splitWords(tool));

/** Whether a call, as JSON, asks for a stored text: nobody may shorten that again. */
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
