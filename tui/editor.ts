import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcError } from '../engine/core/base/errors.ts';
import { holdSignalsDuring } from './foreground.ts';

/**
 * Opens a text in the person's editor ($VISUAL, $EDITOR, vi) on this terminal and returns the edited text. The file
 * is in a private folder that is always removed. Throws `tool_missing` if the editor fails.
 * @param name file name, for the editor's title and highlighting
 * @param editor another one, for this kind of text
 */
export async function editText(
  text: string,
  name: string,
  env: NodeJS.ProcessEnv,
  editor = env.VISUAL || env.EDITOR || 'vi',
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-edit-'));
  try {
    const file = join(folder, name);
    // Editors end a file with a newline whether the text had one or not.
    writeFileSync(file, text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600 });
    // The variable may hold arguments, hence the shell. The shell must survive the keyboard's signals too, but not by
    // ignoring them: the editor would inherit that.
    const script = `trap : INT QUIT HUP; ${editor} "$1"`;
    const [code, signal] = await holdSignalsDuring(async () => {
      const child = spawn('/bin/sh', ['-c', script, 'svc', file], { env, stdio: 'inherit' });
      return (await once(child, 'exit')) as [number | null, string | null];
    });
    const isThere = existsSync(file);
    if (code !== 0 || !isThere) {
      const end =
        code === null
          ? `was ended by ${signal}`
          : code === 0
            ? 'left no file'
            : `ended with exit code ${code}`;
      throw new SvcError('tool_missing', `the editor ${JSON.stringify(editor)} ${end}; nothing was changed`, {
        hint: 'set VISUAL or EDITOR to an editor that runs in this terminal',
      });
    }
    const edited = readFileSync(file, 'utf8');
    return text.endsWith('\n') ? edited : edited.replace(/\r?\n$/, '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Saves a person's text that could not be used, in a private file in a new folder. Returns its path. */
export function keepText(text: string, name: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-kept-')), name);
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  return file;
}
