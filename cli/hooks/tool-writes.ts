/** A tool call's change to a file; paths as the agent has them. */
export interface ToolWrite {
  path: string;
  removed?: boolean;
  /** The complete new text. */
  text?: string;
  edits?: TextEdit[];
}

interface TextEdit {
  /** Empty for an addition. */
  old: string;
  new: string;
  all: boolean;
}

export type ToolCallFields = Record<string, unknown>;

// Agents use many names for the same fields; unknown names are ignored.
const WHOLE_TEXT = ['content', 'file_text', 'contents', 'text'];
const OLD_TEXT = ['old_string', 'oldString', 'old_str', 'old_text', 'old'];
const NEW_TEXT = ['new_string', 'newString', 'new_str', 'new_text', 'new', 'new_source', 'insert_text'];
const ALL_PLACES = ['replace_all', 'replaceAll', 'change_all'];
const EDIT_LISTS = ['edits', 'edit'];

export const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const asFields = (value: unknown): ToolCallFields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ToolCallFields) : null;

const findText = (fields: ToolCallFields, names: readonly string[]): string | null => {
  for (const name of names) {
    const text = asText(fields[name]);
    if (text !== null) return text;
  }
  return null;
};

/** Reads from the fields of a call the whole text of its file, or the replaced parts. */
export function readFileWrite(path: string, input: ToolCallFields): ToolWrite | null {
  const whole = findText(input, WHOLE_TEXT);
  if (whole !== null)
    return input.mode === 'append'
      ? { path, edits: [{ old: '', new: whole, all: false }] }
      : { path, text: whole };
  const lists = EDIT_LISTS.map((name) => input[name]).filter((value) => value !== undefined);
  const edits = [input, ...lists.flat().map((each) => asFields(each) ?? {})].flatMap((fields) => {
    const text = findText(fields, NEW_TEXT);
    if (text === null) return [];
    const all = ALL_PLACES.some((name) => fields[name] === true);
    return [{ old: findText(fields, OLD_TEXT) ?? '', new: text, all }];
  });
  return edits.length === 0 ? null : { path, edits };
}

const FILE_LINE = /^[ \t]*\*\*\* (Add|Update|Delete) File: (.+?)[ \t\r]*$/;
const MOVE_LINE = /^[ \t]*\*\*\* Move to: (.+?)[ \t\r]*$/;
const OTHER_LINE = /^[ \t]*\*\*\* (?:Begin|End) |^\*\*\* End of File/;

/** Reads what a patch in the form of `apply_patch` changes in each file. */
export function readPatchWrites(patch: string): ToolWrite[] {
  const writes: ToolWrite[] = [];
  let at: ToolWrite | null = null;
  let hunk: TextEdit | null = null;
  for (const line of patch.split('\n')) {
    const [, kind, path = ''] = FILE_LINE.exec(line) ?? [];
    const [, target] = MOVE_LINE.exec(line) ?? [];
    if (kind !== undefined) {
      hunk = null;
      if (kind === 'Delete') at = { path, removed: true };
      else at = kind === 'Add' ? { path, text: '' } : { path, edits: [] };
      writes.push(at);
    } else if (target !== undefined && at !== null) {
      // A moved file is read from its old path.
      writes.push({ path: at.path, removed: true });
      at.path = target;
    } else if (OTHER_LINE.test(line) || at === null) {
      hunk = null;
    } else if (typeof at.text === 'string') {
      if (line.startsWith('+')) at.text += `${line.slice(1)}\n`;
    } else if (at.edits !== undefined) {
      if (line.startsWith('@@')) {
        hunk = null;
        continue;
      }
      if (hunk === null) {
        hunk = { old: '', new: '', all: false };
        at.edits.push(hunk);
      }
      const rest = `${line.slice(1)}\n`;
      if (!line.startsWith('+')) hunk.old += rest;
      if (!line.startsWith('-')) hunk.new += rest;
    }
  }
  return writes;
}
