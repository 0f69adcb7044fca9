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

/** Our own say what an agent has asked for, and some give back what was left out before. */
const OWN_TOOL = /(?:^|__|[./-])svc(?:__|[./-])|^(?:context|memory)_[a-z]+$/;

/** Whether what a tool answers is passed on to the last byte. `named` is `context.guidance.protect_tools`. */
export function isProtectedTool(tool: string, named: readonly string[]): boolean {
  const words = splitWords(tool);
  const list = named.length === 0 ? CODING_TOOLS : named.map(splitWords);
  return list.includes(words) || OWN_TOOL.test(tool);
}

const splitWords = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .toLowerCase();
